"""How far a file was read, and whether it has merely grown since: then reading goes on where it was left."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from everturn.ports.disk import Disk
from everturn.sessions.line_reader import read_lines
from everturn.sessions.places import SUFFIX, is_session_id

_TAIL = 256
"""Bytes before the place where reading stopped, by which it is known again."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    inode: int
    size: int
    written: int
    """In nanoseconds since 1970."""


class ReadPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where reading stopped: behind the last whole line."""

    offset: int = 0
    tail: bytes = b""


def load_marks(home: Path) -> dict[str, Mark]:
    """Every session file as it looks now, by its path from `home` on: one look at each, and none inside."""
    found: dict[str, Mark] = {}
    for folder in (*_list_folders(home, "projects"), "sessions"):
        # A folder that cannot be read holds nothing for us.
        with suppress(OSError), os.scandir(home / folder) as entries:
            for entry in entries:
                if _is_session(entry):
                    state = entry.stat(follow_symlinks=False)
                    found[f"{folder}/{entry.name}"] = Mark(
                        inode=state.st_ino, size=state.st_size, written=state.st_mtime_ns
                    )
    return found


def load_place(disk: Disk, handle: int, offset: int) -> ReadPlace:
    """Raises `OSError`."""
    before = disk.pread(handle, min(_TAIL, offset), max(offset - _TAIL, 0))
    return ReadPlace(offset=offset, tail=hashlib.blake2b(before, digest_size=16).digest())


def has_grown(disk: Disk, handle: int, place: ReadPlace) -> bool:
    """What was read is still there, as far as its end tells. Raises `OSError`."""
    return place.offset <= disk.size(handle) and load_place(disk, handle, place.offset) == place


def read_whole_lines(disk: Disk, handle: int, start: int) -> Iterator[tuple[int, bytes]]:
    """Each with the offset of its end. A last line that is not ended yet is left for the next time. Raises `OSError`."""
    for begin, line in read_lines(disk, handle, start=start):
        if line.endswith(b"\n"):
            yield begin + len(line), line


def _list_folders(home: Path, parent: str) -> list[str]:
    """Those whose names are text: we make no others."""
    try:
        with os.scandir(home / parent) as entries:
            return [f"{parent}/{entry.name}" for entry in entries if entry.name.isprintable() and entry.is_dir()]
    except OSError:
        return []


def _is_session(entry: os.DirEntry[str]) -> bool:
    if not entry.name.endswith(SUFFIX) or not is_session_id(entry.name.removesuffix(SUFFIX)):
        return False
    return entry.is_file(follow_symlinks=False)
