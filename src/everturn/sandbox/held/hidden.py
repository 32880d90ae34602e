"""Files in the working folders that rules keep from being read: found by name, and remembered from one command to the next.

`permissions.paths.covered` looks for files that rules cover, too: for rules of every kind, wherever their patterns begin, in the home and
at the root as well. It remembers nothing, since it is asked seldom. This one is asked before each held command, in folders of any size, so
it goes name by name and lists a folder again only when that has changed; in return it knows only the folders that it is given.
"""

import os
import stat
import threading
import time
from collections.abc import Iterable

import msgspec

from everturn.ports.judged_paths import HiddenBelow, Hides

MAX_FOLDERS = 50_000
"""Each is looked at before each command: about a fifth of a second for so many."""
MAX_ENTRIES = 500_000
"""Listed anew before one command. What was listed stays known, so that the next command goes on from there."""
RECENT_NS = 2_000_000_000
"""A change so shortly before could be followed by another within one tick of the file system's clock."""

Stamp = tuple[int, int, int, int]


class TooManyError(Exception):
    """There is more below the working folders than could be looked through for what rules hide."""


class _Folder(msgspec.Struct, frozen=True):
    stamp: Stamp
    is_recent: bool
    children: tuple[str, ...] = ()
    """Names of folders in it that are not hidden, and may hold something that is."""
    hidden: tuple[str, ...] = ()
    """Paths."""


class HiddenFiles:
    """One per session. May be asked in any thread.

    A folder whose stamp is unchanged is not listed again. The stamp has the folder's own number and the time that the kernel sets when an
    entry is made, renamed or removed, which nobody can set back. So a folder that was moved here, or put in the place of another, has
    another stamp than what was here before; what lies in it is known by stamps of its own. A folder that was changed shortly before it was
    listed is listed again: a second change could have the same time.
    """

    def __init__(
        self,
        *,
        most_folders: int = MAX_FOLDERS,
        most_entries: int = MAX_ENTRIES,
        recent_ns: int = RECENT_NS,
    ) -> None:
        self._most_folders, self._most_entries, self._recent_ns = most_folders, most_entries, recent_ns
        self._lock = threading.Lock()
        self._hides: Hides | None = None
        self._folders: dict[str, _Folder] = {}
        self._listed = 0
        """Entries, in this search."""

    def find(self, folders: Iterable[str], hides: Hides) -> tuple[str, ...]:
        """Files and folders, the highest of each branch. Raises `TooManyError`."""
        with self._lock:
            if hides != self._hides:
                self._hides, self._folders = hides, {}
            seen: dict[str, _Folder | None] = {}
            try:
                self._search(folders, hides, seen)
            finally:
                known = {path: folder for path, folder in seen.items() if folder is not None}
                # Some commands look at the repository around, others do not.
                self._folders = self._folders | known if len(self._folders) < self._most_folders else known
        return tuple(sorted({path for folder in known.values() for path in folder.hidden}))

    def _search(self, folders: Iterable[str], hides: Hides, seen: dict[str, _Folder | None]) -> None:
        self._listed = 0
        now = time.time_ns()
        waiting = [(path, below) for path in folders if (below := hides.enter(path)) is not None]
        while waiting:
            path, below = waiting.pop()
            if path in seen:
                continue
            if len(seen) >= self._most_folders:
                raise TooManyError(path)
            folder = seen[path] = self._look(path, below, now)
            names = folder.children if folder is not None else ()
            waiting += [(_join(path, name), inner) for name in names if (inner := below.enter(name)) is not None]

    def _look(self, path: str, below: HiddenBelow, now: int) -> _Folder | None:
        """None: it is gone, or no folder."""
        try:
            status = os.lstat(path)
        except OSError:
            return None
        stamp = status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns
        known = self._folders.get(path)
        if known is not None and known.stamp == stamp and not known.is_recent:
            return known
        if not stat.S_ISDIR(status.st_mode):
            return None
        return self._list(path, below, stamp, is_recent=status.st_ctime_ns > now - self._recent_ns)

    def _list(self, path: str, below: HiddenBelow, stamp: Stamp, *, is_recent: bool) -> _Folder | None:
        children: list[str] = []
        hidden: list[str] = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    self._listed += 1
                    if self._listed > self._most_entries:
                        raise TooManyError(path)
                    if below.hides(entry.name):
                        hidden.append(entry.path)
                    elif entry.is_dir(follow_symlinks=False) and below.enter(entry.name) is not None:
                        children.append(entry.name)
        except PermissionError:
            # Who cannot list it may still open what is in it, by name.
            return _Folder(stamp, is_recent=True, hidden=(path,))
        except OSError:
            return None
        return _Folder(stamp, is_recent, tuple(children), tuple(hidden))


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"
