"""How much room held commands take: in temporary files, named or only held open, and in memory, all their processes together."""

import os
from collections.abc import Iterable
from contextlib import suppress

MOST_BYTES = 1024**3
MOST_TOGETHER = 4 * 1024**3
"""Bytes of memory, of all processes of a command: each has a bound of its own, and many could still take all there is."""
_MOST_LOOKED_AT = 10_000
_BLOCK = 512
_PAGE = os.sysconf("SC_PAGE_SIZE")


def find_excess(folder: str, processes: Iterable[int], most: int = MOST_BYTES) -> str:
    """What is wrong, in a clause that goes on after "The command"; empty where nothing is."""
    processes = tuple(processes)
    if sum(map(_measure_memory, processes)) > MOST_TOGETHER:
        return f"took more than {MOST_TOGETHER // 1024**2:,} MiB of memory in all its processes"
    taken, count = _measure(folder)
    if count > _MOST_LOOKED_AT:
        return f"made more than {_MOST_LOOKED_AT:,} temporary files"
    if taken + sum(_measure_unnamed(pid, folder) for pid in processes) > most:
        return f"filled more than {most // 1024**2:,} MiB with temporary files"
    return ""


def _measure(folder: str) -> tuple[int, int]:
    """Bytes, and entries."""
    taken = count = 0
    waiting = [folder]
    while waiting and count <= _MOST_LOOKED_AT:
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
