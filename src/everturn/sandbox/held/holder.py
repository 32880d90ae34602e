"""Holds the commands of a session that nobody approved: readers by Landlock where the kernel has it, edits by bubblewrap."""

import os
import signal
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.holding import Holding
from everturn.ports.sandbox import Start
from everturn.sandbox.descriptors import lift_descriptor
from everturn.sandbox.filter import NEWEST
from everturn.sandbox.held.cell import HeldCell
from everturn.sandbox.held.environment import clean_path, plan_environment
from everturn.sandbox.held.limits import GATE, limit_held, seal_process
from everturn.sandbox.held.places import HeldPlaces, TooManyError, find_hidden, find_readable, list_around
from everturn.sandbox.held.rules import SCOPE_VERSION, plan_reading
from everturn.sandbox.held.thread import ConfinedThread
from everturn.sandbox.held.walls import MachineWalls
from everturn.sandbox.temporary import Temporary

if TYPE_CHECKING:
    from everturn.sandbox.held.viewing import Viewer

_MOST_THREADS = 4
"""Each knows one set of places: most sessions have one, some a second for git."""


class Premises(msgspec.Struct, frozen=True, kw_only=True):
    """Whose session it is."""

    folders: Callable[[], tuple[str, ...]]
    """The working folders of the moment. Real paths."""
    home: str
    own: tuple[str, ...] = ()
    """Folders of ours: never written."""
    list_outputs: Callable[[], tuple[str, ...]] = tuple
    """Files that the session has kept for the model to read."""
    find_hides: Callable[[], Callable[[str], bool] | None] = lambda: None
    """What the rules of the moment keep from being read."""
    list_denied: Callable[[], tuple[str, ...]] = tuple
    """What the rules of the moment keep from being written, by name."""
    list_exports: Callable[[], frozenset[str]] = frozenset
    """Names of what earlier commands have exported."""
    find_git: Callable[[str], tuple[str, ...]] = lambda _: ()
    """What git must read that lies around a working folder."""
    copy_identity: Callable[[str, str], dict[str, bytes]] = lambda _, __: {"config": b""}
    """The person's own settings of git, from a home, without what is secret: files by name, for a place that they are read at."""


