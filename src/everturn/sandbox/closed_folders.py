"""Opens folders that their owner cannot read while Everturn looks into them, and closes them again."""

import os
import stat
from contextlib import suppress

import msgspec

from everturn.sandbox.beneath import FOLDER, OWN, open_beneath, set_mode

_LOOKED_INTO = 0o500


class OpenedFolder(msgspec.Struct, frozen=True):
    top: int
    path: str
    mode: int
    identity: tuple[int, int]


class FolderOpener:
    """Used by one look. A command may close what it has made, to hide it from us; it may also be the person's to be closed."""

    def __init__(self) -> None:
        self._opened: list[OpenedFolder] = []

    def open(self, top: int, path: str) -> int:
        """As `open_beneath`, and whatever is closed on the way and at its end is opened. Raises `OSError`."""
        folder = os.dup(top)
        done = ""
        try:
            self._open_folder(folder, top, done)
            for name in filter(None, path.split("/")):
                inner = os.open(name, FOLDER, dir_fd=folder)
                os.close(folder)
                folder, done = inner, f"{done}/{name}"
                self._open_folder(folder, top, done)
        except BaseException:
            os.close(folder)
            raise
        return folder

    def close(self) -> None:
        """What lies deeper comes first: what is above it must still be open."""
        while self._opened:
            loan = self._opened.pop()
            with suppress(OSError):
                folder = open_beneath(loan.top, loan.path)
                try:
                    status = os.fstat(folder)
                    if (status.st_dev, status.st_ino) == loan.identity:
                        set_mode(folder, loan.mode)
                finally:
                    os.close(folder)

    def _open_folder(self, folder: int, top: int, path: str) -> None:
        status = os.fstat(folder)
        if is_closed(status):
            mode = stat.S_IMODE(status.st_mode)
            set_mode(folder, mode | OWN)
            self._opened.append(OpenedFolder(top, path, mode, (status.st_dev, status.st_ino)))


def is_closed(status: os.stat_result) -> bool:
    """A folder that its owner cannot list or enter, where that is us. Root can."""
    user = os.geteuid()
    return status.st_mode & _LOOKED_INTO != _LOOKED_INTO and user != 0 and status.st_uid == user
