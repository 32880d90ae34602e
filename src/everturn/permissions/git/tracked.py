"""Whether git's index contains a file or a folder, by its name alone. A wrong answer costs only a question."""

import os
from posixpath import join, relpath

from everturn.core.git_config import UnclearError
from everturn.permissions.git.discovery import find_repositories
from everturn.permissions.git.plain_files import read_plain

_MAX_INDEX = 64 * 1024 * 1024
_LENGTH = 0x0FFF
"""Of the flags before a name: how long it is, or this."""


class TrackedNames:
    """Of the repository around a folder. An index that is written otherwise (version 4, split, sparse) seems to be empty."""

    def __init__(self, folder: str) -> None:
        self.tree, self._data = "", b""
        """Where its files are."""
        try:
            repository = next(find_repositories(os.path.realpath(folder)), None)
            if repository is not None:
                self.tree = os.path.realpath(repository.tree)
                self._data = read_plain(join(repository.git, "index"), _MAX_INDEX) or b""
        except (UnclearError, OSError, ValueError, RuntimeError):
            self._data = b""

    def has(self, path: str) -> bool:
        """The file, or something in the folder."""
        if not self._data or not path.startswith(f"{self.tree}/"):
            return False
        name = os.fsencode(relpath(path, self.tree))
        return any(self._is_entry(name + end) for end in (b"\0", b"/"))

    def _is_entry(self, start: bytes) -> bool:
        at = self._data.find(start)
        while at >= 0:
            end = self._data.find(b"\0", at)
            if end >= 0 and int.from_bytes(self._data[at - 2 : at]) & _LENGTH == min(end - at, _LENGTH):
                return True
            at = self._data.find(start, at + 1)
        return False
