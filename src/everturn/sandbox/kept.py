"""What nothing can be put over is looked at before and after a command, and put back where it changed."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from everturn.sandbox.placeholders import is_placeholder

MOST_FILES = 500
MOST_BYTES = 4_000_000


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    kind: Literal["none", "file", "folder", "link", "other"]
    mode: int = 0
    data: bytes = b""
    """A file's content, a link's target."""
    entries: tuple[tuple[str, "Seen"], ...] = ()


class Kept:
    """Holds in between: a command that still runs may have changed something that is not put back yet."""

    def __init__(self, paths: Iterable[str]) -> None:
        """What is too large to be remembered is left to other means."""
        self.aside = ""
        """Where that is which was there in their place. It stays: somebody else may have put it there."""
        self._files, self._bytes = 0, 0
        self._before = {path: self._look(path) for path in paths}

    def put_back(self) -> tuple[str, ...]:
        """The paths that had been changed."""
        changed = []
        for path, before in self._before.items():
            if before is None:
                continue
            self._files, self._bytes = 0, 0
            if self._look(path) != before:
                with suppress(OSError):
                    self._set_aside(path)
                    _restore(path, before)
                changed.append(path)
        return tuple(changed)

    def _look(self, path: str) -> Seen | None:
        """None: too much."""
        try:
            status = os.lstat(path)
        except OSError:
            return Seen(kind="none")
        if is_placeholder(path, status):
            return Seen(kind="none")
        self._files += 1
        mode = stat.S_IMODE(status.st_mode)
        if self._files > MOST_FILES:
            return None
        try:
            if stat.S_ISLNK(status.st_mode):
                return Seen(kind="link", data=os.fsencode(os.readlink(path)))  # noqa: PTH115 - paths as text
            if stat.S_ISREG(status.st_mode):
                self._bytes += status.st_size
                return Seen(kind="file", mode=mode, data=Path(path).read_bytes()) if self._bytes <= MOST_BYTES else None
            if stat.S_ISDIR(status.st_mode):
                return self._look_inside(path, mode)
        except OSError:
            return None
        return Seen(kind="other", mode=mode)

    def _set_aside(self, path: str) -> None:
        if os.path.lexists(path):
            self.aside = self.aside or tempfile.mkdtemp(prefix="everturn-held-back-")
            shutil.move(path, f"{self.aside}/{os.urandom(3).hex()}-{os.path.basename(path)}")  # noqa: PTH119 - as text

    def _look_inside(self, path: str, mode: int) -> Seen | None:
        entries = []
        for name in sorted(os.listdir(path)):  # noqa: PTH208 - names are all we need
            seen = self._look(f"{path}/{name}")
            if seen is None:
                return None
            entries.append((name, seen))
        return Seen(kind="folder", mode=mode, entries=tuple(entries))


def _restore(path: str, seen: Seen) -> None:
    match seen.kind:
        case "file":
            Path(path).write_bytes(seen.data)
            os.chmod(path, seen.mode)  # noqa: PTH101 - paths as text
        case "link":
            os.symlink(os.fsdecode(seen.data), path)  # noqa: PTH211 - paths as text
        case "folder":
            os.mkdir(path)  # noqa: PTH102 - paths as text
            for name, inner in seen.entries:
                _restore(f"{path}/{name}", inner)
            os.chmod(path, seen.mode)  # noqa: PTH101 - paths as text
        case _:
            pass
