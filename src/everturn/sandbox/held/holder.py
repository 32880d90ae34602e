"""Holds the commands of a session that nobody approved: readers by Landlock where the kernel has it, edits by bubblewrap."""

import asyncio
import os
import signal
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.hiding import Hides
from everturn.ports.holding import Bounds, Holding, Search
from everturn.ports.sandbox import Start
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.sandbox.descriptors import lift_descriptor
from everturn.sandbox.filter import NEWEST
from everturn.sandbox.held.cell import HeldCell
from everturn.sandbox.held.environment import clean_path, plan_environment
from everturn.sandbox.held.hidden import MOST_FOLDERS, HiddenFiles, TooManyError
from everturn.sandbox.held.limits import GATE, limit_held, seal_process
from everturn.sandbox.held.places import HeldPlaces, find_numbers, find_readable, is_below, list_around
from everturn.sandbox.held.room import HeldRoom
from everturn.sandbox.held.rules import SCOPE_VERSION, plan_reading
from everturn.sandbox.held.thread import ConfinedThread
from everturn.sandbox.held.walls import MachineWalls
from everturn.sandbox.temporary import Temporary, list_places

if TYPE_CHECKING:
    from everturn.sandbox.held.viewing import Viewer

_MOST_THREADS = 4
"""Each knows one set of places: most sessions have one, some a second for git."""
TOO_MANY = "rules keep files from being read, and the working folders hold too many folders to find all of these files"


class Premises(msgspec.Struct, frozen=True, kw_only=True):
    """Whose session it is."""

    folders: Callable[[], tuple[str, ...]]
    """The working folders of the moment. Real paths."""
    home: str
    own: tuple[str, ...] = ()
    """Folders of ours: never written."""
    scratch: Scratch = NO_SCRATCH
    list_outputs: Callable[[], tuple[str, ...]] = tuple
    """Files that the session has kept for the model to read."""
    find_hides: Callable[[], Hides | None] = lambda: None
    """What the rules of the moment keep from being read."""
    list_denied: Callable[[], tuple[str, ...]] = tuple
    """What the rules of the moment keep from being written, by name."""
    list_exports: Callable[[], frozenset[str]] = frozenset
    """Names of what earlier commands have exported."""
    find_git: Callable[[str], tuple[str, ...]] = lambda _: ()
    """What git must read that lies around a working folder."""
    copy_identity: Callable[[Mapping[str, str], str], dict[str, bytes]] = lambda _, __: {"config": b""}
    """The person's own settings of git, by an environment, without what is secret: files by name, for a place that they are read at."""
    environment: Mapping[str, str] = msgspec.field(default_factory=lambda: os.environ)
    """What commands that are not held are given."""
    bounds: Bounds = Bounds()
    most_folders: int = MOST_FOLDERS
    """That are looked through for what rules hide."""


