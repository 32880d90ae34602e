"""The help of the program and of each command, made from their tables; what no row can say stands here as prose. Pure."""

import textwrap

from everturn.cli.arguments import PROGRAM, render_words
from everturn.cli.commands import COMMANDS
from everturn.cli.flags import FLAGS
from everturn.cli.syntax import ProgramCommand
from everturn.settings.declaration import CompletionOffer, Flag, Takes, Topic

WIDTH = 34
"""Of the column with the flags."""
MAX_WIDTH = 120
INTRODUCTION = """\
Everturn: an agentic coding loop. It calls a model and runs the tools that the model asks for, within your rules.

Usage:
  everturn -p "prompt" [flags]      answer one prompt and exit
  everturn COMMAND [arguments]      everturn COMMAND --help says more
"""
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "Ask": (
        ('everturn -p "What does this project do?"', ""),
        ('git diff | everturn -p "Review this change"', "standard input is added to the prompt"),
        ('everturn -p "Now shorter" --continue', "continues the newest session of this folder"),
    ),
    "Let it work": (
        ('everturn -p "Fix the failing test" --permission-mode acceptEdits --allowed-tools Bash', ""),
        ('everturn -p "Tidy the docs" --max-turns 20 --max-budget-usd 0.50', "stops at the first limit"),
        ("everturn cost", "shows what the newest session of this folder cost"),
    ),
    "Find it again": (
        ("everturn sessions", "lists the sessions of this folder; everturn sessions search WORDS searches them"),
        ('everturn -p "Go on" --resume "Parser rewrite"', "by its id, the beginning of its id, or its title"),
    ),
    "Use it in scripts": (
        ('everturn -p "List the TODOs" --output-format json | jq -r .result', ""),
        ('everturn -p "Go" --output-format stream-json --include-partial-messages', ""),
        ('everturn -p "Rate this file" --json-schema \'{"type":"object"}\' < main.py', ""),
    ),
    "Set it up": (
        ("everturn doctor", "says what is missing and how to fix it"),
        ("everturn config set model opus", ""),
        ('eval "$(everturn completion bash)"', "also for zsh and fish"),
        ("everturn demo --interactive", "try the terminal without a key; everturn demo shows the loop alone"),
    ),
}
EXIT_CODES = """\
Exit codes:
  0    the answer is there
  1    the run ended with an error: the model, a limit, a prompt that is too long
  2    the command line or a setting is wrong; nothing was sent
  130  interrupted with Ctrl-C
  141  the program that reads the output has ended
  143  ended by SIGTERM
"""
NAMING_A_SESSION = """\
SESSION is an id or its beginning, a title or a part of it that fits no other session, or latest for the newest session
of this folder.
"""
DETAILS: dict[str, str] = {
    "doctor": "Each line says ok, warn or fail, and how to fix a problem. Exit code 1 if something fails.\n",
    "config": """\
Settings do not hold API keys: set ANTHROPIC_API_KEY in the environment, or set apiKeyHelper to a command that
prints a key.

Examples:
  everturn config set model opus
  everturn config set fallbackModel sonnet,haiku
  everturn config set permissions.deny '["Bash"]'
  everturn config set everturn.limits.max_turns 50
  everturn config set env.HTTPS_PROXY http://proxy:3128
""",
    "cost": """\
Shows input, output, cache write and cache read of each round with the model, in tokens and USD, with bars on a
terminal; the sums by model and by purpose; and what the cache saved. Without SESSION, the newest session of this
folder. --json prints one object with exact figures.

Examples:
  everturn cost
  everturn cost 5e17 --json | jq .total_usd
""",
    "cache": """\
Shows for each call the tokens read from the cache, written to it and sent without it, and the share that was read. For
each break it shows the part of the request that differed, the cause, the tokens that were paid for again and their
price. A break without a known cause is called unexplained; please report it. Without SESSION, it shows the newest
session of this folder. --json prints one object.

Examples:
  everturn cache
  everturn cache 5e17 --json | jq .causes
""",
    "prompt": """\
Prints what the model reads in this folder: the system prompt section by section, the environment, your memory files and
the project's, and the tools; then the tokens of each, at four bytes to a token. Nothing is sent, and no key is needed.
Without --person it prints the prompt of a run without a person at a terminal.

Examples:
  everturn prompt
  everturn prompt --mode plan --person
  everturn prompt --counts
""",
    "sessions": """\
Examples:
  everturn sessions search "connection reset" --all
  everturn sessions rename latest Parser rewrite
  everturn sessions export "Parser rewrite" --output parser.html
  everturn sessions prune --older-than 90d
""",
    "sessions prune": """\
With --older-than and --larger-than together, a session must be older and larger. --keep-total removes the oldest
sessions until the rest takes at most SIZE. Without any of them, the setting cleanupPeriodDays is the age.

Examples:
  everturn sessions prune --older-than 90d
  everturn sessions prune --keep-total 10GB --yes
""",
    "permissions": """\
Examples:
  everturn permissions test 'git push origin main'
  everturn permissions test 'npm test && rm -rf build' --allow 'Bash(npm test *)' --json
  everturn permissions test --tool Read ~/.ssh/id_rsa
  everturn permissions test --tool WebFetch https://example.com/ --allow 'WebFetch(domain:example.com)'
  everturn permissions test --cases policy.jsonl | jq -r 'select(.decision == "ask").id'
  everturn permissions replay 'Bash(npm run *)' --all
""",
    "permissions test": """\
A file of cases is a test of your policy. Each line is a JSON object with command (or op and path, or tool and input),
expect (allow, ask, deny or error), also_ok, id and why. A case with rules {allow, ask, deny} uses only these rules, in
/home/dev/proj; a case without uses the settings of this folder. setup creates files for the case. For each case, a line
with id, decision, why and rule is printed.

Exit codes: 0 allowed, or all expectations met; 1 asks or is denied, or an expectation not met; 2 wrong arguments or
settings.

Examples:
  everturn permissions test 'git push origin main'
  everturn permissions test --tool Read ~/.ssh/id_rsa
  everturn permissions test --cases policy.jsonl | jq -r 'select(.decision == "ask").id'
""",
    "permissions replay": """\
Examples:
  everturn permissions replay 'Bash(npm run *)' --all
  everturn permissions replay 'WebFetch' --deny --session latest
""",
    "trust": """\
A repository may contain settings: hooks, MCP servers, allow rules, variables. They do not count before you trust its
folder; deny and ask rules always count. The command shows what the settings would do, and asks. It trusts the whole
repository, unless the repository is your home. Hooks and servers that change later are off until you trust the folder
again.
""",
    "completion": """\
Examples:
  bash   echo 'eval "$(everturn completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(everturn completion zsh)"' >> ~/.zshrc
  fish   everturn completion fish > ~/.config/fish/completions/everturn.fish
""",
    "demo": """\
Examples:
  everturn demo                  watch: the loop recovers from an overload, a broken connection and a cut answer
  everturn demo --interactive    try: type to the scripted model yourself, in the interactive terminal

The loop, the HTTP requests, the tools and the tests are real; only the model is scripted. No key and no network are
needed. Everything happens in a folder that is removed in the end.

Exit codes:
  0    the tests of the repository pass
  1    the tests fail, or the demo could not run
  2    wrong arguments
  130  interrupted; 143 when ended by SIGTERM
""",
}
"""Behind the usage and the flags of a command, by its whole name."""


