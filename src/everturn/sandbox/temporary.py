"""The folder for temporary files of a session's commands: it goes with the session, or with the next one if that was killed."""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress

PREFIX = "everturn-sandbox-"
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_SWEPT = 20


class Temporary:
    """A lock says that somebody is at it: process ids mean little where containers share a folder."""

    def __init__(self, folder: str | None = None) -> None:
        """`folder`: where it is made; else where the system wants such."""
        self.path = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        self._lock = os.open(self.path, _OPEN)
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        sweep(os.path.dirname(self.path))  # noqa: PTH120 - paths as text

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def sweep(folder: str) -> None:
    """Removes what killed sessions of this user have left."""
    with suppress(OSError), os.scandir(folder) as entries:
        left = [entry for entry in entries if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False)]
        for entry in left[:_MOST_SWEPT]:
            with suppress(OSError):
                _remove_unused(entry.path)


def _remove_unused(path: str) -> None:
    """Raises `OSError` where it is used, or not ours."""
    lock = os.open(path, _OPEN)
    try:
        if os.fstat(lock).st_uid == os.geteuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
