"""Limits of a confined command: temporary files, named or only open, and the memory of all its processes."""

import errno
import os
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from everturn.ports.holding import Bounds

_BLOCK, _KIB = 512, 1024
_MIB = 1024**2
_TRIFLE = 32
"""Less than this part of a bound is not worth a look."""
_SOCKET = 256 * _KIB
"""What one of a pair may hold that nobody has read yet: a command cannot make that more."""
_OF_MEMORY = (b"RssAnon", b"VmSwap", b"VmPTE")
"""What a process keeps in memory that is its own, also where it was put aside, and what the kernel needs to know where that is."""
_NAMELESS = "/dev/zero"
"""Shared memory without a name is mapped under this one, removed."""
_REMOVED = " (deleted)"
_UNCOUNTED = "kept files or memory where they cannot be counted"
SHARED = "/dev/shm"  # noqa: S108 - in a view, of its own
"""Where processes share memory by name."""


class UncountableError(Exception):
    """Some of what a command has taken cannot be seen from outside."""


class Unnamed(msgspec.Struct):
    """What processes keep that has no name in a folder. By the kernel's numbers, since several may have the same."""

    files: dict[int, int] = msgspec.field(default_factory=dict)
    """Removed, with their bytes."""
    sockets: set[str] = msgspec.field(default_factory=set)


class HeldRoom:
    """`ports.sandbox.Room`: temporary files lie in a folder that other held commands share."""

    def __init__(self, folder: str, bounds: Bounds, *, is_used: bool = False) -> None:
        """`is_used`: there may be files in it already; they count as none of the command's."""
        self._folder, self._bounds = folder, bounds
        self._before = (0, 0)
        if is_used:
            # What cannot be counted now cannot be counted later either, and is told then.
            with suppress(UncountableError):
                self._before = _measure(folder, bounds.temporary_files)
        self._taken = self._count = 0
        self._free, self._numbers = _find_free(folder)

    def has_grown(self) -> bool:
        free, numbers = _find_free(self._folder)
        bounds = self._bounds
        return self._free - free > _plan_growth(bounds.temporary, self._taken) or (
            self._numbers - numbers > _plan_growth(bounds.temporary_files, self._count)
        )

    def find_excess(self, processes: Iterable[int]) -> str:
        try:
            return self._find_excess([_find_living(pid) for pid in processes])
        except UncountableError:
            return _UNCOUNTED

    def _find_excess(self, places: list[str]) -> str:
        """`places`: of the processes, in the kernel's view of them. Raises `UncountableError`."""
        bounds, unnamed = self._bounds, Unnamed()
        for place in places:
            self._look_at(place, unnamed)
        if sum(map(_measure_memory, places)) + len(unnamed.sockets) * _SOCKET > bounds.memory_together:
            return f"took more than {bounds.memory_together // _MIB:,} MiB of memory in all its processes"
        self._free, self._numbers = _find_free(self._folder)
        self._taken, self._count = self._measure(places, unnamed)
        if self._count > bounds.temporary_files:
            return f"made more than {bounds.temporary_files:,} temporary files"
        if self._taken > bounds.temporary:
            return f"filled more than {bounds.temporary // _MIB:,} MiB with temporary files"
        return ""

    def _look_at(self, place: str, unnamed: Unnamed) -> None:
        try:
            _find_unnamed(place, self._folder, unnamed, self._bounds.file)
        except PermissionError:
            # No command can make itself so, but it may have started a program that nobody may read, with all its files open.
            raise UncountableError(place) from None

    def _measure(self, places: list[str], unnamed: Unnamed) -> tuple[int, int]:  # noqa: ARG002 - for those who look otherwise
        """Bytes, and entries. Raises `UncountableError`."""
        before, already = self._before
        taken, count = _measure(self._folder, self._bounds.temporary_files + already)
        return max(0, taken - before) + sum(unnamed.files.values()), max(0, count - already)


