"""Takes away what stands where it must not, without looking into it: it is moved, and stays. Somebody else may have put it there."""

import os
from contextlib import suppress

from everturn.sandbox.beneath import FOLDER, find_status, open_up

PREFIX = "everturn-held-back-"
_MAX_NAME = 40


class Aside:
    """One folder for what a command has left; it is made when it is needed."""

    def __init__(self) -> None:
        self.place = ""
        """In words."""
        self._folder = -1

    def take(self, folder: int, name: str) -> bool:
        """True: it was there, and is no longer. Raises `OSError` where it cannot be moved."""
        # First: in a folder that is closed nothing is found.
        open_up(folder)
        if find_status(folder, name) is None:
            return False
        new = f"{os.urandom(3).hex()}-{name[:_MAX_NAME]}"
        with suppress(OSError):
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=self._open())
            return True
        # Another file system, or a folder that we may not move elsewhere: then beside it, under a name that means nothing.
        new = f"{name[:_MAX_NAME]}.held-back-{os.urandom(3).hex()}"
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder)
        self.place = self.place or f"the same folder, as {new if new.isprintable() else ascii(new)}"
        return True

    def close(self) -> None:
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def _open(self) -> int:
        """Raises `OSError`."""
        if self._folder < 0:
            from tempfile import mkdtemp

            self.place = os.path.realpath(mkdtemp(prefix=PREFIX))
            self._folder = os.open(self.place, FOLDER)
        return self._folder
