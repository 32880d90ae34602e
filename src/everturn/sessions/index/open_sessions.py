"""Which session files are open in an engine at this moment. Takes no lock, so it keeps no engine from opening one."""

import fcntl
import os
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_LOCKS = Path("/proc/locks")
"""Linux lists every lock here: `1: FLOCK  ADVISORY  WRITE 4711 08:01:131200 0 EOF`."""
_FIELDS = 6
_QUESTION = "qqihh"
"""Of BSD and macOS, which have no such list: start, length, process, kind, whence."""


def find_opened(inodes: Mapping[str, int]) -> set[str]:
    """Of these paths, each with its inode."""
    try:
        locked = parse_locks(_LOCKS.read_text("ascii", "replace"))
    except OSError:
        return set() if os.uname().sysname == "Linux" else {path for path in inodes if _is_locked(path)}
    return {path for path, inode in inodes.items() if inode in locked and _is_held(path, locked[inode])}


def parse_locks(table: str) -> dict[int, list[int]]:
    """By inode, the processes that hold an exclusive lock on a whole file."""
    found: dict[int, list[int]] = {}
    for line in table.splitlines():
        fields = line.split()
        if len(fields) > _FIELDS and fields[1] == "FLOCK" and fields[3] == "WRITE":
            with suppress(ValueError):
                found.setdefault(int(fields[5].rpartition(":")[2]), []).append(int(fields[4]))
    return found


def _is_held(path: str, processes: list[int]) -> bool:
    """Another file system may have a file with this inode. Of a process that cannot be looked into, the lock is believed."""
    for process in processes:
        try:
            held = list(Path(f"/proc/{process}/fd").iterdir())
        except OSError:
            return True
        for handle in held:
            with suppress(OSError):
                if handle.samefile(path):
                    return True
    return False


def _is_locked(path: str) -> bool:
    """Asks, and takes nothing; on these systems both kinds of locks know each other."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        question = struct.pack(_QUESTION, 0, 0, 0, fcntl.F_WRLCK, os.SEEK_SET)
        answer = fcntl.fcntl(handle, fcntl.F_GETLK, question)
    except OSError:
        return False
    finally:
        os.close(handle)
    return bool(struct.unpack(_QUESTION, answer)[3] != fcntl.F_UNLCK)