class ViewedRoom(HeldRoom):
    """In a view, temporary files lie in memory. Bubblewrap bounds their bytes itself, or the view is looked at from outside, as for their number.

    Memory that is taken so is missing in the machine, which whoever looks at processes notices.
    """

    def __init__(self, folder: str, bounds: Bounds, *, is_bound: bool) -> None:
        """`is_bound`: by bubblewrap."""
        super().__init__(folder, bounds)
        self._is_bound = is_bound

    def has_grown(self) -> bool:
        return False

    def _look_at(self, place: str, unnamed: Unnamed) -> None:
        # Bubblewrap's own process may be one that we cannot look into. Files have no other place here than the view.
        with suppress(PermissionError):
            _find_unnamed(place, self._folder, unnamed, self._bounds.file)

    def _measure(self, places: list[str], unnamed: Unnamed) -> tuple[int, int]:  # noqa: ARG002 - a view counts these itself
        # One process is enough: all of a command see the same.
        taken, count = max((_measure_view(place, self._folder) for place in places), default=(0, 0))
        return 0 if self._is_bound else taken, count


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
    """Bytes, and entries. Raises `UncountableError` where a folder cannot be listed: its path is too long, or it only lets in."""
    taken = count = 0
    waiting = [folder]
    while waiting and count <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    with suppress(FileNotFoundError):
                        taken += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError as error:
            # Others are gone meanwhile.
            if error.errno in {errno.EACCES, errno.ENAMETOOLONG}:
                raise UncountableError(folder) from None
    return taken, count


def _find_living(pid: int) -> str:
    """Where a process is to be seen: its first thread may have ended, and shows nothing, while others run on."""
    place = f"/proc/{pid}"
    with suppress(OSError):
        if _OF_MEMORY[0] not in _read(f"{place}/status"):
            for name in os.listdir(f"{place}/task"):  # noqa: PTH208 - names are all we need
                with suppress(OSError):
                    if _OF_MEMORY[0] in _read(f"{place}/task/{name}/status"):
                        return f"{place}/task/{name}"
    return place


def _measure_memory(place: str) -> int:
    try:
        fields = dict(line.split(b":", 1) for line in _read(f"{place}/status").splitlines() if b":" in line)
    except OSError:
        return 0
    return sum(int(fields[name].split()[0]) for name in _OF_MEMORY if name in fields) * _KIB


def _find_unnamed(place: str, folder: str, unnamed: Unnamed, largest: int) -> None:
    """`largest`: that a file may be. Raises `PermissionError`, and `UncountableError`."""
    _find_open(place, folder, unnamed)
    _find_mapped(place, folder, unnamed, largest)


def _find_open(place: str, folder: str, unnamed: Unnamed) -> None:
    for name in _list(f"{place}/fd"):
        path = f"{place}/fd/{name}"
        try:
            target = os.readlink(path)  # noqa: PTH115 - paths as text
        except OSError as error:
            # One with so long a path is nowhere else than among the temporary files.
            target = f"{folder}/" if error.errno == errno.ENAMETOOLONG else ""
        if target.startswith("socket:"):
            unnamed.sockets.add(target)
        elif target.startswith(f"{folder}/"):
            with suppress(OSError):
                status = os.stat(path)  # noqa: PTH116 - paths as text
                if not status.st_nlink:
                    unnamed.files[status.st_ino] = status.st_blocks * _BLOCK


def _find_mapped(place: str, folder: str, unnamed: Unnamed, largest: int) -> None:
    """Of a file that was removed and is only mapped nobody tells the size. Of memory that is shared without a name neither."""
    try:
        maps = _read(f"{place}/maps")
    except (FileNotFoundError, ProcessLookupError):
        return
    for line in maps.decode(errors="replace").splitlines():
        if line.endswith(_REMOVED):
            _, rights, _, _, number, path = line.split(maxsplit=5)
            if path.startswith(f"{folder}/"):
                unnamed.files.setdefault(int(number), largest)
            elif path == f"{_NAMELESS}{_REMOVED}" and rights.endswith("s"):
                raise UncountableError(place)


def _measure_view(place: str, folder: str) -> tuple[int, int]:
    """Bytes and entries in the memory that a view has for temporary files, those without a name included."""
    taken = count = 0
    for each in (folder, SHARED):
        with suppress(OSError):
            inside = f"{place}/root{each}"
            # Bubblewrap itself, which waits outside, sees what we see.
            if os.stat(inside).st_dev != os.stat(each).st_dev:  # noqa: PTH116 - paths as text
                status = os.statvfs(inside)
                taken += (status.f_blocks - status.f_bfree) * status.f_frsize
                count += status.f_files - status.f_ffree
    return taken, count


def _list(folder: str) -> list[str]:
    """Raises `PermissionError`. Who is gone has nothing."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all we need
    except (FileNotFoundError, ProcessLookupError):
        return []


def _read(path: str) -> bytes:
    """Raises `OSError`."""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - half the time
        return file.read()
