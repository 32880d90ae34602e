"""Disks that a test owns: one in memory, and one that fails, shortens, delays or kills at the n-th operation."""

import errno
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import msgspec

from everturn.ports.disk import Disk

Effect = Literal["fail", "shorten", "delay", "kill"]
CHANGES = frozenset({"make_folder", "open", "write", "rewrite", "truncate", "sync", "sync_folder", "rename", "unlink"})
"""Operations that leave something behind; reading is not one of them."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Strikes at the `nth` of these operations, counted from one, and at the `times - 1` that follow it."""

    nth: int
    effect: Effect = "fail"
    operations: frozenset[str] = CHANGES
    times: float = 1
    """`math.inf` = until `FaultyDisk.mend`."""
    error: int = errno.EIO
    """What a failing one raises; a shortened write raises it when the rest is tried."""
    delay_s: float = 0.0


class FaultyDisk:
    """Passes everything on to `disk` and lets the faults strike. `performed` lists the operations that were asked for.

    `kill` ends the process as SIGKILL does, before the operation happens; give another function to see it coming.
    """

    def __init__(
        self,
        disk: Disk,
        *faults: Fault,
        kill: Callable[[], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.performed: list[str] = []
        self._disk = disk
        self._faults = [_Counted(fault) for fault in faults]
        self._kill = kill or kill_myself
        self._sleep = sleep

    def mend(self) -> None:
        """From now on nothing strikes: space has returned."""
        self._faults = []

    def make_folder(self, path: Path) -> None:
        self._strike("make_folder")
        self._disk.make_folder(path)

    def open(self, path: Path, *, create: bool) -> int:
        self._strike("open")
        return self._disk.open(path, create=create)

    def open_for_reading(self, path: Path) -> int:
        self._strike("open_for_reading")
        return self._disk.open_for_reading(path)

    def write(self, handle: int, data: bytes) -> int:
        if self._strike("write") and len(data) > 1:
            return self._disk.write(handle, data[: len(data) // 2])
        return self._disk.write(handle, data)

    def rewrite(self, handle: int, data: bytes, at: int) -> None:
        self._strike("rewrite")
        self._disk.rewrite(handle, data, at)

    def pread(self, handle: int, size: int, at: int) -> bytes:
        self._strike("pread")
        return self._disk.pread(handle, size, at)

    def size(self, handle: int) -> int:
        self._strike("size")
        return self._disk.size(handle)

    def truncate(self, handle: int, size: int) -> None:
        self._strike("truncate")
        self._disk.truncate(handle, size)

    def sync(self, handle: int) -> None:
        self._strike("sync")
        self._disk.sync(handle)

    def sync_folder(self, path: Path) -> None:
        self._strike("sync_folder")
        self._disk.sync_folder(path)

    def lock(self, handle: int) -> bool:
        self._strike("lock")
        return self._disk.lock(handle)

    def narrow(self, handle: int) -> None:
        self._strike("narrow")
        self._disk.narrow(handle)

    def close(self, handle: int) -> None:
        self._strike("close")
        self._disk.close(handle)

    def rename(self, source: Path, target: Path) -> None:
        self._strike("rename")
        self._disk.rename(source, target)

    def unlink(self, path: Path) -> None:
        self._strike("unlink")
        self._disk.unlink(path)

    def exists(self, path: Path) -> bool:
        self._strike("exists")
        return self._disk.exists(path)

    def names(self, folder: Path) -> Iterable[str]:
        self._strike("names")
        return self._disk.names(folder)

    def _strike(self, operation: str) -> bool:
        """Whether the operation is to be shortened."""
        self.performed.append(operation)
        for counted in tuple(self._faults):
            fault = counted.fault
            if not counted.strikes(operation):
                continue
            match fault.effect:
                case "fail":
                    raise OSError(fault.error, os.strerror(fault.error))
                case "delay":
                    self._sleep(fault.delay_s)
                case "kill":
                    self._kill()
                case "shorten" if operation == "write":
                    # What a full disk does: a part is taken, then nothing.
                    self._faults.append(_Counted(Fault(nth=1, operations=frozenset({"write"}), error=fault.error)))
                    return True
        return False


class _Counted:
    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self._met = 0

    def strikes(self, operation: str) -> bool:
        if operation not in self.fault.operations:
            return False
        self._met += 1
        return self.fault.nth <= self._met < self.fault.nth + self.fault.times


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class MemoryDisk:
    """Files as byte arrays. Folders are made, never listed by themselves; links do not exist."""

    def __init__(self) -> None:
        self.files: dict[Path, bytearray] = {}
        self.folders: set[Path] = set()
        self._open: dict[int, tuple[Path, bytearray]] = {}
        self._locked: dict[int, bytearray] = {}
        self._next = 3

    def make_folder(self, path: Path) -> None:
        if path in self.files:
            raise _error(errno.EEXIST)
        if any(parent in self.files for parent in path.parents):
            raise _error(errno.ENOTDIR)
        self.folders.update((path, *path.parents))

    def open(self, path: Path, *, create: bool) -> int:
        if path in self.folders:
            raise _error(errno.EISDIR)
        if path not in self.files and not (create and path.parent in self.folders):
            raise _error(errno.ENOENT)
        return self._hand_out(path, self.files.setdefault(path, bytearray()))

    def open_for_reading(self, path: Path) -> int:
        return self.open(path, create=False)

    def write(self, handle: int, data: bytes) -> int:
        self._content(handle).extend(data)
        return len(data)

    def rewrite(self, handle: int, data: bytes, at: int) -> None:
        self._content(handle)[at : at + len(data)] = data

    def pread(self, handle: int, size: int, at: int) -> bytes:
        return bytes(self._content(handle)[at : at + size])

    def size(self, handle: int) -> int:
        return len(self._content(handle))

    def truncate(self, handle: int, size: int) -> None:
        content = self._content(handle)
        content.extend(bytes(max(0, size - len(content))))
        del content[size:]

    def sync(self, handle: int) -> None:
        self._content(handle)

    def sync_folder(self, path: Path) -> None:
        if path not in self.folders:
            raise _error(errno.ENOENT)

    def lock(self, handle: int) -> bool:
        content = self._content(handle)
        if any(held is content for other, held in self._locked.items() if other != handle):
            return False
        self._locked[handle] = content
        return True

    def narrow(self, handle: int) -> None:
        self._content(handle)

    def close(self, handle: int) -> None:
        self._content(handle)
        del self._open[handle]
        self._locked.pop(handle, None)

    def rename(self, source: Path, target: Path) -> None:
        if source not in self.files:
            raise _error(errno.ENOENT)
        self.files[target] = self.files.pop(source)

    def unlink(self, path: Path) -> None:
        if self.files.pop(path, None) is None:
            raise _error(errno.ENOENT)

    def exists(self, path: Path) -> bool:
        return path in self.files or path in self.folders

    def names(self, folder: Path) -> list[str]:
        return [path.name for path in (*self.files, *self.folders) if path.parent == folder and path != folder]

    def _hand_out(self, path: Path, content: bytearray) -> int:
        self._next += 1
        self._open[self._next] = (path, content)
        return self._next

    def _content(self, handle: int) -> bytearray:
        if handle not in self._open:
            raise _error(errno.EBADF)
        return self._open[handle][1]


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
