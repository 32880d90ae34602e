"""Every flag and command of the program as data: the parser, the help and the shell completion are made from it."""

from enum import StrEnum

import msgspec

from everturn.settings.options import EFFORTS, MODES, THINKING


class Takes(StrEnum):
    """What follows a flag."""

    NOTHING = "nothing"
    TEXT = "text"
    FILE = "file"
    WHOLE = "whole number"
    NUMBER = "number"
    LIST = "list"
    """Names, separated by commas or blanks; given twice, the lists are joined."""
    EACH = "each"
    """One text, blanks and commas included; the flag may be given again."""
    MAYBE_TEXT = "maybe text"
    """`--flag` or `--flag TEXT`."""
    MAYBE_FILE = "maybe a file"
    """`--flag` or `--flag=FILE`: a word of its own would be taken for the prompt."""


class Topic(StrEnum):
    RUN = "Running"
    MODEL = "Model"
    LIMITS = "Limits"
    PROMPT = "Prompt"
    PERMISSIONS = "Permissions"
    SESSION = "Session"
    OTHER = "Settings and help"


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    topic: Topic
    help: str
    takes: Takes = Takes.NOTHING
    value: str = ""
    """How the value is called in the help."""
    short: str = ""
    also: tuple[str, ...] = ()
    """Other spellings."""
    choices: tuple[str, ...] = ()
    option: str = ""
    """The field of `Options` that it sets as it is."""
    sessions: bool = False
    """Its value names a session."""
    models: bool = False
    """Its value names a model."""

    @property
    def spellings(self) -> tuple[str, ...]:
        return tuple(name for name in (self.short, self.name, *self.also) if name)