class CommandHolder:
    """`ports.sandbox.Holder`. One per session."""

    def __init__(
        self, premises: Premises, *, program: str | None = None, without: str = "", newest: int = NEWEST
    ) -> None:
        """`program`: where bubblewrap is; `without` passes over one kind, for those who compare.

        `newest`: no later version of Landlock is used.
        """
        self._premises = premises
        self._newest = newest
        self._program, self._without = program, without
        self._walls: dict[tuple[str, ...], MachineWalls] = {}
        self._threads: dict[HeldPlaces, ConfinedThread] = {}
        # Whoever forgets to close a session does not keep its threads for ever.
        weakref.finalize(self, _close_threads, self._threads)
        self._temporary: Temporary | None = None
        self._identity: Temporary | None = None
        self._has_viewer = False
        self._running = 0
        self._path = os.environ.get("PATH", "")

    @property
    def walls(self) -> MachineWalls:
        folders = self._premises.folders()
        if folders not in self._walls:
            self._walls[folders] = MachineWalls(
                folders,
                os.path.realpath(self._premises.home),
                program=self._program,
                without=self._without,
                newest=self._newest,
                list_exports=self._premises.list_exports,
            )
        return self._walls[folders]

    def hold(self, holding: Holding, start: Start, folder: str) -> HeldCell:
        """Raises `ToolFault` where it cannot be held: then it does not run."""
        walls = self.walls
        if not (walls.edits if holding.writes else walls.reads):
            raise ToolFault(f"The command did not run: nobody approved it, and it cannot be held here ({walls.why}).")
        home = start.environment.get("HOME") or self._premises.home
        places = self._find_places(holding, walls, folder, home)
        environment = plan_environment(
            start.environment, path=clean_path(self._path, places.folders), temporary=places.temporary
        )
        environment["GIT_CONFIG_GLOBAL"] = f"{self._find_identity(home)}/config"
        by_rules = walls.landlock > 0 and not holding.writes
        sealed = by_rules and start.seal > 0
        wanted = Start(
            arguments=limit_held(start.arguments, waits=sealed),
            environment=environment,
            seal=start.seal if sealed else 0,
        )
        self._running += 1
        try:
            if by_rules:
                return self._hold_by_rules(wanted, places, walls)
            return self._hold_by_view(wanted, places, walls, folder, writes=holding.writes)
        except BaseException:
            self._note_closed()
            raise

    async def aclose(self) -> None:
        if self._has_viewer:
            self._viewer.close()
        for thread in self._threads.values():
            thread.end_all()
            thread.close()
        self._threads.clear()
        for made in (self._temporary, self._identity):
            if made is not None:
                made.close()
        self._temporary = self._identity = None

    def _find_places(self, holding: Holding, walls: MachineWalls, folder: str, home: str) -> HeldPlaces:
        premises = self._premises
        folders = premises.folders()
        of_git = premises.find_git(folder) if holding.uses_git else ()
        try:
            hidden = find_hidden((*folders, *of_git), premises.find_hides())
        except TooManyError:
            raise ToolFault(
                "The command did not run: rules keep files from being read, and the working folders hold too many files "
                "to find them all. Name the files themselves, with Read or Grep."
            ) from None
        identity = (self._find_identity(home),)
        readable = find_readable((*premises.list_outputs(), *holding.opened, *of_git, *identity))
        return HeldPlaces(
            folders=folders,
            programs=walls.programs,
            readable=readable,
            opened=tuple(sorted(each for path in (*folders, *readable) for each in list_around(path, hidden))),
            temporary=self._find_temporary(),
            hidden=hidden,
        )

    def _find_identity(self, home: str) -> str:
        """A folder of ours with the person's settings of git, copied once."""
        if self._identity is None:
            self._identity = Temporary()
            for name, data in self._premises.copy_identity(home, self._identity.path).items():
                Path(self._identity.path, name).write_bytes(data)
        return self._identity.path

    def _find_temporary(self) -> str:
        if self._temporary is None:
            self._temporary = Temporary()
        return self._temporary.path

    def _hold_by_rules(self, wanted: Start, places: HeldPlaces, walls: MachineWalls) -> HeldCell:
        thread = self._threads.get(places)
        if thread is None:
            if walls.machine is None:
                raise ToolFault("The command did not run: this machine is not known to the sandbox.")
            while len(self._threads) >= _MOST_THREADS and (idle := self._find_idle()) is not None:
                self._threads.pop(idle).close()
            try:
                enter = plan_reading(walls.machine, walls.landlock, places)
                thread = ConfinedThread(enter, alone=walls.landlock >= SCOPE_VERSION)
            except OSError as error:
                raise ToolFault(f"The command did not run: it could not be held ({error}).") from None
            self._threads[places] = thread
        thread.running += 1
        note_closed = partial(self._note_closed, thread=thread)
        if not wanted.seal:
            return HeldCell(msgspec.structs.replace(wanted, via=thread.start), places, note_closed=note_closed)
        waiting, gate = os.pipe()
        theirs = lift_descriptor(waiting)
        sealed = msgspec.structs.replace(
            wanted, via=partial(_start_sealed, thread, wanted.seal, gate), descriptors=((theirs, GATE),)
        )
        return HeldCell(sealed, places, handed=(theirs, gate), note_closed=note_closed)

    def _find_idle(self) -> HeldPlaces | None:
        return next((places for places, thread in self._threads.items() if not thread.running), None)

    def _hold_by_view(
        self, wanted: Start, places: HeldPlaces, walls: MachineWalls, folder: str, *, writes: bool
    ) -> HeldCell:
        if walls.bubblewrap is None:
            raise ToolFault("The command did not run: bubblewrap is gone.")
        return self._viewer.hold(wanted, places, walls.bubblewrap, folder, writes=writes, note_closed=self._note_closed)

    @cached_property
    def _viewer(self) -> "Viewer":
        from everturn.sandbox.held.viewing import Viewer

        self._has_viewer = True
        return Viewer(self._premises.home, self._premises.own, self._premises.list_denied)

    def _note_closed(self, thread: ConfinedThread | None = None) -> None:
        self._running -= 1
        if thread is not None:
            thread.running -= 1
            if not thread.running:
                thread.end_all()
        if not self._running and self._temporary is not None:
            # What a command has left is no part of the next one.
            with suppress(OSError):
                self._temporary.empty()


def _close_threads(threads: dict[HeldPlaces, ConfinedThread]) -> None:
    while threads:
        threads.popitem()[1].close()


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