def render_help() -> str:
    parts = [INTRODUCTION, _render_commands(), *(_render_topic(topic) for topic in Topic), _render_examples()]
    return "\n".join([*parts, EXIT_CODES])


def render_command_help(command: ProgramCommand, title: str) -> str:
    """Of a command, or of one of its actions; `title` is its whole name. What it does, how it is written, its flags, and more."""
    does = command.help[0].upper() + command.help[1:]
    parts = [f"{does}.\n"]
    if command.actions:
        parts.append(_render_actions(command))
    else:
        parts.append(f"Usage:\n{_render_form(command, title)}\n")
        if command.flags:
            parts.append(_render_table("Flags", [(render_flag(flag), flag.help) for flag in command.all_flags]))
    if any(argument.offer is CompletionOffer.SESSIONS for argument in command.arguments):
        parts.append(NAMING_A_SESSION)
    if title in DETAILS:
        parts.append(DETAILS[title])
    return "\n".join(parts)


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


def _render_actions(command: ProgramCommand) -> str:
    """Each action under how it is written."""
    lines = ["Usage:"]
    for action in command.actions:
        name = f"[{action.name}]" if action.name == command.default else action.name
        lines += [_render_form(action, f"{command.name} {name}"), f"      {action.help}"]
    return "\n".join([*lines, f"\neverturn {command.name} ACTION --help says more of each.\n"])


def _render_form(command: ProgramCommand, title: str) -> str:
    """`everturn sessions show SESSION [--json]`, in lines of a bearable length."""
    flags = (
        []
        if command.form
        else [f"[{flag.name}\0{flag.value}]" if flag.value else f"[{flag.name}]" for flag in command.flags]
    )
    written = " ".join(filter(None, (PROGRAM, title, render_words(command), *flags)))
    lines = textwrap.wrap(written, MAX_WIDTH, initial_indent="  ", subsequent_indent=" " * 10, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


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
