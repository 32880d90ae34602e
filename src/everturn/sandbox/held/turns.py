"""Confined edits of sessions in one folder run one after the other. Otherwise one session could take the unrepaired changes of another for the person's."""

import asyncio
import fcntl
import os
from pathlib import PurePath

from everturn.core.errors import ToolFault
from everturn.ports.resources import Resources
from everturn.sandbox.closed_folders import is_closed

RESOURCE = "the working folders, for edits that nobody approved"
_MAX_WAIT_S = 10.0
_LOOK_S = 0.01
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
BUSY = "The command did not run: another session, or a command of it, has kept this folder for itself for ten seconds. Run it again."


class FolderTurns:
    """One per session. Edits of one session that overlap share its turn."""

    def __init__(self, resources: Resources | None = None) -> None:
        """`resources`: those of the session, which show people that the folders are locked."""
        self._process = os.getpid()
        self._resources = resources or Resources()
        self._locks: list[int] = []
        self._holders = 0

    async def take(self, folders: tuple[str, ...]) -> None:
        """Locks the folders exclusively, and the folders above them together with other sessions, so that a session there waits, too.

        Raises `ToolFault`, and `OSError` where a folder cannot be locked at all.
        """
        self._holders += 1
        try:
            async with asyncio.timeout(_MAX_WAIT_S):
                while not (self._locks or self._lock(folders)):  # noqa: ASYNC110 - the kernel announces nothing
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            self.leave()
            raise ToolFault(BUSY) from None
        except BaseException:
            self.leave()
            raise
        self._resources.put(RESOURCE, self._give_back)

    def leave(self) -> None:
        self._holders -= 1
        self._give_back()

    def _give_back(self) -> None:
        """Unlocks the folders when the last command has ended, one in the background included."""
        if not self._holders:
            self._unlock()
            self._resources.take_out(RESOURCE)

    def _lock(self, folders: tuple[str, ...]) -> bool:
        wanted = {str(above): fcntl.LOCK_SH for folder in folders for above in PurePath(folder).parents}
        wanted |= dict.fromkeys(folders, fcntl.LOCK_EX)
        if all(self._lock_one(path, kind) for path, kind in sorted(wanted.items())):
            return True
        self._unlock()
        return False

    def _lock_one(self, path: str, kind: int) -> bool:
        try:
            self._locks.append(os.open(path, _OPEN))
        except FileNotFoundError:
            return True
        except PermissionError:
            # In another's folder that we may not look into nobody of ours works. One of our own a command may have closed.
            return not is_closed(os.stat(path))  # noqa: PTH116 - paths as text
        try:
            fcntl.flock(self._locks[-1], kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(self) -> None:
        while self._locks:
            descriptor = self._locks.pop()
            # A copy of the program (`fork`) has the same lock: it must neither keep it nor let go of it.
            if self._process == os.getpid():
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)
