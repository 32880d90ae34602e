"""The question, asked once, whether a folder is trusted: shown is what it would do, and only a yes means yes."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from everturn.cli.person import is_in_front
from everturn.cli.trust.showing import render_wishes
from everturn.compose.cli import Asked, is_of_repository, load_program_settings
from everturn.frontends.asking.visible import make_visible
from everturn.permissions.repository import find_own_programs
from everturn.ports.trust import Definition
from everturn.settings.places import OF_THE_REPOSITORY, Grounds
from everturn.settings.trust_book import append_trust, decline_folder, load_book, trust_folder

YES = frozenset({"y", "yes"})


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder would do if it were trusted, read once: what is trusted is what was shown, whatever the files say later."""

    grounds: Grounds
    shown: str
    programs: tuple[Definition, ...]


def load_wishes(grounds: Grounds, env: Mapping[str, str], asked: Asked) -> Wishes:
    merged, _ = load_program_settings(grounds, env, msgspec.structs.replace(asked, trust=True))
    programs = tuple(one for one in merged.definitions if one.source in OF_THE_REPOSITORY)
    unread = [problem for problem in merged.problems if is_of_repository(problem.field, grounds)]
    shown = render_wishes(merged, programs, unread, of_git=find_own_programs(str(grounds.root)))
    return Wishes(grounds=grounds, shown=shown, programs=programs)


def ask_for_trust(grounds: Grounds, env: Mapping[str, str], asked: Asked) -> bool:
    """Whether it is trusted now. A no is kept, too; about a folder that was decided on before nobody is asked."""
    book = load_book(grounds.home)
    if os.path.realpath(grounds.root) in book or not can_ask():
        return False
    wishes = load_wishes(grounds, env, asked)
    answer = ask_yes_or_no(f"{make_visible(grounds.root)} is not trusted yet. If it is:\n{wishes.shown}Trust it?")
    if answer:
        append_wishes(wishes)
    elif answer is not None:
        append_trust(grounds.home, decline_folder(book, grounds))
        sys.stderr.write("It is not trusted, and will not be asked about again; everturn trust changes that.\n")
    return bool(answer)


def append_wishes(wishes: Wishes, *, below: bool = False) -> str:
    """Writes the trust down; the file."""
    home = wishes.grounds.home
    return append_trust(home, trust_folder(load_book(home), wishes.grounds, wishes.programs, below=below))


def can_ask() -> bool:
    """Somebody sees the question, and the keys are theirs."""
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams) and is_in_front(sys.stdin.fileno())


def ask_yes_or_no(question: str) -> bool | None:
    """None where nobody answered. What was typed before the question was seen is no answer to it.

    It is written again where the program was stopped (Ctrl-Z) and goes on: a shell has written below it.
    """
    import signal
    import termios

    keys = sys.stdin.fileno()

    def draw(*_: object) -> None:
        with suppress(termios.error):
            termios.tcflush(keys, termios.TCIFLUSH)
        # Past the buffer: the program may be stopped, and go on, in the midst of a write to it.
        os.write(sys.stderr.fileno(), f"{question} [y/N] ".encode(sys.stderr.encoding, "replace"))

    sys.stderr.flush()
    before = signal.signal(signal.SIGCONT, draw)
    try:
        draw()
        line = sys.stdin.readline()
    finally:
        signal.signal(signal.SIGCONT, before)
    return line.strip().lower() in YES if line else None
