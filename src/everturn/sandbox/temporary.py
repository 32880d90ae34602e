"""The folder for temporary files of a session's commands: it goes with the session, or with the next one if that was killed."""

import fcntl
import os
import tempfile
import threading
import weakref
from collections.abc import Iterable
from contextlib import ExitStack, suppress

from everturn.sandbox.beneath import LISTED, open_straight
from everturn.sandbox.remove import remove_tree
from everturn.sandbox.session_scratch import SCRATCH_PREFIX
from everturn.workspace.paths import is_inside

PREFIX = "everturn-sandbox-"
_SWEPT = (PREFIX, SCRATCH_PREFIX)
_PLACES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - each folder in them is made by `mkdtemp`
_MAX_SWEPT = 200
"""Folders that one session removes for others."""


def list_places(folders: Iterable[str], temporary: str = "") -> list[str]:
    """Where such a folder may be made, the best first: never in a folder that is worked in. Real paths.

    `temporary`: the best place, where the process's own is not meant.
    """
    places = dict.fromkeys(map(os.path.realpath, (temporary or tempfile.gettempdir(), *_PLACES)))
    return [place for place in places if not any(is_inside(folder, place) for folder in folders)]


def make_outside(folders: Iterable[str], temporary: str = "", *, sweeps: bool = False) -> "Temporary":
    """In the best of these places; where there is none, where the system wants it. Raises `OSError`."""
    return Temporary(next(iter(list_places(folders, temporary)), None), sweeps=sweeps)


class Temporary:
    """A lock says that somebody is at it: process ids mean little where containers share a folder.

    The folder it is made in is held open: commands may write it, and put something else in its place.
    """

    def __init__(
        self, folder: str | None = None, *, sweeps: bool = True, prefix: str = PREFIX, wanted: str = ""
    ) -> None:
        """`folder`: where it is made; else where the system wants such. `sweeps`: what others have left there goes, too.

        `prefix`: how its name begins. `wanted`: the path that it gets if nobody else is there, a real one. Raises `OSError`.
        """
        while not self._make(folder, prefix, wanted):
            # Somebody who sweeps came before the lock, and has taken it for one that was left.
            pass
        # Whoever forgets to close it leaves neither descriptors nor a folder.
        self._end = weakref.finalize(self, _let_go, os.getpid(), self._folder, self._name, self._lock)
        self.sweeping = sweep_behind(self._folder) if sweeps else None
        """The thread that does it."""

    def _make(self, folder: str | None, prefix: str, wanted: str) -> bool:
        self.path = (
            wanted if wanted and _take(wanted) else os.path.realpath(tempfile.mkdtemp(prefix=prefix, dir=folder))
        )
        outer, _, self._name = self.path.rpartition("/")
        with ExitStack() as failed:
            failed.callback(_remove_empty, self.path)
            self._folder = open_straight(outer)
            failed.callback(os.close, self._folder)
            try:
                self._lock = os.open(self._name, LISTED, dir_fd=self._folder)
            except FileNotFoundError:
                return False
            failed.callback(os.close, self._lock)
            fcntl.flock(self._lock, fcntl.LOCK_SH)
            if self.is_there:
                failed.pop_all()
                return True
        return False

    @property
    def is_there(self) -> bool:
        """Nothing else has its name."""
        return _is_there(self._folder, self._name, self._lock)

    def is_in(self, folders: Iterable[str]) -> bool:
        return any(is_inside(folder, self.path) for folder in folders)

    @property
    def is_empty(self) -> bool:
        with suppress(OSError), os.scandir(self._lock) as entries:
            return next(entries, None) is None
        return False

    def close(self) -> None:
        self._end()

    def close_behind(self) -> threading.Thread:
        """In a thread: there may be much in it."""
        # The end of the program waits for it.
        thread = threading.Thread(target=self.close, name="everturn-removing", daemon=False)
        thread.start()
        return thread


def _let_go(maker: int, folder: int, name: str, lock: int) -> None:
    """Removes it, unless we are a copy (`fork`) of the process that has made it."""
    if maker == os.getpid():
        with suppress(OSError):
            if _is_there(folder, name, lock):
                remove_tree(folder, name)
    os.close(lock)
    os.close(folder)


def _is_there(folder: int, name: str, lock: int) -> bool:
    """Nothing else has its name."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(status, os.fstat(lock))


def _take(path: str) -> bool:
    """Makes a folder of this name; what a killed session of this user has left there goes first."""
    outer, _, name = path.rpartition("/")
    for _ in range(2):
        try:
            os.mkdir(path, 0o700)  # noqa: PTH102 - paths as text
        except FileExistsError:
            with suppress(OSError):
                folder = open_straight(outer)
                try:
                    _remove_unused(folder, name)
                finally:
                    os.close(folder)
        except OSError:
            return False
        else:
            return True
    return False


def _remove_empty(path: str) -> None:
    with suppress(OSError):
        os.rmdir(path)  # noqa: PTH106 - paths as text


def sweep_behind(folder: int) -> threading.Thread:
    """In a thread, which closes its own descriptor of the folder."""
    thread = threading.Thread(target=_sweep, args=(os.dup(folder),), name="everturn-sweeping", daemon=True)
    thread.start()
    return thread


def _sweep(folder: int) -> None:
    """Removes what killed sessions of this user have left in an open folder."""
    try:
        left = _MAX_SWEPT
        for name in _list_left(folder):
            with suppress(OSError):
                left -= _remove_unused(folder, name)
            if not left:
                break
    finally:
        os.close(folder)


def _list_left(folder: int) -> list[str]:
    with suppress(OSError):
        listed = os.open(".", LISTED, dir_fd=folder)
        try:
            with os.scandir(listed) as entries:
                return [
                    entry.name
                    for entry in entries
                    if entry.name.startswith(_SWEPT) and entry.is_dir(follow_symlinks=False)
                ]
        finally:
            os.close(listed)
    return []


def _remove_unused(folder: int, name: str) -> bool:
    """False where it is not ours. Raises `OSError` where it is used."""
    lock = os.open(name, LISTED, dir_fd=folder)
    try:
        if os.fstat(lock).st_uid != os.geteuid():
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return remove_tree(folder, name)
    finally:
        os.close(lock)
