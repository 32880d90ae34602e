"""The flags of `everturn -p`: those of options are declared with them, the program's own stand here."""

from collections.abc import Iterator

import msgspec

from everturn.cli.syntax import HELP
from everturn.core.modes import PermissionMode
from everturn.settings.declaration import Flag, Takes, Topic
from everturn.settings.options import DECLARED, MANUAL

OUTPUT_FORMATS = ("text", "json", "stream-json")


def _list_of_options() -> Iterator[Flag]:
    for field, option in DECLARED.items():
        for flag in option.flags:
            yield msgspec.structs.replace(flag, option=field, help=flag.help or option.help)


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
        help="with stream-json: also the pieces of an answer while it streams",
    ),
    *_list_of_options(),
    Flag(name="--verbose", topic=Topic.RUN, help="report each step"),
    Flag(
        name="--dangerously-skip-permissions",
        topic=Topic.PERMISSIONS,
        help="the mode bypassPermissions: everything runs without asking",
    ),
    Flag(
        name="--settings",
        topic=Topic.OTHER,
        takes=Takes.FILE,
        value="FILE|JSON",
        help="more settings; they override the user's file and the environment",
    ),
    Flag(
        name="--setting-sources",
        topic=Topic.OTHER,
        takes=Takes.LIST,
        value="NAMES",
        help="the settings files to read: user, project, local",
    ),
    Flag(
        name="--mcp-config",
        topic=Topic.OTHER,
        takes=Takes.EACH,
        value="FILE|JSON",
        help="more MCP servers; may be given several times",
    ),
    Flag(
        name="--strict-mcp-config",
        topic=Topic.OTHER,
        help="no MCP servers but those of --mcp-config",
    ),
    Flag(
        name="--trust",
        topic=Topic.PERMISSIONS,
        help="trust this folder for this run, so that its own settings count",
    ),
    Flag(
        name="--debug",
        topic=Topic.OTHER,
        takes=Takes.MAYBE_FILE,
        value="FILE",
        help="write a log of requests, retries and decisions, without secrets",
    ),
    Flag(name="--debug-bodies", topic=Topic.OTHER, help="with --debug: also log what is sent to the model"),
    Flag(name="--version", short="-v", topic=Topic.OTHER, help="print the version"),
    HELP,
)
"""In the order of the help, topic by topic."""

BY_SPELLING = {spelling: flag for flag in FLAGS for spelling in flag.spellings}
FLAGS_OF_OPTION: dict[str, tuple[str, ...]] = {
    field: tuple(flag.name for flag in option.flags) for field, option in DECLARED.items()
}
"""So that an error names what was typed."""


def resolve_mode(name: str) -> str:
    """The permission mode that one of `MODE_NAMES` stands for."""
    return str(PermissionMode.DEFAULT) if name == MANUAL else name