class Command(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    help: str
    words: tuple[str, ...] = ()
    """What may stand first after it."""
    flags: tuple[str, ...] = ("--help",)
    sessions: bool = False
    """A session may follow, behind the first word if it has some."""
    before_setting: tuple[str, ...] = ()
    """Those of its words that a setting follows."""


OUTPUT_FORMATS = ("text", "json", "stream-json")

FLAGS: tuple[Flag, ...] = (
    Flag(name="--print", short="-p", topic=Topic.RUN, help="answer one prompt and exit; standard input is added to it"),
    Flag(
        name="--output-format",
        topic=Topic.RUN,
        takes=Takes.TEXT,
        value="FORMAT",
        choices=OUTPUT_FORMATS,
        help="text (default), json (one result object) or stream-json (one message per line)",
    ),
    Flag(
        name="--input-format",
        topic=Topic.RUN,
        takes=Takes.TEXT,
        value="FORMAT",
        choices=("text",),
        help="text, the only one so far",
    ),
    Flag(
        name="--include-partial-messages",
        topic=Topic.RUN,
        help="with stream-json: also the answer's pieces, as they come",
    ),
    Flag(
        name="--json-schema",
        topic=Topic.RUN,
        takes=Takes.TEXT,
        value="SCHEMA",
        help="JSON Schema (JSON, or a file) that the final answer must fit",
    ),
    Flag(name="--verbose", topic=Topic.RUN, help="tell more of what happens"),
    Flag(
        name="--model",
        topic=Topic.MODEL,
        takes=Takes.TEXT,
        value="NAME",
        option="model",
        models=True,
        help="id or alias",
    ),
    Flag(
        name="--fallback-model",
        topic=Topic.MODEL,
        takes=Takes.LIST,
        value="A,B",
        option="fallback_models",
        models=True,
        help="models to switch to, in this order, when the main one is overloaded or gone",
    ),
    Flag(
        name="--effort",
        topic=Topic.MODEL,
        takes=Takes.TEXT,
        value="LEVEL",
        choices=EFFORTS,
        option="effort",
        help=f"{', '.join(EFFORTS[:-1])} or {EFFORTS[-1]}",
    ),
    Flag(
        name="--thinking",
        topic=Topic.MODEL,
        takes=Takes.TEXT,
        value="MODE",
        choices=THINKING,
        option="thinking",
        help=f"{', '.join(THINKING[:-1])} or {THINKING[-1]}; without it, a model that can think does",
    ),
    Flag(
        name="--betas",
        topic=Topic.MODEL,
        takes=Takes.LIST,
        value="A,B",
        option="betas",
        help="more values for the anthropic-beta header",
    ),
    Flag(
        name="--max-turns",
        topic=Topic.LIMITS,
        takes=Takes.WHOLE,
        value="N",
        option="max_turns",
        help="rounds with the model; one more ends the run with an error",
    ),
    Flag(
        name="--max-budget-usd",
        topic=Topic.LIMITS,
        takes=Takes.NUMBER,
        value="USD",
        option="max_budget_usd",
        help="money that the run may cost; at most one call over",
    ),
    Flag(
        name="--token-budget",
        topic=Topic.LIMITS,
        takes=Takes.WHOLE,
        value="N",
        option="work_budget",
        help="output tokens that the run should spend before it stops by itself",
    ),
    Flag(
        name="--max-output-tokens",
        topic=Topic.LIMITS,
        takes=Takes.WHOLE,
        value="N",
        option="max_output_tokens",
        help="cap on the output of one answer",
    ),
    Flag(
        name="--system-prompt",
        topic=Topic.PROMPT,
        takes=Takes.TEXT,
        value="TEXT",
        option="system_prompt",
        help="replaces the system prompt",
    ),
    Flag(
        name="--system-prompt-file",
        topic=Topic.PROMPT,
        takes=Takes.FILE,
        value="FILE",
        help="the same, from a file",
    ),
    Flag(
        name="--append-system-prompt",
        topic=Topic.PROMPT,
        takes=Takes.TEXT,
        value="TEXT",
        option="append_system_prompt",
        help="follows the system prompt",
    ),
    Flag(
        name="--append-system-prompt-file",
        topic=Topic.PROMPT,
        takes=Takes.FILE,
        value="FILE",
        help="the same, from a file",
    ),
    Flag(
        name="--permission-mode",
        topic=Topic.PERMISSIONS,
        takes=Takes.TEXT,
        value="MODE",
        choices=(*MODES, "manual"),
        option="permission_mode",
        help=", ".join(MODES),
    ),
    Flag(
        name="--allowed-tools",
        also=("--allowedTools",),
        topic=Topic.PERMISSIONS,
        takes=Takes.LIST,
        value="RULES",
        option="allowed_tools",
        help="calls that run without asking: Bash(git status), Edit(/src/**)",
    ),
    Flag(
        name="--ask-tools",
        also=("--askTools",),
        topic=Topic.PERMISSIONS,
        takes=Takes.LIST,
        value="RULES",
        option="ask_tools",
        help="calls that a person is always asked about",
    ),
    Flag(
        name="--disallowed-tools",
        also=("--disallowedTools",),
        topic=Topic.PERMISSIONS,
        takes=Takes.LIST,
        value="RULES",
        option="disallowed_tools",
        help="calls that never run",
    ),
    Flag(
        name="--add-dir",
        topic=Topic.PERMISSIONS,
        takes=Takes.EACH,
        value="FOLDER",
        option="add_dirs",
        help="one more folder to work in; may be given again",
    ),
    Flag(
        name="--sandbox",
        topic=Topic.PERMISSIONS,
        option="sandbox",
        help="run commands in a sandbox: they write in the working folder only",
    ),
    Flag(
        name="--dangerously-skip-permissions",
        topic=Topic.PERMISSIONS,
        help="the mode bypassPermissions: everything runs unasked",
    ),
    Flag(name="--continue", short="-c", topic=Topic.SESSION, help="go on with the newest session of this folder"),
    Flag(
        name="--resume",
        short="-r",
        topic=Topic.SESSION,
        takes=Takes.MAYBE_TEXT,
        value="SESSION",
        option="resume",
        sessions=True,
        help="go on with a session: by its id, a beginning of it, its title, or latest",
    ),
    Flag(
        name="--session-id",
        topic=Topic.SESSION,
        takes=Takes.TEXT,
        value="ID",
        option="session_id",
        help="id of the new session",
    ),
    Flag(
        name="--fork-session",
        topic=Topic.SESSION,
        option="fork_session",
        help="with --continue or --resume: go on with a copy under a new id",
    ),
    Flag(
        name="--resume-session-at",
        topic=Topic.SESSION,
        takes=Takes.TEXT,
        value="MESSAGE",
        option="resume_at",
        help="with --continue or --resume: go on from this message; later ones are no longer seen",
    ),
    Flag(name="--no-session-persistence", topic=Topic.SESSION, help="keep the session in memory only"),
    Flag(
        name="--settings",
        topic=Topic.OTHER,
        takes=Takes.FILE,
        value="FILE|JSON",
        help="more settings; they beat the user's file and the environment",
    ),
    Flag(
        name="--setting-sources",
        topic=Topic.OTHER,
        takes=Takes.LIST,
        value="NAMES",
        help="the settings files to read: user, project, local",
    ),
    Flag(
        name="--trust",
        topic=Topic.PERMISSIONS,
        help="trust this folder for this run: what its own settings allow and define counts",
    ),
    Flag(
        name="--debug",
        topic=Topic.OTHER,
        takes=Takes.MAYBE_FILE,
        value="FILE",
        help="write a log of requests, retries and decisions, without secrets",
    ),
    Flag(name="--debug-bodies", topic=Topic.OTHER, help="with --debug: also what is sent to the model"),
    Flag(name="--version", short="-v", topic=Topic.OTHER, help="print the version"),
    Flag(name="--help", short="-h", topic=Topic.OTHER, help="print this help"),
)

SESSION_ACTIONS: dict[str, dict[str, str]] = {
    "list": {"--all": "", "--json": "", "--limit": "N", "--ids": ""},
    "search": {"--all": "", "--json": "", "--limit": "N"},
    "show": {"--json": ""},
    "rename": {},
    "tag": {"--clear": ""},
    "export": {"--format": "markdown|html|json", "--output": "FILE", "--force": ""},
    "delete": {"--yes": ""},
    "prune": {"--older-than": "AGE", "--larger-than": "SIZE", "--keep-total": "SIZE", "--yes": "", "--json": ""},
    "rebuild": {},
}
"""What `everturn sessions` does, each with its flags, and what their values are called."""

PERMISSION_ACTIONS: dict[str, dict[str, str]] = {
    "test": {
        "--tool": "TOOL",
        "--input": "JSON",
        "--mode": "MODE",
        "--allow": "RULE",
        "--ask": "RULE",
        "--deny": "RULE",
        "--cwd": "DIR",
        "--cases": "FILE",
        "--json": "",
    },
    "list": {"--cwd": "DIR", "--json": ""},
    "replay": {"--ask": "", "--deny": "", "--session": "SESSION", "--all": "", "--json": ""},
}
"""The same of `everturn permissions`."""

PROMPT_FLAGS = {"--mode": "MODE", "--model": "NAME", "--person": "", "--trust": "", "--counts": "", "--json": ""}
"""Of `everturn prompt`, and what their values are called."""

COMMANDS: tuple[Command, ...] = (
    Command(name="doctor", help="check what a run needs, and say how to mend it", flags=("--json", "--help")),
    Command(
        name="config",
        help="read and change the user's settings",
        words=("get", "set", "unset", "list"),
        before_setting=("get", "set", "unset"),
    ),
    Command(
        name="sessions",
        help="list, search, show, name, export and remove sessions",
        words=tuple(SESSION_ACTIONS),
        flags=(*dict.fromkeys(flag for flags in SESSION_ACTIONS.values() for flag in flags), "--help"),
        sessions=True,
    ),
    Command(
        name="cost",
        help="say what a session cost: for each round, what was paid for what",
        flags=("--json", "--help"),
        sessions=True,
    ),
    Command(
        name="trust",
        help="show what a folder's own settings would do, and trust it",
        flags=("--list", "--revoke", "--below", "--yes", "--help"),
    ),
    Command(
        name="cache",
        help="say what the prompt cache gave a session, and what broke it",
        flags=("--json", "--help"),
        sessions=True,
    ),
    Command(
        name="permissions",
        help="say what would happen to a call, list the rules, try a rule on past sessions",
        words=tuple(PERMISSION_ACTIONS),
        flags=(*dict.fromkeys(flag for flags in PERMISSION_ACTIONS.values() for flag in flags), "--help"),
    ),
    Command(
        name="prompt",
        help="print what the model is told before your prompt, with the tokens of each part",
        flags=(*PROMPT_FLAGS, "--help"),
    ),
    Command(name="completion", help="print the completion script for a shell", words=("bash", "zsh", "fish")),
    Command(name="demo", help="watch the loop repair a small repository with a scripted model"),
)

BY_SPELLING = {spelling: flag for flag in FLAGS for spelling in flag.spellings}
FLAG_OF_OPTION = {flag.option: flag.name for flag in FLAGS if flag.option} | {"output_schema": "--json-schema"}
"""So that an error names what was typed."""
