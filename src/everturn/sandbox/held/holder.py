"""Holds the commands of a session that nobody approved: readers by Landlock where the kernel has it, edits by bubblewrap."""

import asyncio
import os
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from everturn.core.errors import ToolFault
from everturn.ports.holding import Bounds, Holding, Search
from everturn.ports.sandbox import Start
from everturn.sandbox.filter import NEWEST
from everturn.sandbox.held.cell import HeldCell
from everturn.sandbox.held.environment import clean_path, plan_environment
from everturn.sandbox.held.hidden import TooManyError
from everturn.sandbox.held.openings import TOO_MANY, OpenedPlaces, Openings
from everturn.sandbox.held.places import HeldPlaces, is_below
from everturn.sandbox.held.premises import Premises
from everturn.sandbox.held.threads import ConfinedThreads
from everturn.sandbox.held.turns import FolderTurns
from everturn.sandbox.held.walls import MachineWalls
from everturn.sandbox.limits import limit_held
from everturn.sandbox.temporary import Temporary, make_outside

if TYPE_CHECKING:
    from everturn.sandbox.held.viewer import Viewer


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
        self._openings = Openings(premises)
        self._has_swept = False
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._threads = ConfinedThreads(self, self.bounds)
        self._temporary: Temporary | None = None
        self._identity: Temporary | None = None
        self._viewer: Viewer | None = None
        self._turns = FolderTurns(self._premises.resources)
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
                find_trouble=self._openings.find_trouble,
                may_edit=self._may_edit,
            )
        return self._walls[folders]

    @property
    def bounds(self) -> Bounds:
        return self._premises.bounds

    async def prepare(self) -> None:
        """Before a command is judged, where rules keep files from being read."""
        await self._openings.prepare()

    async def hold(self, holding: Holding, start: Start, folder: str) -> HeldCell:
        """Raises `ToolFault` where it cannot be held: then it does not run."""
        if self._process != os.getpid():
            # We are a copy of the program: threads were not copied, and the folders are the other one's.
            self._begin()
        walls = self.walls
        if not (walls.edits if holding.writes else walls.reads):
            raise ToolFault(
                f"The command did not run: nobody approved it, and it cannot be confined here ({walls.why})."
            )
        try:
            with ExitStack() as failed:
                if holding.writes:
                    await self._turns.take(self._premises.folders())
                    failed.callback(self._turns.leave)
                # What another session has done by then counts.
                opening = await self._openings.list_opened(holding, folder)
                cell = self._hold(holding, start, folder, walls, opening)
                failed.pop_all()
                return cell
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
            opening = await self._openings.list_searched(search, folders, is_inside=is_inside)
            return self._hold_search(search, start, folder, walls, opening)
        except (TooManyError, OSError, ToolFault):
            return None

    async def aclose(self) -> None:
        viewer, self._viewer = self._viewer, None
        if viewer is not None and (removing := viewer.close()) is not None:
            self._removing.append(removing)
        self._threads.close()
        if self._temporary is not None:
            self._throw_away(self._temporary)
        if self._identity is not None:
            self._identity.close()
        self._temporary = self._identity = None
        for removing in self._removing:
            if removing.is_alive():
                await asyncio.to_thread(removing.join)
        self._removing.clear()

    def _hold(
        self, holding: Holding, start: Start, folder: str, walls: MachineWalls, opening: OpenedPlaces
    ) -> HeldCell:
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
        self, search: Search, start: Start, folder: str, walls: MachineWalls, opening: OpenedPlaces
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
                cell = self._threads.hold(wanted, places, walls, self._note_closed)
            else:
                cell = self._hold_by_view(wanted, places, walls, folder, writes=writes, keeps_numbers=keeps_numbers)
            failed.pop_all()
        return cell

    def _may_edit(self) -> bool:
        known = self._viewer or self._premises.aftermath
        return known is None or known.is_sure

    def _find_identity(self, environment: Mapping[str, str]) -> str:
        """A folder of ours with the person's settings of git, copied once, and again where it is worked in by now. Raises `OSError`."""
        folders = self._premises.folders()
        if self._identity is not None and self._identity.is_in(folders):
            self._identity.close()
            self._identity = None
        if self._identity is None:
            with ExitStack() as failed:
                made = make_outside(folders, self._premises.temporary)
                failed.callback(made.close)
                given = {**environment, "HOME": environment.get("HOME") or self._premises.home}
                for name, data in self._premises.copy_identity(given, made.path).items():
                    Path(made.path, name).write_bytes(data)
                failed.pop_all()
            self._identity = made
        return self._identity.path

    def _find_temporary(self) -> str:
        """Raises `OSError`."""
        folders = self._premises.folders()
        if self._temporary is not None and not self._running and self._temporary.is_in(folders):
            self._renew_temporary(self._temporary)
        if self._temporary is None:
            self._temporary = make_outside(folders, self._premises.temporary, sweeps=not self._has_swept)
            self._has_swept = True
        return self._temporary.path

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
            from everturn.sandbox.held.viewer import Viewer

            premises = self._premises
            self._viewer = Viewer(
                premises.home,
                premises.own,
                premises.list_denied,
                premises.bounds,
                code=premises.code,
                temporary=premises.temporary,
                aftermath=premises.aftermath,
            )
        return self._viewer.hold(
            wanted,
            places,
            walls.bubblewrap,
            folder,
            writes=writes,
            keeps_numbers=keeps_numbers,
            note_closed=self._note_edited if writes else self._note_closed,
        )

    def _note_edited(self) -> None:
        self._turns.leave()
        self._note_closed()

    def _note_closed(self) -> None:
        self._running -= 1
        # What a command has left is no part of the next one.
        if not self._running and self._temporary is not None and not self._temporary.is_empty:
            self._renew_temporary(self._temporary)

    def _renew_temporary(self, old: Temporary) -> None:
        """The next command has a new folder, and rules that let it write there. That costs more than to empty one, and is rare."""
        self._temporary = None
        self._threads.forget(old.path)
        self._throw_away(old)

    def _throw_away(self, temporary: Temporary) -> None:
        if temporary.is_empty:
            temporary.close()
        else:
            self._removing = [*(each for each in self._removing if each.is_alive()), temporary.close_behind()]
