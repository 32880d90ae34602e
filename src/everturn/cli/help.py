"""The help, made from the table of flags and commands. Pure."""

from everturn.cli.flags import COMMANDS, FLAGS, Flag, Takes, Topic

WIDTH = 34
"""Of the column with the flags."""
INTRODUCTION = """\
Everturn: an agentic coding loop that people can trust with their repository, their money and their afternoon.

Usage:
  everturn -p "prompt" [flags]      answer one prompt and exit
  everturn COMMAND [arguments]      everturn COMMAND --help says more
"""
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "Ask": (
        ('everturn -p "What does this project do?"', ""),
        ('git diff | everturn -p "Review this change"', "standard input is added to the prompt"),
        ('everturn -p "Now shorter" --continue', "goes on with the newest session of this folder"),
    ),
    "Let it work": (
        ('everturn -p "Fix the failing test" --permission-mode acceptEdits --allowed-tools Bash', ""),
        ('everturn -p "Tidy the docs" --max-turns 20 --max-budget-usd 0.50', "stops at the first limit"),
        ("everturn cost", "what the newest session of this folder cost, and for what"),
    ),
    "Find it again": (
        ("everturn sessions", "those of this folder; everturn sessions search WORDS finds what was said"),
        ('everturn -p "Go on" --resume "Parser rewrite"', "by id, a beginning of it, or title"),
    ),
    "Use it in scripts": (
        ('everturn -p "List the TODOs" --output-format json | jq -r .result', ""),
        ('everturn -p "Go" --output-format stream-json --include-partial-messages', ""),
        ('everturn -p "Rate this file" --json-schema \'{"type":"object"}\' < main.py', ""),
    ),
    "Set it up": (
        ("everturn doctor", "says what is missing and how to mend it"),
        ("everturn config set model opus", ""),
        ('eval "$(everturn completion bash)"', "zsh and fish likewise"),
        ("everturn demo", "needs no key"),
    ),
}
EXIT_CODES = """\
Exit codes:
  0    the answer is there
  1    the run ended with an error: the model, a limit, a prompt that is too long
  2    the command line or a setting is wrong; nothing was sent
  130  interrupted with Ctrl-C
  141  nobody reads the output any more
  143  ended by SIGTERM
"""
CONFIG = """\
Usage:
  everturn config list                 every setting, its value and where it comes from
  everturn config get KEY              the value of one
  everturn config set KEY VALUE        change the user's settings file
  everturn config unset KEY            remove a setting from it

Examples:
  everturn config set model opus
  everturn config set fallbackModel sonnet,haiku
  everturn config set permissions.deny '["Bash"]'
  everturn config set everturn.limits.max_turns 50
  everturn config set env.HTTPS_PROXY http://proxy:3128

Keys for the API are not kept in settings: set ANTHROPIC_API_KEY in the environment, or name a command that
prints one with apiKeyHelper.
"""
COST = """\
Usage:
  everturn cost [SESSION] [--json]

What a session cost, by round with the model: input, output, cache write and cache read, in tokens and USD, with bars on a
terminal; the sums by model and by purpose; what the cache saved. SESSION is an id, a beginning of one that no other session
has, or a title; without it, the newest session of this folder. --json prints the same, with exact figures, as one object.

Examples:
  everturn cost
  everturn cost 5e17 --json | jq .total_usd
"""
CACHE = """\
Usage:
  everturn cache [SESSION] [--json]

What the prompt cache gave a session, call by call: tokens read from it, written to it and sent beside it, and the share
that was read. Each break is told with the part of the request that differed, what caused it, the tokens that were paid
for again and their price; a break that nothing explains is called unexplained, and is worth a report. SESSION is an id, a
beginning of one that no other session has, or a title; without it, the newest session of this folder. --json prints the
same as one object.

Examples:
  everturn cache
  everturn cache 5e17 --json | jq .causes
"""
PROMPT = """\
Usage:
  everturn prompt [--mode MODE] [--model NAME] [--person] [--trust] [--counts|--json]

What the model is told in this folder before your prompt: the system prompt section by section, the environment, your memory
files and the project's, and the tools; then the tokens of each, at four bytes to a token. Nothing is sent, and no key is needed.
It reads as for a run that nobody watches; --person as for one with somebody at a terminal, --mode and --trust as for a run with
that permission mode, or in a folder that you trust. --counts prints the table alone, --json all of it as one object.

Examples:
  everturn prompt
  everturn prompt --mode plan --person
  everturn prompt --counts
"""
SESSIONS = """\
Usage:
  everturn sessions [list] [--all] [--limit N] [--json|--ids]     this folder's sessions, the newest first; --all of every folder
  everturn sessions search WORDS [--all] [--limit N] [--json]     in prompts, answers and results; "several words" are a phrase
  everturn sessions show SESSION [--json]                         what is known of it, and what was said
  everturn sessions rename SESSION TITLE                          --resume TITLE goes on with it from then on
  everturn sessions tag SESSION TAG | --clear
  everturn sessions export SESSION [--format markdown|html|json] [--output FILE] [--force]
  everturn sessions delete SESSION… [--yes]                       with its media; never one that is open
  everturn sessions prune [--older-than AGE] [--larger-than SIZE] [--keep-total SIZE] [--yes] [--json]
  everturn sessions rebuild                                       the index anew; nothing is lost with it

SESSION is an id, a beginning of one, a title, a part of one that no other session has, or latest: the newest of this folder.

prune shows what would go; --yes does it. A session goes when it is older and larger than what is given, whichever is given;
--keep-total lets the oldest go until the rest takes no more. Without any, cleanupPeriodDays of the settings counts.

Examples:
  everturn sessions search "connection reset" --all
  everturn sessions rename latest Parser rewrite
  everturn sessions export "Parser rewrite" --output parser.html
  everturn sessions prune --older-than 90d
"""
PERMISSIONS = """\
Usage:
  everturn permissions test COMMAND [--mode MODE] [--cwd DIR] [--json]    what would happen to it, and which rule decides
  everturn permissions test --tool TOOL WORD [--input JSON]               the same for a file, a URL, any tool
  everturn permissions test --cases FILE|- [--mode MODE]                  every case of a file; see below
  everturn permissions [list] [--cwd DIR] [--json]                        the rules in force, and where each stands
  everturn permissions replay RULE [--ask|--deny] [--session SESSION|--all] [--json]
                                                                          what a new rule would have changed in past sessions

--allow RULE, --ask RULE and --deny RULE add rules to a test, each as often as you like.

A file of cases is a test of your policy: a JSON object a line with command (or op and path, or tool and input), expect
(allow, ask, deny or error), also_ok, id and why. A case that brings rules {allow, ask, deny} is judged by these alone, in
/home/dev/proj; one without, by the settings of this folder. setup makes files for a case about one. Each answer is a line
with id, decision, why and rule.

Exit codes of test: 0 allowed, or every expectation met; 1 asked or denied, or one missed; 2 wrong arguments or settings.

Examples:
  everturn permissions test 'git push origin main'
  everturn permissions test 'npm test && rm -rf build' --allow 'Bash(npm test *)' --json
  everturn permissions test --tool Read ~/.ssh/id_rsa
  everturn permissions test --tool WebFetch https://example.com/ --allow 'WebFetch(domain:example.com)'
  everturn permissions test --cases policy.jsonl | jq -r 'select(.decision == "ask").id'
  everturn permissions replay 'Bash(npm run *)' --all
"""
DOCTOR = """\
Usage:
  everturn doctor [--json]

Checks what a run needs. Each line says ok, warn or fail, and how to mend it. Exit code 1 if something fails.
"""
TRUST = """\
Usage:
  everturn trust [FOLDER] [--yes] [--below]
  everturn trust --list
  everturn trust --revoke [FOLDER]

A repository may bring settings of its own: hooks, MCP servers, allow rules, variables. None of them counts before you
trust its folder; rules that deny or ask always count. Shows what they would do, and asks. The whole repository is
trusted, but for a folder that is your home. Hooks and servers that change later are off until you trust them again.

  --yes       trust what is shown without being asked
  --below     also trust every folder below, but for programs that they define
  --list      the folders that are trusted, or that you said no to
  --revoke    take it back
"""
COMPLETION = """\
Usage:
  everturn completion bash|zsh|fish

Examples:
  bash   echo 'eval "$(everturn completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(everturn completion zsh)"' >> ~/.zshrc
  fish   everturn completion fish > ~/.config/fish/completions/everturn.fish
"""


