"""The question, asked once, whether a folder is trusted: shown is what it would do, and only a yes means yes."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from everturn.cli.person import is_in_front
from everturn.cli.trust.report import render_wishes
from everturn.frontends.asking.visible import make_visible
from everturn.permissions.git.own_programs import find_own_programs
from everturn.ports.trust import Definition
from everturn.settings.places import OF_THE_REPOSITORY, SettingsRoots
from everturn.settings.program_files import SettingsArguments, is_of_repository, load_program_settings
from everturn.settings.trust_book import append_trust, decline_folder, load_book, trust_folder

YES = frozenset({"y", "yes"})


class FolderEffects(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder would do if it were trusted, read once: what is trusted is what was shown, whatever the files say later."""

    roots: SettingsRoots
    shown: str
    programs: tuple[Definition, ...]


def load_effects(roots: SettingsRoots, env: Mapping[str, str], asked: SettingsArguments) -> FolderEffects:
    merged, _ = load_program_settings(roots, env, msgspec.structs.replace(asked, trust=True))
    programs = tuple(one for one in merged.definitions if one.source in OF_THE_REPOSITORY)
    unread = [problem for problem in merged.problems if is_of_repository(problem.field, roots)]
    shown = render_wishes(merged, programs, unread, of_git=find_own_programs(str(roots.root)))
    return FolderEffects(roots=roots, shown=shown, programs=programs)


def ask_for_trust(roots: SettingsRoots, env: Mapping[str, str], asked: SettingsArguments) -> bool:
    """Whether it is trusted now. A no is kept, too; about a folder that was decided on before nobody is asked."""
    book = load_book(roots.home)
    if os.path.realpath(roots.root) in book or not can_ask():
        return False
    effects = load_effects(roots, env, asked)
    answer = ask_yes_or_no(f"{make_visible(roots.root)} is not trusted yet. If it is:\n{effects.shown}Trust it?")
    if answer:
        trust_shown(effects)
    elif answer is not None:
        append_trust(roots.home, decline_folder(book, roots))
        sys.stderr.write("It is not trusted, and will not be asked about again; everturn trust changes that.\n")
    return bool(answer)


def trust_shown(effects: FolderEffects, *, below: bool = False) -> str:
    """Writes the trust down; the file."""
    home = effects.roots.home
    return append_trust(home, trust_folder(load_book(home), effects.roots, effects.programs, below=below))


def can_ask() -> bool:
    """Somebody sees the question, and the keys are theirs."""
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams) and is_in_front(sys.stdin.fileno())


def ask_yes_or_no(question: str) -> bool | None:
    """None where nobody answered. What was typed before the question was seen is no answer to it.

    It is written again where the program was stopped (Ctrl-Z) and goes on: a shell has written below it.
    """
    import select
    import signal
    import termios

    keys = sys.stdin.fileno()
    woken, wakes = os.pipe()

    def draw(*_: object) -> None:
        with suppress(termios.error):
            termios.tcflush(keys, termios.TCIFLUSH)
        # Past the buffer: the program may be stopped, and go on, in the midst of a write to it.
        os.write(sys.stderr.fileno(), f"{question} [y/N] ".encode(sys.stderr.encoding, "replace"))

    sys.stderr.flush()
    os.set_blocking(wakes, False)
    before = signal.signal(signal.SIGCONT, draw), signal.set_wakeup_fd(wakes)
    try:
        draw()
        # A signal that comes right before a read would be noticed only after it; one that wakes a `select` never comes too soon.
        while keys not in (ready := select.select([keys, woken], [], [])[0]):
            os.read(ready[0], 1)
        line = sys.stdin.readline()
    finally:
        signal.signal(signal.SIGCONT, before[0])
        signal.set_wakeup_fd(before[1])
        os.close(woken)
        os.close(wakes)
    return line.strip().lower() in YES if line else None
