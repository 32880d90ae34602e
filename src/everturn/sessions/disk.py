"""The disk of this machine: each operation of the port as one or two system calls."""

import errno
import fcntl
import os
import stat
from pathlib import Path

from everturn.ports.disk import FILE_MODE, FOLDER_MODE

_flush_content = getattr(os, "fdatasync", os.fsync)
"""macOS has no fdatasync."""
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP})


class LocalDisk:
    """Implements `ports.disk.Disk` with system calls. It has no state, so one serves every journal."""

    def make_folder(self, path: Path) -> None:
        missing = [path]
        while not missing[-1].exists() and missing[-1].parent != missing[-1]:
            missing.append(missing[-1].parent)
        for folder in reversed(missing):
            folder.mkdir(FOLDER_MODE, exist_ok=True)
        if stat.S_IMODE(path.stat().st_mode) & ~FOLDER_MODE:
            path.chmod(FOLDER_MODE)

    def open(self, path: Path, *, create: bool) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
        return _regular(os.open(path, flags, FILE_MODE))

    def open_for_reading(self, path: Path) -> int:
        return _regular(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK))

    def write(self, handle: int, data: bytes) -> int:
        return os.write(handle, data)

    def rewrite(self, handle: int, data: bytes, at: int) -> None:
        # Linux appends to a file that is open for appending, whatever the offset says.
        flags = fcntl.fcntl(handle, fcntl.F_GETFL)
        fcntl.fcntl(handle, fcntl.F_SETFL, flags & ~os.O_APPEND)
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(handle, data[written:], at + written)
        finally:
            fcntl.fcntl(handle, fcntl.F_SETFL, flags)

    def pread(self, handle: int, size: int, at: int) -> bytes:
        return os.pread(handle, size, at)

    def size(self, handle: int) -> int:
        return os.fstat(handle).st_size

    def truncate(self, handle: int, size: int) -> None:
        os.ftruncate(handle, size)

    def sync(self, handle: int) -> None:
        _flush_content(handle)

    def sync_folder(self, path: Path) -> None:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def lock(self, handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            # Some network file systems have no locks; the session is opened without one.
            if error.errno not in _NO_LOCKS:
                raise
        return True

    def narrow(self, handle: int) -> None:
        if stat.S_IMODE(os.fstat(handle).st_mode) & ~FILE_MODE:
            os.fchmod(handle, FILE_MODE)

    def close(self, handle: int) -> None:
        os.close(handle)

    def rename(self, source: Path, target: Path) -> None:
        source.replace(target)

    def unlink(self, path: Path) -> None:
        path.unlink()

    def exists(self, path: Path) -> bool:
        return path.exists()

    def names(self, folder: Path) -> list[str]:
        try:
            return [path.name for path in folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return []


def _regular(handle: int) -> int:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "Not a regular file")
    return handle
