"""What a protected place looked like: a file, a link, or a folder with all that is in it; and whether it still does."""

import os
import stat
import time
from typing import Literal

import msgspec

from everturn.sandbox.beneath import find_status, open_file, open_listed
from everturn.sandbox.placeholders import is_placeholder
from everturn.sandbox.store import ContentStore, StoredPiece

MAX_ENTRIES = 10_000
MAX_BYTES = 64_000_000
"""All that is read before a command. What goes beyond is not held."""
_MAX_DEPTH = 64
_RECENT_NS = 2_000_000_000
"""A file that was changed so shortly before it was looked at could be changed again within one tick of the file system's clock."""
IN_MEMORY = 0
"""The first number of such devices. Not every kernel gives a file there a new time when it is written as mapped memory."""

Kind = Literal["none", "file", "folder", "link", "other"]
Stamp = tuple[int, int, int, int, int]
Rights = tuple[int, int, int]


class Seen(msgspec.Struct, frozen=True):
    kind: Kind
    rights: Rights = (0, 0, 0)
    """Mode, owner and group."""
    stamp: Stamp = (0, 0, 0, 0, 0)
    """It changes with the content: the kernel sets the time of the last change, and nobody can set it back."""
    is_sure: bool = False
    """The same stamp means the same content; else it is compared."""
    content: StoredPiece | None = None
    modified_ns: int = 0
    target: str = ""
    entries: dict[str, "Seen"] = {}


NOTHING = Seen("none")


class TooMuchToRememberError(Exception):
    """More than is remembered."""


class Looker:
    """Remembers contents from one command to the next: an unchanged file is read once."""

    def __init__(self) -> None:
        self.store = ContentStore()
        self._files: dict[Stamp, Seen] = {}
        self._entries, self._bytes, self._depth, self._now = 0, 0, 0, 0

    def begin(self) -> None:
        """A new look at everything. What was seen before is of no use any more."""
        self._entries, self._bytes, self._depth, self._now = 0, 0, 0, time.time_ns()
        if self.store.is_full:
            self.close()

    def close(self) -> None:
        self.store.clear()
        self._files.clear()

    def look(self, folder: int, name: str) -> Seen:
        """Raises `TooMuchError`, and `OSError` where it cannot be read."""
        status = find_status(folder, name)
        if status is None or is_placeholder(folder, name, status):
            return NOTHING
        before = self._entries, self._bytes
        try:
            return self._see(folder, name, status)
        except TooMuchToRememberError:
            # It is not remembered, and takes nothing from what else is.
            self._entries, self._bytes = before
            raise

    def is_same(self, folder: int, name: str, seen: Seen) -> bool:
        """What cannot be looked at is not: it could be when it was seen."""
        try:
            status = find_status(folder, name)
            if status is None or is_placeholder(folder, name, status):
                return seen.kind == "none"
            return self._is_same(folder, name, status, seen)
        except OSError:
            return False

    def _see(self, folder: int, name: str, status: os.stat_result) -> Seen:
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise TooMuchToRememberError
        stamp = find_stamp(status)
        if (known := self._files.get(stamp)) is not None:
            return known
        kind, rights = find_kind(status), find_rights(status)
        if kind == "file":
            is_sure = status.st_ctime_ns < self._now - _RECENT_NS and os.major(status.st_dev) != IN_MEMORY
            seen = Seen(kind, rights, stamp, is_sure, self._read(folder, name, status), status.st_mtime_ns)
            if is_sure:
                self._files[stamp] = seen
            return seen
        if kind == "link":
            return Seen(kind, rights, stamp, target=os.readlink(name, dir_fd=folder))
        if kind == "folder":
            return Seen(kind, rights, stamp, entries=self._see_inside(folder, name))
        return Seen(kind, rights, stamp)

    def _see_inside(self, folder: int, name: str) -> dict[str, Seen]:
        if self._depth >= _MAX_DEPTH:
            raise TooMuchToRememberError
        inner = open_listed(folder, name)
        self._depth += 1
        try:
            with os.scandir(inner) as entries:
                return {
                    entry.name: self._see(inner, entry.name, entry.stat(follow_symlinks=False)) for entry in entries
                }
        finally:
            self._depth -= 1
            os.close(inner)

    def _read(self, folder: int, name: str, status: os.stat_result) -> StoredPiece:
        self._bytes += status.st_size
        if self._bytes > MAX_BYTES:
            raise TooMuchToRememberError
        file = open_file(folder, name, status)
        try:
            return self.store.add(file, status.st_size)
        finally:
            os.close(file)

    def _is_same(self, folder: int, name: str, status: os.stat_result, seen: Seen) -> bool:
        stamp = find_stamp(status)
        if seen.kind == "file" and stamp == seen.stamp and seen.is_sure:
            # A change of its rights would show, too.
            return True
        kind = find_kind(status)
        if kind != seen.kind or find_rights(status) != seen.rights:
            return False
        if kind == "file":
            return self._has(folder, name, status, seen)
        if kind == "link":
            return os.readlink(name, dir_fd=folder) == seen.target
        return self._is_same_inside(folder, name, seen) if kind == "folder" else stamp[:2] == seen.stamp[:2]

    def _is_same_inside(self, folder: int, name: str, seen: Seen) -> bool:
        inner = open_listed(folder, name)
        try:
            with os.scandir(inner) as entries:
                count = 0
                for entry in entries:
                    known = seen.entries.get(entry.name)
                    count += 1
                    if known is None or not self._is_same(inner, entry.name, entry.stat(follow_symlinks=False), known):
                        return False
            return count == len(seen.entries)
        finally:
            os.close(inner)

    def _has(self, folder: int, name: str, status: os.stat_result, seen: Seen) -> bool:
        if seen.content is None or status.st_size != seen.content.size:
            return False
        file = open_file(folder, name, status)
        try:
            return self.store.has(seen.content, file)
        finally:
            os.close(file)


def find_kind(status: os.stat_result) -> Kind:
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def find_stamp(status: os.stat_result) -> Stamp:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def find_rights(status: os.stat_result) -> Rights:
    return stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid
