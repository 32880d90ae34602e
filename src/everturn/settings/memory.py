"""Memory files of a repository: text for the model, marked where nobody has trusted the folder."""

import os
from collections.abc import Iterator

from everturn.core.errors import ToolFault
from everturn.core.marks import one_line
from everturn.core.protected import MEMORY
from everturn.ports import unsettled
from everturn.ports.judged import Judged
from everturn.ports.trust import UNTRUSTED_MEMORY
from everturn.settings.places import Grounds
from everturn.workspace.opening import open_for_reading

NAMES = MEMORY
"""The first that is there: where both are, one mostly repeats the other."""
MOST_BYTES = 40_000
CUT = "\n[… the rest of this file is left out: read it where it matters]"
Stamp = tuple[int, int, int, int]
"""A file's number, its size, and when its content and when anything of it changed."""


class Memory:
    """Of the repository's root and the folders down to the working one. A file that has not changed is read once.

    While a confined command may write a file, it says what it said before that command.
    """

    def __init__(self, grounds: Grounds, *, trusted: bool) -> None:
        self._folders = _list_folders(grounds)
        self._trusted = trusted
        self._known: dict[str, tuple[Stamp, str]] = {}
        """Those that were there at the last look."""

    def load(self) -> str:
        """As it is now, as far as that can be vouched for. Empty where there is none; never raises."""
        found = [f"## {one_line(path)}\n{text}" for path, text in self._stream_files() if text.strip()]
        if not found:
            return ""
        return "\n\n".join(found if self._trusted else [UNTRUSTED_MEMORY, *found])

    def _stream_files(self) -> Iterator[tuple[str, str]]:
        for folder in self._folders:
            for name in NAMES:
                path = f"{folder.rstrip('/')}/{name}"
                if not unsettled.is_unsettled(path):
                    self._look(path)
                if path in self._known:
                    yield path, self._known[path][1]
                    break

    def _look(self, path: str) -> None:
        read = _read(path, self._known.pop(path, None))
        if read is not None:
            self._known[path] = read


def _list_folders(grounds: Grounds) -> list[str]:
    below = grounds.folder.removeprefix(grounds.root.rstrip("/"))
    if below == grounds.folder and grounds.root != "/":
        return [grounds.folder]
    parts = [part for part in below.split("/") if part]
    return ["/".join((grounds.root.rstrip("/"), *parts[:count])) for count in range(len(parts) + 1)]


def _read(path: str, known: tuple[Stamp, str] | None) -> tuple[Stamp, str] | None:
    """None where there is no regular file. No link is followed, on the way neither: it could lead to a key, which nobody means to send."""
    try:
        with open_for_reading(path, judged=Judged(target=path)) as file:
            status = file.status
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            if known is not None and known[0] == stamp:
                return known
            content = os.read(file.descriptor, MOST_BYTES + 1)
    except (OSError, ValueError, ToolFault):
        return None
    text = content[:MOST_BYTES].decode("utf-8-sig", errors="replace")
    return stamp, text + CUT if len(content) > MOST_BYTES else text
