"""The scratch folder of an engine: made when the first command, or a denial that names it, needs it; removed with the session."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from everturn.workspace.paths import is_inside

if TYPE_CHECKING:
    from everturn.sandbox.temporary import Temporary

SCRATCH_PREFIX = "everturn-scratch-"


class SessionScratch:
    """`ports.scratch.Scratch`. A session that needs none makes none.

    It never lies in a folder that is worked in: a rule for a program of the project (`Bash(pytest *)`) would run what is written there.
    """

    def __init__(self, list_folders: Callable[[], tuple[str, ...]], temporary: str) -> None:
        """`list_folders`: those that are worked in at the moment. `temporary`: where it is made, if that can be written."""
        self._list_folders = list_folders
        self._outer = temporary
        self._made: Temporary | None = None
        self._process = os.getpid()
        self._planned = ""

    def plan(self, session_id: str) -> None:
        """Where it will be: a session that is resumed has it under the same path, so that what was told of it stays true."""
        if os.path.isdir(self._outer):  # noqa: PTH112 (before the first request)
            self._planned = f"{self._outer.rstrip('/')}/{SCRATCH_PREFIX}{session_id}"

    @property
    def path(self) -> str:
        """Where it is, or will be; empty where that is not known."""
        return self.find() or self._find_planned()

    def find(self) -> str:
        if self._made is None or self._process != os.getpid() or not self._made.is_there:
            return ""
        return "" if self._is_worked_in(self._made.path) else self._made.path

    def make(self) -> str:
        if path := self.find():
            return path
        from everturn.sandbox.temporary import Temporary, list_places

        self.close()
        planned = self._find_planned()
        for place in list_places(self._list_folders(), self._outer):
            wanted = planned if planned.rpartition("/")[0] == os.path.realpath(place) else ""
            try:
                self._made, self._process = Temporary(place, prefix=SCRATCH_PREFIX, wanted=wanted), os.getpid()
            except OSError:
                continue
            return self._made.path
        return ""

    def _find_planned(self) -> str:
        return "" if self._is_worked_in(self._planned) else self._planned

    def _is_worked_in(self, path: str) -> bool:
        return any(is_inside(folder, path) for folder in self._list_folders())

    def find_used(self) -> str:
        return "" if self._made is None or self._made.is_empty else self.find()

    def close(self) -> None:
        """Removes the folder with all that is in it. A copy of the program leaves the folder to the other one."""
        made, self._made = self._made, None
        if made is not None and self._process == os.getpid():
            made.close()
