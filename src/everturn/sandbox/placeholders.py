"""Empty folders that stand where nothing may appear: what is mounted needs something to be mounted on."""

import asyncio
import errno
import fcntl
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from everturn.sandbox.beneath import FOLDER, LISTED, find_status, open_straight, opened_up

LINGER_S = 0.05
"""The next command is often near. And right after a command its mounts are still being taken down, which would keep us."""
MODE = 0o1755
"""By the odd bit a placeholder is known, also that of another session, or of one that was killed."""
USUAL_MODE = 0o755
_TRIES = 50


class Placeholders:
    """One is removed a moment after the last command that needs it has ended, in whichever session that was.

    Always folders: removing one can never take anything away that somebody has put into it meanwhile. While a session
    needs one it holds a shared lock on it: to remove it would take the mount away from under a command.
    """

    def __init__(self) -> None:
        self._users: Counter[str] = Counter()
        self._standing: dict[str, Placeholder] = {}
        self._sweeping: asyncio.TimerHandle | None = None

    def put(self, paths: Iterable[str]) -> tuple[str, ...]:
        """All that stand now, and what somebody has made there meanwhile; to be given back to `remove`.

        Where we cannot make anything, although the folder's owner would open it for that, the command cannot either, unless it finds room first.
        """
        put = []
        for path in paths:
            if path not in self._standing or not self._standing[path].is_there():
                self._let_go(path)
                standing = _make(path)
                if standing is not None:
                    self._standing[path] = standing
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
        for path in [path for path in self._standing if self._users[path] <= 0]:
            with suppress(OSError):
                # Another session that needs it has the lock, too, and will remove it.
                fcntl.flock(self._standing[path].descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._standing[path].remove()
            self._let_go(path)

    def _let_go(self, path: str) -> None:
        if path in self._standing:
            self._standing.pop(path).close()


class Placeholder(msgspec.Struct, frozen=True, kw_only=True):
    """One placeholder, and the folder it was made in, both held open: no name leads us elsewhere when it is removed."""

    folder: int
    name: str
    descriptor: int

    def is_there(self) -> bool:
        try:
            status = find_status(self.folder, self.name)
        except OSError:
            return False
        return status is not None and os.path.samestat(os.fstat(self.descriptor), status)

    def remove(self) -> None:
        """Raises `OSError`."""
        if not self.is_there():
            return
        try:
            with opened_up(self.folder):
                os.rmdir(self.name, dir_fd=self.folder)
        except OSError as error:
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
                # Somebody has put something into it: now it is a folder like any other.
                os.fchmod(self.descriptor, USUAL_MODE)

    def close(self) -> None:
        os.close(self.descriptor)
        os.close(self.folder)


def explain_placeholders(output: str, paths: Iterable[str]) -> tuple[str, ...]:
    """For the model, where a command has shown one: what is not there must not pass for something of the project's."""
    names = sorted({path.rpartition("/")[2] for path in paths})
    shown = [name for name in names if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", output)]
    if not shown:
        return ()
    return (
        f"{', '.join(shown)} does not exist: an empty folder takes its place while a command runs, so that nothing can be created there.",
    )


def is_placeholder(folder: int, name: str, status: os.stat_result) -> bool:
    """There, but as good as missing."""
    if not stat.S_ISDIR(status.st_mode) or stat.S_IMODE(status.st_mode) != MODE:
        return False
    try:
        descriptor = os.open(name, LISTED, dir_fd=folder)
    except OSError:
        return False
    try:
        return not os.listdir(descriptor)  # noqa: PTH208 - a descriptor
    finally:
        os.close(descriptor)


def has_placeholder(path: str) -> bool:
    """By its path, for those who only want to know."""
    outer, _, name = path.rpartition("/")
    try:
        if stat.S_IMODE(os.lstat(path).st_mode) != MODE:
            # Nearly all are told at once.
            return False
        folder = os.open(outer or "/", FOLDER)
    except OSError:
        return False
    try:
        status = find_status(folder, name)
        return status is not None and is_placeholder(folder, name, status)
    finally:
        os.close(folder)


def _make(path: str) -> Placeholder | None:
    """With a shared lock; None where something else is there, or nothing can be."""
    outer, _, name = path.rpartition("/")
    try:
        folder = open_straight(outer)
    except OSError:
        return None
    for _ in range(_TRIES):
        try:
            descriptor = _open_made(folder, name)
        except FileNotFoundError:
            continue
        except OSError:
            break
        if descriptor is None:
            break
        standing = Placeholder(folder=folder, name=name, descriptor=descriptor)
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if standing.is_there():
                return standing
        # Somebody is just removing it.
        os.close(descriptor)
    os.close(folder)
    return None


def _open_made(folder: int, name: str) -> int | None:
    """By us, or by somebody like us; None where it is something else. Raises `OSError`."""
    try:
        # A command could open a folder that is read-only, too.
        with opened_up(folder):
            os.mkdir(name, MODE, dir_fd=folder)
        is_ours = True
    except FileExistsError:
        is_ours = False
        status = find_status(folder, name)
        if status is not None and not is_placeholder(folder, name, status):
            return None
    descriptor = os.open(name, LISTED, dir_fd=folder)
    try:
        # The umask has no say: the mode is how it is known. What somebody has put here since is left as it is.
        if is_ours and not os.listdir(descriptor):  # noqa: PTH208 - a descriptor
            os.fchmod(descriptor, MODE)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
