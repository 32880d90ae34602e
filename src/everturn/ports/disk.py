"""The disk as a journal needs it: few operations, each of which may fail, so that a fake can let it fail."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

FOLDER_MODE = 0o700
FILE_MODE = 0o600


class Disk(Protocol):
    """Contract: each call is one operation of the system and raises the `OSError` that the system gives.

    A handle is a small number that is good until `close`. Files and folders are for their owner only.
    """

    def make_folder(self, path: Path) -> None:
        """Makes the folder with its parents. Where it exists, only its owner keeps access."""
        ...

    def open(self, path: Path, *, create: bool) -> int:
        """For reading and appending: wherever others wrote meanwhile, a write lands at the end. Follows no link."""
        ...

    def open_for_reading(self, path: Path) -> int:
        """Changes nothing, not even the rights."""
        ...

    def write(self, handle: int, data: bytes) -> int:
        """Writes at the end of the file. Returns the number of bytes written; a full disk may take only a part."""
        ...

    def rewrite(self, handle: int, data: bytes, at: int) -> None:
        """The same bytes over themselves, all of them: a flush that failed may have dropped them."""
        ...

    def pread(self, handle: int, size: int, at: int) -> bytes: ...

    def size(self, handle: int) -> int: ...

    def truncate(self, handle: int, size: int) -> None: ...

    def sync(self, handle: int) -> None:
        """Returns when the content would survive a power cut."""
        ...

    def sync_folder(self, path: Path) -> None:
        """Returns when the names in it would survive a power cut."""
        ...

    def lock(self, handle: int) -> bool:
        """False where another process holds it. Ends with `close`. Where the file system knows no locks, it is ours."""
        ...

    def narrow(self, handle: int) -> None:
        """Takes everybody else's rights away, if there are any."""
        ...

    def close(self, handle: int) -> None: ...

    def rename(self, source: Path, target: Path) -> None:
        """Renames in one step, and replaces the target where it exists."""
        ...

    def unlink(self, path: Path) -> None: ...

    def exists(self, path: Path) -> bool: ...

    def names(self, folder: Path) -> Iterable[str]:
        """What lies in it; nothing where there is no such folder."""
        ...
