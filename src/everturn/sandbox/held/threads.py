"""Held by Landlock: readers, each started by a thread that has entered the rules for what it may open."""

import os
import signal
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.holding import Bounds
from everturn.ports.sandbox import Start
from everturn.sandbox.descriptors import lift_descriptor
from everturn.sandbox.held.cell import HeldCell
from everturn.sandbox.held.places import HeldPlaces, find_numbers
from everturn.sandbox.held.room import HeldRoom
from everturn.sandbox.held.rules import SCOPE_VERSION, plan_reading
from everturn.sandbox.held.thread import ConfinedThread
from everturn.sandbox.held.walls import MachineWalls
from everturn.sandbox.limits import GATE, seal_process

_MAX_THREADS = 4
"""Each knows one set of places: most sessions have one, some a second for git."""


class ConfinedThreads:
    """Of a session. A thread cannot leave its rules, so each set of places has its own."""

    def __init__(self, owner: object, bounds: Bounds) -> None:
        """`owner`: whoever forgets to close it does not keep the threads for ever."""
        self._bounds = bounds
        self._threads: dict[HeldPlaces, ConfinedThread] = {}
        weakref.finalize(owner, _close_threads, self._threads)

    def hold(self, wanted: Start, places: HeldPlaces, walls: MachineWalls, note_closed: Callable[[], None]) -> HeldCell:
        """Raises `ToolFault` and `OSError`: then nothing is left of it."""
        # Rules are about the files themselves, whatever their names.
        named = (*places.programs, *places.folders, *places.readable, *places.opened)
        places = msgspec.structs.replace(places, numbers=find_numbers(named))
        thread = self._find_thread(places, walls)
        room = HeldRoom(places.temporary, self._bounds, is_used=places.keeps_temporary)
        with ExitStack() as failed:
            thread.running += 1
            failed.callback(self._note_ended, thread)
            handed: tuple[int, ...] = ()
            given = msgspec.structs.replace(wanted, via=thread.start)
            if wanted.seal:
                given, handed = _seal(wanted, thread, failed)
            failed.pop_all()

        def note_ended() -> None:
            self._note_ended(thread)
            note_closed()

        return HeldCell(given, room, handed=handed, note_closed=note_ended)

    def _find_thread(self, places: HeldPlaces, walls: MachineWalls) -> ConfinedThread:
        """Raises `ToolFault` and `OSError`."""
        thread = self._threads.get(places)
        if thread is not None and thread.is_open:
            return thread
        if walls.machine is None:
            raise ToolFault("The command did not run: this machine is not known to the sandbox.")
        idle = [each for each, old in self._threads.items() if not old.running]
        # By their rules the kernel keeps what is gone, with all its bytes.
        gone = [each for each in idle if places.replaces(each)]
        for each in gone or idle[: max(0, len(self._threads) - _MAX_THREADS + 1)]:
            self._threads.pop(each).close()
        enter = plan_reading(walls.machine, walls.landlock, places)
        thread = self._threads[places] = ConfinedThread(enter, alone=walls.landlock >= SCOPE_VERSION)
        return thread

    def _note_ended(self, thread: ConfinedThread) -> None:
        thread.running -= 1
        if not thread.running:
            thread.end_all()

    def forget(self, temporary: str) -> None:
        """Closes those whose commands write to a folder that is gone."""
        for places in [places for places in self._threads if places.temporary == temporary]:
            self._threads.pop(places).close()

    def close(self) -> None:
        """Ends what they have started, too."""
        for thread in self._threads.values():
            thread.end_all()
            thread.close()
        self._threads.clear()


def _close_threads(threads: dict[HeldPlaces, ConfinedThread]) -> None:
    while threads:
        threads.popitem()[1].close()


def _seal(wanted: Start, thread: ConfinedThread, failed: ExitStack) -> tuple[Start, tuple[int, ...]]:
    """How it starts at a gate, and the descriptors for that, which `failed` closes. Raises `OSError`."""
    waiting, gate = os.pipe()
    failed.callback(os.close, gate)
    theirs = lift_descriptor(waiting)
    failed.callback(os.close, theirs)
    via = partial(_start_sealed, thread, wanted.seal, gate)
    return msgspec.structs.replace(wanted, via=via, descriptors=((theirs, GATE),)), (theirs, gate)


def _start_sealed(thread: ConfinedThread, seal: int, gate: int, begin: Callable[[], int]) -> int:
    pid = thread.start(begin)
    try:
        seal_process(pid, seal, gate)
    except OSError:
        # It still waits at the gate: nothing has run.
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    return pid
