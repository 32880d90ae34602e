"""Protected files inside a folder, for commands that take a whole folder. Finds them by name, within a limit."""

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from posixpath import join

import msgspec

from everturn.core.protected import ENVIRONMENT, GIT
from everturn.permissions.paths.protected import find_protected, fold_path

MAX_INSIDE = 50_000
"""Names that are looked at, of one command line."""
_PACKAGES = "node_modules"
"""A folder of packages that were fetched, and can be fetched again: only repositories in it count."""
_OF_ENVIRONMENT = frozenset({"bin", "etc", "include", "Include", "lib", "lib64", "Lib", "Scripts", "share"})
"""The same, of a virtual environment of Python."""
_OWNED = "@"
"""How the name of a folder begins that holds the packages of one owner."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What a command takes of a folder."""

    like: str = "*"
    """Names of files and folders, at any depth."""
    whole: bool = True
    """With a folder of such a name goes all that is in it."""
    repositories: bool = True
    """Git's own folders, too."""


EVERYTHING = Taken()


class _Place(msgspec.Struct, frozen=True):
    path: str
    goes: bool
    """All that is in it."""
    is_fetched: bool
    is_protected: bool = False


class InsideLook:
    """One look over all folders of a line."""

    def __init__(self, own: Iterable[tuple[str, ...]] = (), named: Iterable[str] = ()) -> None:
        """`own`: folders of ours, from `fold_path`; `named`: files and folders that git's settings name."""
        self._own, self._named = tuple(own), tuple(named)
        self._known: dict[tuple[str, str], bool] = {}
        self._left = MAX_INSIDE

    def find(self, folder: str, taken: Taken = EVERYTHING) -> Iterator[str | None]:
        """What is protected below a real path, the highest of each branch; None at last where there is too much to look at."""
        if taken.like == "*":
            parts = fold_path(folder)
            yield from ("/" + "/".join(each) for each in self._own if each[: len(parts)] == parts)
            yield from (each for each in self._named if each.startswith(f"{folder}/") and os.path.lexists(each))
        # The folder itself may be called so.
        goes = _fits(folder.rpartition("/")[2], taken)
        is_protected = find_protected(folder) is not None
        if goes and is_protected and taken.like != "*":
            yield folder
        goes &= taken.like == "*" or taken.whole
        waiting = [_Place(folder, goes, _PACKAGES in folder.split("/"), is_protected)]
        while waiting:
            place = waiting.pop()
            if not place.is_fetched:
                yield from self._look_at(place, taken, waiting)
            elif taken.repositories:
                yield from self._find_repositories(place, taken)
            if self._left < 0:
                yield None
                return

    def is_protected(self, above: str, name: str) -> bool:
        """By the name, and that of the folder that it is in."""
        key = above, name
        if key not in self._known:
            self._known[key] = find_protected(f"/{above}/{name}") is not None
        return self._known[key]

    def _look_at(self, place: _Place, taken: Taken, waiting: list[_Place]) -> Iterator[str]:
        above = place.path.rpartition("/")[2]
        entries = self._list(place.path)
        is_environment = any(entry.name == ENVIRONMENT for entry in entries)
        for entry in entries:
            name = entry.name
            if name == GIT and not taken.repositories:
                continue
            goes = place.goes or _fits(name, taken)
            is_protected = place.is_protected or self.is_protected(above, name)
            if goes and is_protected:
                if not (is_environment and name == ENVIRONMENT):
                    yield entry.path
            elif entry.is_dir(follow_symlinks=False):
                is_fetched = name == _PACKAGES or (is_environment and name in _OF_ENVIRONMENT)
                waiting.append(_Place(entry.path, place.goes or (goes and taken.whole), is_fetched, is_protected))

    def _find_repositories(self, place: _Place, taken: Taken) -> Iterator[str]:
        """One of the packages may be somebody's work."""
        for entry in self._list(place.path):
            goes = place.goes or _fits(entry.name, taken)
            if entry.name == GIT and goes:
                yield entry.path
            elif entry.is_dir(follow_symlinks=False):
                inner = self._list(entry.path) if entry.name.startswith(_OWNED) else ()
                folders = [entry.path] if goes else []
                folders += [each.path for each in inner if goes or _fits(each.name, taken)]
                yield from (mark for folder in folders if os.path.lexists(mark := join(folder, GIT)))

    def _list(self, place: str) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(place) as entries:
                found = list(entries)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            # What is in it is not known.
            self._left = -1
            return []
        self._left -= len(found)
        return found


def _fits(name: str, taken: Taken) -> bool:
    return fnmatchcase(name.lower(), taken.like.lower())
