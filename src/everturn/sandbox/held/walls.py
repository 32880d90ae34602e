"""Which means of confinement work on this machine, asked of the kernel when the first command needs it."""

import os
from collections.abc import Callable, Mapping
from functools import cached_property

from everturn.sandbox import landlock
from everturn.sandbox.calls import Machine, find_machine
from everturn.sandbox.filter import NEWEST
from everturn.sandbox.held.environment import OF_THE_SHELL, clean_path, is_passed
from everturn.sandbox.held.places import HeldPlaces, find_programs, find_readable, is_below
from everturn.sandbox.held.rules import MIN_VERSION, SCOPE_VERSION, plan_reading
from everturn.sandbox.held.thread import ConfinedThread
from everturn.sandbox.places import lies_in_protected
from everturn.sandbox.probe import Means
from everturn.workspace.programs import find_local, find_program

OFF = "off"


class MachineWalls:
    """`ports.holding.Walls`."""

    def __init__(
        self,
        folders: tuple[str, ...],
        home: str,
        *,
        program: str | None = None,
        without: str = "",
        newest: int = NEWEST,
        list_exports: Callable[[], frozenset[str]] = frozenset,
        environment: Mapping[str, str] = os.environ,
        find_trouble: Callable[[], str] = str,
        may_edit: Callable[[], bool] = lambda: True,
    ) -> None:
        """`program`: where bubblewrap is; else it is searched for. `without` passes over one kind, for those who compare.

        `newest`: of Landlock, no later version is used. `list_exports`: names of what earlier commands have exported.
        `environment`: what commands that are not held are given. `find_trouble`: why nothing can be held at the moment, if so.
        `may_edit`: everything that an edit may have left could be found and put back, until now.
        """
        self._list_exports = list_exports
        self._environment = environment
        self._find_trouble = find_trouble
        self._may_edit = may_edit
        self._newest = newest
        self._folders, self._home = folders, home
        self._program, self._without = program, without
        self._foreign: dict[str, str] = {}

    @property
    def machine(self) -> Machine | None:
        return find_machine() if os.uname().sysname == "Linux" else None

    @cached_property
    def landlock(self) -> int:
        """Its version; 0 where there is none."""
        if self.machine is None or self._without in {"landlock", OFF}:
            return 0
        version = min(landlock.find_version(self.machine), self._newest)
        return version if version >= MIN_VERSION and self._is_entered(self.machine, version) else 0

    def _is_entered(self, machine: Machine, version: int) -> bool:
        """By trying: what a kernel has a system around it may still forbid."""
        nowhere = HeldPlaces(folders=(), programs=(), readable=(), opened=(), temporary=os.devnull)
        try:
            ConfinedThread(plan_reading(machine, version, nowhere), alone=version >= SCOPE_VERSION).close()
        except OSError:
            return False
        return True

    @cached_property
    def bubblewrap(self) -> Means | None:
        """Tried only where it is needed: that takes some milliseconds."""
        if self._without in {"bubblewrap", OFF}:
            return None
        from everturn.sandbox.held.probe import find_view_means

        means = find_view_means(self._program, self.programs, self._path, self._folders)
        return means if means.kind == "bubblewrap" else None

    @cached_property
    def programs(self) -> tuple[str, ...]:
        return find_programs(self._folders, self._home, self._path)

    @property
    def _path(self) -> str:
        return self._environment.get("PATH", "")

    @property
    def reads(self) -> bool:
        return self._may_hold and (self.landlock > 0 or self.bubblewrap is not None)

    @property
    def edits(self) -> bool:
        return self._may_hold and not self._is_exposed and self.bubblewrap is not None and self._may_edit()

    @cached_property
    def _is_exposed(self) -> bool:
        """A working folder is itself a protected place: all that is written there may run later."""
        return any(lies_in_protected(folder, self._home) for folder in self._folders)

    @property
    def _may_hold(self) -> bool:
        return bool(self.programs) and not self._find_trouble()

    def lacks(self, variable: str) -> bool:
        if variable in self._list_exports():
            return True
        if variable == "PATH":
            return self._path != clean_path(self._path, self._folders)
        return variable in self._environment and not is_passed(variable) and variable not in OF_THE_SHELL

    def lists(self, path: str) -> bool:
        return any(is_below(path, root) for root in (*self.programs, *find_readable(())))

    def find_foreign(self, name: str, *, held: bool = True, path: str | None = None) -> str:
        if not held:
            usual = self._path or os.defpath
            return find_local(name, self._folders, usual if path is None else path, usual=usual)
        if name not in self._foreign:
            self._foreign[name] = self._look_for(name)
        return self._foreign[name]

    def _look_for(self, name: str) -> str:
        found = find_program(name, self._folders, clean_path(self._path, self._folders))
        real = os.path.realpath(found) if found else ""
        return found if real and not any(is_below(real, root) for root in self.programs) else ""

    @property
    def why(self) -> str:
        if not self.programs:
            return "a working folder holds the system's own programs"
        if trouble := self._find_trouble():
            return trouble
        if self.landlock:
            return f"Landlock {self.landlock}"
        return self.bubblewrap.why if self.bubblewrap else "neither Landlock nor bubblewrap works here"
