"""What of the disk is opened for one command that is held: the working folders and what it names, without what rules hide."""

import asyncio
from contextlib import suppress

import msgspec

from everturn.ports.holding import Holding, Search
from everturn.ports.judged_paths import Hides
from everturn.sandbox.held.hidden import HiddenFiles, TooManyError
from everturn.sandbox.held.places import find_readable, list_around
from everturn.sandbox.held.premises import Premises

TOO_MANY = "rules keep files from being read, and the working folders hold too many folders to find all of these files"


class Searched(msgspec.Struct, frozen=True):
    """Whether what rules hide could be found."""

    folders: tuple[str, ...]
    hides: Hides
    found_too_many: bool

    def is_about(self, folders: tuple[str, ...], hides: Hides) -> bool:
        return self.folders == folders and self.hides == hides


class OpenedPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """What of the disk is opened for one command. See `HeldPlaces`."""

    folders: tuple[str, ...]
    readable: tuple[str, ...]
    opened: tuple[str, ...]
    hidden: tuple[str, ...] = ()


class Openings:
    """Of a session. What rules hide is looked for anew before each command."""

    def __init__(self, premises: Premises) -> None:
        self._premises = premises
        self._hidden = HiddenFiles(most_folders=premises.most_folders)
        self._searched: Searched | None = None

    async def prepare(self) -> None:
        """Finds out whether files that rules hide can be found. Before the first command, and as long as there were too many."""
        folders, hides = self._premises.folders(), self._premises.find_hides()
        if hides is None:
            return
        if self._searched is None or not self._searched.is_about(folders, hides) or self._searched.found_too_many:
            with suppress(TooManyError):
                await self._find_hidden(folders, hides)

    async def list_searched(self, search: Search, folders: tuple[str, ...], *, is_inside: bool) -> OpenedPlaces:
        """`is_inside`: it searches below a working folder. Raises `TooManyError`."""
        hides = self._premises.find_hides()
        searched = folders if is_inside else (*folders, search.place)
        readable = find_readable(search.readable)
        around = (*searched, *readable)
        # A place outside says nothing of whether commands can be held.
        hidden = () if hides is None else await asyncio.to_thread(self._hidden.find, searched, hides)
        return await _open_around(folders, readable, around, hidden)

    async def list_opened(self, holding: Holding, folder: str) -> OpenedPlaces:
        """Raises `TooManyError`."""
        premises = self._premises
        folders, hides = premises.folders(), premises.find_hides()
        of_git = premises.find_git(folder) if holding.uses_git else ()
        scratch = premises.scratch.find() if not holding.scratch else ""
        readable = find_readable((*premises.list_outputs(), *holding.opened, *of_git, *filter(None, (scratch,))))
        around = (*folders, *readable)
        hidden = () if hides is None else await self._find_hidden((*folders, *of_git), hides)
        return await _open_around(folders, readable, around, hidden)

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

    def find_trouble(self) -> str:
        """Why no command can be held; empty where one can."""
        searched = self._searched
        if searched is None or not searched.found_too_many:
            return ""
        hides = self._premises.find_hides()
        is_now = hides is not None and searched.is_about(self._premises.folders(), hides)
        return TOO_MANY if is_now else ""


async def _open_around(
    folders: tuple[str, ...], readable: tuple[str, ...], around: tuple[str, ...], hidden: tuple[str, ...]
) -> OpenedPlaces:
    """What lies around what is hidden is opened piece by piece."""
    if not hidden:
        return OpenedPlaces(folders=folders, readable=readable, opened=around)
    opened = await asyncio.to_thread(lambda: tuple(each for path in around for each in list_around(path, hidden)))
    return OpenedPlaces(folders=folders, readable=readable, opened=opened, hidden=hidden)
