"""Confines a search like a command that only reads, so that a name that is exchanged meanwhile cannot lead it elsewhere."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from everturn.core.errors import ToolFault
from everturn.ports import unsettled
from everturn.ports.holding import Search
from everturn.ports.sandbox import Cell, Holder, Start
from everturn.tools.grep.ignore import KINDS
from everturn.workspace.paths import is_inside

Hold = Callable[[Start, str, str, tuple[str, ...]], Awaitable[Cell | None]]
"""Told how a search starts and in which folder, by which program, and what that needs to read besides. None: it is not held."""

RESTLESS = (
    "Nothing was searched: a command that nobody approved runs at this moment and could lead the search elsewhere, and the "
    "search cannot be confined here. Wait until the command has ended (TaskOutput), or read files by name."
)


class HeldSearch:
    """One search. Where nothing can hold it, no confined command may run beside it."""

    def __init__(self, holder: Holder | None, place: str, folders: tuple[str, ...]) -> None:
        self._holder, self._place = holder, place
        self._folders = tuple(map(os.path.realpath, folders))
        self._quiet: int | None = None
        self._is_free = False

    async def hold(self, start: Start, folder: str, program: str, needed: tuple[str, ...]) -> Cell | None:
        """`Hold`. Raises `ToolFault` where it may not run at all."""
        cell = None
        if self._holder is not None:
            cell = await self._holder.hold_search(self._plan(program, needed), start, folder)
        if cell is None:
            self._quiet, self._is_free = self._find_quiet(), True
            self._refuse_restless()
        return cell

    def check(self) -> None:
        """Afterwards. Raises `ToolFault` where what was found may be what a command has led to."""
        if self._is_free:
            self._refuse_restless()

    def _plan(self, program: str, needed: tuple[str, ...]) -> Search:
        top = next((each for each in self._folders if is_inside(each, self._place)), self._place)
        return Search(
            place=self._place,
            programs=(os.path.realpath(program),),
            readable=(*_list_ignore_files(top), *needed),
        )

    def _refuse_restless(self) -> None:
        if self._quiet is None or self._find_quiet() != self._quiet:
            raise ToolFault(RESTLESS)

    def _find_quiet(self) -> int | None:
        return unsettled.find_quiet((self._place, *self._folders))


def _list_ignore_files(folder: str) -> tuple[str, ...]:
    """Of the folders around it: what is further in lies in what is searched."""
    named = (str(level / kind) for level in Path(folder).parents for kind in KINDS)
    return tuple(path for path in named if os.path.isfile(path))  # noqa: PTH113 - paths as text