def render_help() -> str:
    parts = [INTRODUCTION, _render_commands(), *(_render_topic(topic) for topic in Topic), _render_examples()]
    return "\n".join([*parts, EXIT_CODES])


def render_flag(flag: Flag) -> str:
    """`-r, --resume ID`."""
    spelled = ", ".join(flag.spellings)
    match flag.takes:
        case Takes.NOTHING:
            return spelled
        case Takes.MAYBE_FILE:
            return f"{spelled}[={flag.value}]"
        case Takes.MAYBE_TEXT:
            return f"{spelled} [{flag.value}]"
        case _:
            return f"{spelled} {flag.value}"


def _render_commands() -> str:
    rows = [(command.name, command.help) for command in COMMANDS]
    return _render_table("Commands", rows)


def _render_topic(topic: Topic) -> str:
    return _render_table(topic, [(render_flag(flag), flag.help) for flag in FLAGS if flag.topic is topic])


def _render_table(title: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"{title}:"]
    for left, right in rows:
        if len(left) < WIDTH:
            lines.append(f"  {left:<{WIDTH}}{right}")
        else:
            lines += [f"  {left}", f"  {'':<{WIDTH}}{right}"]
    return "\n".join(lines) + "\n"


def _render_examples() -> str:
    lines = ["Examples:"]
    for topic, examples in EXAMPLES.items():
        lines.append(f"  {topic}")
        for command, remark in examples:
            lines.append(f"    {command}{f'    # {remark}' if remark else ''}")
    return "\n".join(lines) + "\n"
