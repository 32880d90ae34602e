"""Empty folders that stand where nothing may appear: what is mounted needs something to be mounted on."""

import asyncio
import errno
import fcntl
import os
import stat
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

LINGER_S = 0.05
"""The next command is often near. And right after a command its mounts are still being taken down, which would keep us."""
MODE = 0o1755
"""By the odd bit a placeholder is known, also that of another session, or of one that was killed."""
USUAL_MODE = 0o755
_TRIES = 50
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Placeholders:
    """One is removed a moment after the last command that needs it has ended, in whichever session that was.

    Always folders: removing one can never take anything away that somebody has put into it meanwhile. While a session
    needs one it holds a shared lock on it: to remove it would take the mount away from under a command.
    """

    def __init__(self) -> None:
        self._users: Counter[str] = Counter()
        self._locks: dict[str, int] = {}
        self._sweeping: asyncio.TimerHandle | None = None

    def put(self, paths: Iterable[str]) -> tuple[str, ...]:
        """All that stand now, and what somebody has made there meanwhile; to be given back to `remove`.

        Where we cannot make anything, the command cannot either.
        """
        put = []
        for path in paths:
            if path not in self._locks or not _is_same(self._locks[path], path):
                self._let_go(path)
                lock = _make(path)
                if lock is not None:
                    self._locks[path] = lock
                elif not os.path.lexists(path):
                    continue
            self._users[path] += 1
            put.append(path)
        return tuple(put)

    def remove(self, paths: Iterable[str]) -> None:
        """Soon."""
        self._users.subtract(paths)
        if self._sweeping is None:
            self._sweeping = asyncio.get_running_loop().call_later(LINGER_S, self.sweep)

    def sweep(self) -> None:
        """Removes those that nobody needs, now."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        for path in [path for path in self._locks if self._users[path] <= 0]:
            with suppress(OSError):
                # Another session that needs it has the lock, too, and will remove it.
                fcntl.flock(self._locks[path], fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_same(self._locks[path], path):
                    _remove(path, self._locks[path])
            self._let_go(path)

    def _let_go(self, path: str) -> None:
        if path in self._locks:
            os.close(self._locks.pop(path))


def is_placeholder(path: str, status: os.stat_result) -> bool:
    """There, but as good as missing."""
    if not stat.S_ISDIR(status.st_mode) or stat.S_IMODE(status.st_mode) != MODE:
        return False
    try:
        return not os.listdir(path)  # noqa: PTH208 - names are all we need
    except OSError:
        return False


def _remove(path: str, descriptor: int) -> None:
    """Raises `OSError`."""
    try:
        os.rmdir(path)  # noqa: PTH106 - paths as text
    except OSError as error:
        if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
            # Somebody has put something into it: now it is a folder like any other.
            os.fchmod(descriptor, USUAL_MODE)


def _make(path: str) -> int | None:
    """A descriptor with a shared lock; None where something else is there, or nothing can be."""
    for _ in range(_TRIES):
        try:
            if not _is_made(path):
                return None
            lock = os.open(path, _OPEN)
        except FileNotFoundError:
            continue
        except OSError:
            return None
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if _is_same(lock, path):
                return lock
        # Somebody is just removing it.
        os.close(lock)
    return None


def _is_made(path: str) -> bool:
    """By us, or by somebody like us. Raises `OSError`."""
    try:
        os.mkdir(path, MODE)  # noqa: PTH102 - paths as text
    except FileExistsError:
        return is_placeholder(path, os.lstat(path))
    # The umask has no say: the mode is how it is known.
    os.chmod(path, MODE)  # noqa: PTH101 - paths as text
    return True


def _is_same(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except OSError:
        return False
