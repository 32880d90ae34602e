"""The folder for temporary files of a session's commands: it goes with the session, or with the next one if that was killed."""

import fcntl
import os
import tempfile
from contextlib import suppress

from everturn.sandbox.beneath import LISTED, open_straight
from everturn.sandbox.removing import empty_folder, remove_tree

PREFIX = "everturn-sandbox-"
_MOST_SWEPT = 20


class Temporary:
    """A lock says that somebody is at it: process ids mean little where containers share a folder.

    The folder it is made in is held open: commands may write it, and put something else in its place.
    """

    def __init__(self, folder: str | None = None) -> None:
        """`folder`: where it is made; else where the system wants such."""
        self.path = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        outer, _, self._name = self.path.rpartition("/")
        self._folder = open_straight(outer)
        self._lock = os.open(self._name, LISTED, dir_fd=self._folder)
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        sweep(self._folder)

    def empty(self) -> None:
        """By the folder itself, whatever its name leads to by now. Raises `OSError`."""
        empty_folder(self._lock)

    def close(self) -> None:
        with suppress(OSError):
            # Nothing else that may have the name by now.
            if os.path.samestat(os.stat(self._name, dir_fd=self._folder, follow_symlinks=False), os.fstat(self._lock)):
                remove_tree(self._folder, self._name)
        os.close(self._lock)
        os.close(self._folder)


def sweep(folder: int) -> None:
    """Removes what killed sessions of this user have left in an open folder."""
    with suppress(OSError):
        listed = os.open(".", LISTED, dir_fd=folder)
        try:
            with os.scandir(listed) as entries:
                left = [
                    entry.name
                    for entry in entries
                    if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False)
                ]
        finally:
            os.close(listed)
        for name in left[:_MOST_SWEPT]:
            with suppress(OSError):
                _remove_unused(folder, name)


def _remove_unused(folder: int, name: str) -> None:
    """Raises `OSError` where it is used, or not ours."""
    lock = os.open(name, LISTED, dir_fd=folder)
    try:
        if os.fstat(lock).st_uid == os.geteuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(folder, name)
    finally:
        os.close(lock)