class Searched(msgspec.Struct, frozen=True):
    """Whether what rules hide could be found."""

    folders: tuple[str, ...]
    hides: Hides
    found_too_many: bool

    def is_about(self, folders: tuple[str, ...], hides: Hides) -> bool:
        return self.folders == folders and self.hides == hides


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """What of the disk is opened for one command. See `HeldPlaces`."""

    folders: tuple[str, ...]
    readable: tuple[str, ...]
    opened: tuple[str, ...]
    hidden: tuple[str, ...] = ()


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
        self._hidden = HiddenFiles(most_folders=premises.most_folders)
        self._searched: Searched | None = None
        self._has_swept = False
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._threads: dict[HeldPlaces, ConfinedThread] = {}
        # Whoever forgets to close a session does not keep its threads for ever.
        weakref.finalize(self, _close_threads, self._threads)
        self._temporary: Temporary | None = None
        self._identity: Temporary | None = None
        self._viewer: Viewer | None = None
        self._removing: list[threading.Thread] = []
        self._running = 0

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
                environment=self._premises.environment,
                find_trouble=self._find_trouble,
                may_edit=lambda: self._viewer is None or self._viewer.is_sure,
            )
        return self._walls[folders]

    @property
    def bounds(self) -> Bounds:
        return self._premises.bounds

    async def prepare(self) -> None:
        """Finds out whether files that rules hide can be found. Before the first command, and as long as there were too many."""
        folders, hides = self._premises.folders(), self._premises.find_hides()
        if hides is None:
            return
        if self._searched is None or not self._searched.is_about(folders, hides) or self._searched.found_too_many:
            with suppress(TooManyError):
                await self._find_hidden(folders, hides)

    async def hold(self, holding: Holding, start: Start, folder: str) -> HeldCell:
        """Raises `ToolFault` where it cannot be held: then it does not run."""
        if self._process != os.getpid():
            # We are a copy of the program: threads were not copied, and the folders are the other one's.
            self._begin()
        walls = self.walls
        if not (walls.edits if holding.writes else walls.reads):
            raise ToolFault(f"The command did not run: nobody approved it, and it cannot be held here ({walls.why}).")
        try:
            opening = await self._list_opened(holding, folder)
            return self._hold(holding, start, folder, walls, opening)
        except TooManyError:
            raise ToolFault(
                f"The command did not run: {TOO_MANY}. Name the files themselves, with Read or Grep."
            ) from None
        except OSError as error:
            raise ToolFault(f"The command did not run: it could not be held ({error}).") from None

    async def hold_search(self, search: Search, start: Start, folder: str) -> HeldCell | None:
        """None where it cannot be held."""
        if self._process != os.getpid():
            self._begin()
        walls = self.walls
        folders = self._premises.folders()
        is_inside = any(is_below(search.place, each) for each in folders)
        # A view is made of mounts, and these follow links: it shows nothing that may be swapped but the working folders.
        if not walls.reads or not (walls.landlock or is_inside):
            return None
        try:
            opening = await self._list_searched(search, folders, is_inside=is_inside)
            return self._hold_search(search, start, folder, walls, opening)
        except (TooManyError, OSError, ToolFault):
            return None

    async def aclose(self) -> None:
        viewer, self._viewer = self._viewer, None
        if viewer is not None and (removing := viewer.close()) is not None:
            self._removing.append(removing)
        for thread in self._threads.values():
            thread.end_all()
            thread.close()
        self._threads.clear()
        if self._temporary is not None:
            self._throw_away(self._temporary)
        if self._identity is not None:
            self._identity.close()
        self._temporary = self._identity = None
        for removing in self._removing:
            if removing.is_alive():
                await asyncio.to_thread(removing.join)
        self._removing.clear()

    def _hold(self, holding: Holding, start: Start, folder: str, walls: MachineWalls, opening: Opening) -> HeldCell:
        """Raises `ToolFault` and `OSError`: then nothing is left of it."""
        scratch = self._premises.scratch.make() if holding.scratch else ""
        identity, temporary = self._find_identity(start.environment), scratch or self._find_temporary()
        places = HeldPlaces(
            folders=opening.folders,
            programs=walls.programs,
            readable=tuple(sorted((*opening.readable, identity))),
            opened=tuple(sorted((*opening.opened, identity))),
            temporary=temporary,
            keeps_temporary=bool(scratch),
            hidden=opening.hidden,
        )
        path = clean_path(start.environment.get("PATH", ""), places.folders)
        environment = plan_environment(start.environment, path=path, temporary=temporary)
        environment["GIT_CONFIG_GLOBAL"] = f"{identity}/config"
        by_rules = walls.landlock > 0 and not holding.writes
        sealed = by_rules and start.seal > 0
        wanted = Start(
            arguments=limit_held(start.arguments, self.bounds, waits=sealed),
            environment=environment,
            seal=start.seal if sealed else 0,
        )
        return self._enclose(wanted, places, walls, folder, by_rules=by_rules, writes=holding.writes)

    def _hold_search(
        self, search: Search, start: Start, folder: str, walls: MachineWalls, opening: Opening
    ) -> HeldCell:
        """Raises `ToolFault` and `OSError`: then nothing is left of it."""
        temporary = self._find_temporary()
        added = (each for each in search.programs if not any(is_below(each, root) for root in walls.programs))
        places = HeldPlaces(
            folders=opening.folders,
            programs=(*walls.programs, *added),
            readable=opening.readable,
            opened=opening.opened,
            temporary=temporary,
            hidden=opening.hidden,
        )
        wanted = Start(arguments=start.arguments, environment={**start.environment, "TMPDIR": temporary})
        return self._enclose(wanted, places, walls, folder, by_rules=walls.landlock > 0, keeps_numbers=True)

    def _enclose(
        self,
        wanted: Start,
        places: HeldPlaces,
        walls: MachineWalls,
        folder: str,
        *,
        by_rules: bool,
        writes: bool = False,
        keeps_numbers: bool = False,
    ) -> HeldCell:
        with ExitStack() as failed:
            self._running += 1
            failed.callback(self._note_closed)
            if by_rules:
                cell = self._hold_by_rules(wanted, places, walls)
            else:
                cell = self._hold_by_view(wanted, places, walls, folder, writes=writes, keeps_numbers=keeps_numbers)
            failed.pop_all()
        return cell

    async def _list_searched(self, search: Search, folders: tuple[str, ...], *, is_inside: bool) -> Opening:
        """Raises `TooManyError`."""
        hides = self._premises.find_hides()
        searched = folders if is_inside else (*folders, search.place)
        readable = find_readable(search.readable)
        around = (*searched, *readable)
        # A place outside says nothing of whether commands can be held.
        hidden = () if hides is None else await asyncio.to_thread(self._hidden.find, searched, hides)
        if not hidden:
            return Opening(folders=folders, readable=readable, opened=around)
        opened = await asyncio.to_thread(lambda: tuple(each for path in around for each in list_around(path, hidden)))
        return Opening(folders=folders, readable=readable, opened=opened, hidden=hidden)

    async def _list_opened(self, holding: Holding, folder: str) -> Opening:
        """Raises `TooManyError`."""
        premises = self._premises
        folders, hides = premises.folders(), premises.find_hides()
        of_git = premises.find_git(folder) if holding.uses_git else ()
        scratch = premises.scratch.find() if not holding.scratch else ""
        readable = find_readable((*premises.list_outputs(), *holding.opened, *of_git, *filter(None, (scratch,))))
        around = (*folders, *readable)
        hidden = () if hides is None else await self._find_hidden((*folders, *of_git), hides)
        if not hidden:
            return Opening(folders=folders, readable=readable, opened=around)
        opened = await asyncio.to_thread(lambda: tuple(each for path in around for each in list_around(path, hidden)))
        return Opening(folders=folders, readable=readable, opened=opened, hidden=hidden)

    async def _find_hidden(self, places: tuple[str, ...], hides: Hides) -> tuple[str, ...]:
        """In a thread: there may be many folders. Raises `TooManyError`."""
        folders = self._premises.folders()
        try:
            found = await asyncio.to_thread(self._hidden.find, places, hides)
        except TooManyError:
            self._searched = Searched(folders, hides, found_too_many=True)
            raise
        self._searched = Searched(folders, hides, found_too_many=False)
        return found

    def _find_trouble(self) -> str:
        searched = self._searched
        if searched is None or not searched.found_too_many:
            return ""
        hides = self._premises.find_hides()
        is_now = hides is not None and searched.is_about(self._premises.folders(), hides)
        return TOO_MANY if is_now else ""

    def _find_identity(self, environment: Mapping[str, str]) -> str:
        """A folder of ours with the person's settings of git, copied once. Raises `OSError`."""
        if self._identity is None:
            with ExitStack() as failed:
                made = Temporary(sweeps=False)
                failed.callback(made.close)
                given = {**environment, "HOME": environment.get("HOME") or self._premises.home}
                for name, data in self._premises.copy_identity(given, made.path).items():
                    Path(made.path, name).write_bytes(data)
                failed.pop_all()
            self._identity = made
        return self._identity.path

    def _find_temporary(self) -> str:
        """Raises `OSError`."""
        if self._temporary is None:
            places = list_places(self._premises.folders())
            self._temporary = Temporary(places[0] if places else None, sweeps=not self._has_swept)
            self._has_swept = True
        return self._temporary.path

    def _hold_by_rules(self, wanted: Start, places: HeldPlaces, walls: MachineWalls) -> HeldCell:
        # Rules are about the files themselves, whatever their names.
        named = (*places.programs, *places.folders, *places.readable, *places.opened)
        places = msgspec.structs.replace(places, numbers=find_numbers(named))
        thread = self._find_thread(places, walls)
        room = HeldRoom(places.temporary, self.bounds, is_used=places.keeps_temporary)
        with ExitStack() as failed:
            thread.running += 1
            failed.callback(self._note_ended, thread)
            handed: tuple[int, ...] = ()
            given = msgspec.structs.replace(wanted, via=thread.start)
            if wanted.seal:
                given, handed = _seal(wanted, thread, failed)
            failed.pop_all()

        def note_closed() -> None:
            self._note_ended(thread)
            self._note_closed()

        return HeldCell(given, room, handed=handed, note_closed=note_closed)

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
        for each in gone or idle[: max(0, len(self._threads) - _MOST_THREADS + 1)]:
            self._threads.pop(each).close()
        enter = plan_reading(walls.machine, walls.landlock, places)
        thread = self._threads[places] = ConfinedThread(enter, alone=walls.landlock >= SCOPE_VERSION)
        return thread

    def _hold_by_view(
        self,
        wanted: Start,
        places: HeldPlaces,
        walls: MachineWalls,
        folder: str,
        *,
        writes: bool,
        keeps_numbers: bool,
    ) -> HeldCell:
        if walls.bubblewrap is None:
            raise ToolFault("The command did not run: bubblewrap is gone.")
        if self._viewer is None:
            from everturn.sandbox.held.viewing import Viewer

            premises = self._premises
            self._viewer = Viewer(premises.home, premises.own, premises.list_denied, premises.bounds)
        return self._viewer.hold(
            wanted,
            places,
            walls.bubblewrap,
            folder,
            writes=writes,
            keeps_numbers=keeps_numbers,
            note_closed=self._note_closed,
        )

    def _note_ended(self, thread: ConfinedThread) -> None:
        thread.running -= 1
        if not thread.running:
            thread.end_all()

    def _note_closed(self) -> None:
        self._running -= 1
        # What a command has left is no part of the next one.
        if not self._running and self._temporary is not None and not self._temporary.is_empty:
            self._renew_temporary(self._temporary)

    def _renew_temporary(self, old: Temporary) -> None:
        """The next command has a new folder, and rules that let it write there. That costs more than to empty one, and is rare."""
        self._temporary = None
        for places in [places for places in self._threads if places.temporary == old.path]:
            self._threads.pop(places).close()
        self._throw_away(old)

    def _throw_away(self, temporary: Temporary) -> None:
        if temporary.is_empty:
            temporary.close()
        else:
            self._removing = [*(each for each in self._removing if each.is_alive()), temporary.close_behind()]


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
