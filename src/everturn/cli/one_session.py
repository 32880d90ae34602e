"""What `everturn cost` and `everturn cache` have in common: one session, found by the words behind them, and its journal."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from everturn.cli.console import complain
from everturn.cli.folder import find_folder
from everturn.cli.sessions.finding import find_newest, find_session
from everturn.cli.usage import UsageError
from everturn.cli.words import parse_words
from everturn.compose.cli import program_home
from everturn.core.records import Record
from everturn.core.spelled_paths import spell_path

if TYPE_CHECKING:
    from everturn.frontends.ansi import Style

FLAGS = {"--json": "", "--help": "", "-h": ""}
WIDTH_OF_A_PIPE = 120


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    name: str = ""
    """Of the session; empty where the newest is meant."""
    as_json: bool = False
    for_help: bool = False


def parse_asked(command: str, words: list[str]) -> Asked:
    """Raises `UsageError`."""
    see = f"everturn {command} --help"
    parsed = parse_words(command, words, FLAGS, see=see)
    if len(parsed.names) > 1:
        raise UsageError(f"one session at a time, not {len(parsed.names)}", see=see)
    return Asked(name="".join(parsed.names), as_json="--json" in parsed, for_help="--help" in parsed or "-h" in parsed)


def find_file(command: str, name: str) -> Path:
    """Without a name the newest of this folder. Raises `UsageError`."""
    home, folder = program_home(os.environ), find_folder()
    if name:
        return find_session(home, folder, name)
    try:
        return find_session(home, folder, find_newest(home, folder))
    except UsageError:
        raise UsageError(
            f"there is no session of {spell_path(str(folder))} yet", see=f"everturn {command} --help"
        ) from None


def load_records(path: Path) -> Iterator[Record]:
    """Broken lines are passed over, as in a replay. Raises `JournalError` for a session that cannot be read."""
    from everturn.sessions.loading import stream_told
    from everturn.sessions.patience import tell_slow_reading

    tell_slow_reading(complain)
    for told, _ in stream_told(path, messages=False):
        if told.record is not None:
            yield told.record


def measure_output() -> "tuple[Style, int]":
    """How standard output is painted, and how wide it is."""
    from everturn.frontends.ansi import Style, choose_style

    if not sys.stdout.isatty():
        return Style(colour=False, control=False), WIDTH_OF_A_PIPE
    return choose_style(os.environ), shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns
