"""How much room a held command takes: in temporary files, named or only held open, and in memory, all its processes together."""

import os
from collections.abc import Iterable
from contextlib import suppress

from everturn.ports.holding import Bounds

_BLOCK = 512
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MIB = 1024**2
_TRIFLE = 32
"""Less than this part of a bound is not worth a look."""
SHARED = "/dev/shm"  # noqa: S108 - in a view, of its own
"""Where processes share memory by name."""


class HeldRoom:
    """`ports.sandbox.Room`: temporary files lie in a folder that other held commands share."""

    def __init__(self, folder: str, bounds: Bounds) -> None:
        self._folder, self._bounds = folder, bounds
        self._taken = self._count = 0
        self._free, self._numbers = _find_free(folder)

    def has_grown(self) -> bool:
        free, numbers = _find_free(self._folder)
        bounds = self._bounds
        return self._free - free > _plan_growth(bounds.temporary, self._taken) or (
            self._numbers - numbers > _plan_growth(bounds.temporary_files, self._count)
        )

    def find_excess(self, processes: Iterable[int]) -> str:
        processes, bounds = tuple(processes), self._bounds
        if sum(map(_measure_memory, processes)) > bounds.memory_together:
            return f"took more than {bounds.memory_together // _MIB:,} MiB of memory in all its processes"
        self._free, self._numbers = _find_free(self._folder)
        self._taken, self._count = self._measure(processes)
        if self._count > bounds.temporary_files:
            return f"made more than {bounds.temporary_files:,} temporary files"
        if self._taken > bounds.temporary:
            return f"filled more than {bounds.temporary // _MIB:,} MiB with temporary files"
        return ""

    def _measure(self, processes: tuple[int, ...]) -> tuple[int, int]:
        """Bytes, and entries."""
        taken, count = _measure(self._folder, self._bounds.temporary_files)
        return taken + sum(_measure_unnamed(pid, self._folder) for pid in processes), count


class ViewedRoom(HeldRoom):
    """In a view, temporary files lie in memory. Bubblewrap bounds them itself, or the view is looked at from outside.

    Memory that is taken so is missing in the machine, which whoever looks at processes notices.
    """

    def __init__(self, folder: str, bounds: Bounds, *, is_bound: bool) -> None:
        """`is_bound`: by bubblewrap."""
        super().__init__(folder, bounds)
        self._is_bound = is_bound

    def has_grown(self) -> bool:
        return False

    def _measure(self, processes: tuple[int, ...]) -> tuple[int, int]:
        if self._is_bound:
            return 0, 0
        # One process is enough: all of a command see the same.
        return max((_measure_view(pid, self._folder) for pid in processes), default=(0, 0))


def _plan_growth(most: int, taken: int) -> int:
    """How much may be written, by anybody, before it is looked at again: half of what is left, but no trifle."""
    return max((most - taken) // 2, most // _TRIFLE)


def _find_free(folder: str) -> tuple[int, int]:
    """Bytes and entries that the file system has left. Some do not count entries."""
    try:
        status = os.statvfs(folder)
    except OSError:
        return 0, 0
    return status.f_bfree * status.f_frsize, status.f_ffree


def _measure(folder: str, most: int) -> tuple[int, int]:
    """Bytes, and entries."""
    taken = count = 0
    waiting = [folder]
    while waiting and count <= most:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                with suppress(OSError):
                    taken += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return taken, count


def _measure_memory(pid: int) -> int:
    """What it does not share with others, nearly: a read of few bytes."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/statm", "rb", buffering=0) as file:  # noqa: PTH123 - half the time
        _, resident, shared, *_ = file.read().split()
        return (int(resident) - int(shared)) * _PAGE
    return 0


def _measure_unnamed(pid: int, folder: str) -> int:
    """Of files that were removed while a process has them open."""
    taken = 0
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - names are all we need
            path = f"/proc/{pid}/fd/{name}"
            with suppress(OSError):
                if os.readlink(path).startswith(f"{folder}/"):  # noqa: PTH115 - paths as text
                    status = os.stat(path)  # noqa: PTH116 - paths as text
                    taken += 0 if status.st_nlink else status.st_blocks * _BLOCK
    return taken


def _measure_view(pid: int, folder: str) -> tuple[int, int]:
    """Bytes and entries in the memory that a view has for temporary files, those without a name included."""
    taken = count = 0
    for place in (folder, SHARED):
        with suppress(OSError):
            inside = f"/proc/{pid}/root{place}"
            # Bubblewrap itself, which waits outside, sees what we see.
            if os.stat(inside).st_dev != os.stat(place).st_dev:  # noqa: PTH116 - paths as text
                status = os.statvfs(inside)
                taken += (status.f_blocks - status.f_bfree) * status.f_frsize
                count += status.f_files - status.f_ffree
    return taken, count
