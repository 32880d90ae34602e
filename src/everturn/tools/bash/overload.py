"""Notices a command that takes more of the machine than it may: too many processes or threads, or too much memory in one process."""

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from everturn.core.limits import Limits

if TYPE_CHECKING:
    from everturn.ports.sandbox import Room

_LOOK_S = 0.25
"""Most commands have ended before the first look, and pay nothing."""
_SEARCH_S = 2.0
"""At least this often all processes are searched: what others gave back may hide what the command took."""
_SEARCHING = 0.01
"""Of the time, at most, goes into that: a machine may have many thousand processes."""
_SHARE = 0.75
"""Of the machine's memory: what is left is for everybody else."""
_TRIFLE = 32
"""Less than this part of a limit is not worth a search."""
_KIB, _MB = 1024, 1_000_000
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class MachineLoad(msgspec.Struct, frozen=True, kw_only=True):
    """How it stands at one moment: two small files tell it."""

    tasks: int
    free: int
    total: int


class ResourceUse(msgspec.Struct, frozen=True, kw_only=True):
    """By one command."""

    processes: int = 0
    threads: int = 0
    """Of all processes: the kernel has as much work with them."""
    memory: int = 0
    """Of the largest process."""
    largest: str = ""
    """Its name."""


class ProcessUse(msgspec.Struct, frozen=True, kw_only=True):
    """By one process; nothing by one that is gone."""

    name: str = ""
    threads: int = 0
    memory: int = 0
    """Bytes that it alone keeps: files that it has mapped can be let go of."""


class Overload:
    """Looks again and again while a command runs. Where there is no /proc it sees nothing."""

    def __init__(
        self,
        limits: Limits,
        members: Callable[[], list[int]],
        note: Callable[[str], None],
        room: "Room | None" = None,
    ) -> None:
        """`note` is told once, in a clause that goes on after "The command".

        `room` knows of other things that the command, by its processes, may take too much of.
        """
        self._room = room
        self._limits = limits
        self._members = members
        self._note = note
        self._taken = ResourceUse()
        self._loop = asyncio.get_running_loop()
        self._last: MachineLoad | None = None
        """As it stood at the first look, or when all processes were last searched."""
        self._next_search = self._loop.time() + _SEARCH_S
        self._next = self._loop.call_later(_LOOK_S, self._look)

    def close(self) -> None:
        self._next.cancel()

    def _look(self) -> None:
        now = load_machine()
        if now is None:
            return
        last = self._last = self._last or now
        if reason := self._judge(last, now):
            self._note(reason)
        else:
            self._next = self._loop.call_later(_LOOK_S, self._look)

    def _judge(self, last: MachineLoad, now: MachineLoad) -> str:
        limits = self._limits
        memory = plan_memory(limits.command_memory_mb, now.total)
        is_limited = limits.command_processes or limits.command_threads or memory or self._room
        if not is_limited or not self._is_search_due(memory, last, now):
            return ""
        began = self._loop.time()
        members = self._members()
        self._last, self._taken = now, find_taken(members)
        reason = self._find_excess(memory) or (self._room.find_excess(members) if self._room else "")
        ended = self._loop.time()
        self._next_search = ended + max(_SEARCH_S, (ended - began) / _SEARCHING)
        return reason

    def _find_excess(self, memory: int) -> str:
        processes, threads = self._limits.command_processes, self._limits.command_threads
        if processes and self._taken.processes > processes:
            return f"started more than {processes:,} processes (the limit command_processes)"
        if threads and self._taken.threads > threads:
            return f"had more than {threads:,} threads in all its processes (the limit command_threads)"
        if memory and self._taken.memory > memory:
            who = self._taken.largest
            return f"took more than {memory // _MB:,} MB of memory in one process, {who} (the limit command_memory_mb)"
        return ""

    def _is_search_due(self, memory: int, last: MachineLoad, now: MachineLoad) -> bool:
        if self._loop.time() > self._next_search:
            return True
        if self._room is not None and self._room.has_grown():
            return True
        limits, taken = self._limits, self._taken
        # The machine counts threads.
        bounds = ((limits.command_processes, taken.processes), (limits.command_threads, taken.threads))
        forks = any(most > 0 and now.tasks - last.tasks > plan_room(most, of_it) for most, of_it in bounds)
        return forks or (memory > 0 and last.free - now.free > plan_room(memory, self._taken.memory))


def plan_room(most: int, taken: int) -> int:
    """How much may go, by anybody's doing, before all processes are searched again: half of what is left, but no trifle."""
    return max((most - taken) // 2, most // _TRIFLE)


def find_taken(members: list[int]) -> ResourceUse:
    found = [load_held(member) for member in members]
    largest = max(found, key=lambda each: each.memory, default=ProcessUse())
    # Whoever is gone since was one.
    threads = sum(max(each.threads, 1) for each in found)
    return ResourceUse(processes=len(members), threads=threads, memory=largest.memory, largest=largest.name)


def plan_memory(most_mb: int, total: int) -> int:
    """Bytes that one process may hold; 0 = no limit."""
    return min(most_mb * _MB, int(_SHARE * min(total, load_container_limit() or total))) if most_mb else 0


def load_machine() -> MachineLoad | None:
    try:
        tasks = _read("/proc/loadavg").split()[3].partition("/")[2]
        # Three lines come first on every Linux: what there is, what is unused, and what could be had.
        total, _, free = (int(line.split()[1]) * _KIB for line in _read("/proc/meminfo").split("\n", 3)[:3])
        return MachineLoad(tasks=int(tasks), free=free, total=total)
    except (OSError, ValueError, LookupError):
        return None


def load_held(pid: int) -> ProcessUse:
    try:
        fields = dict(line.split(":", 1) for line in _read(f"/proc/{pid}/status").splitlines())
        name, threads = fields["Name"].strip(), int(fields["Threads"])
    except (OSError, ValueError, LookupError):
        return ProcessUse()
    try:
        memory = sum(int(fields[kind].split()[0]) for kind in ("RssAnon", "RssShmem")) * _KIB
    except (ValueError, LookupError):
        # A part of the kernel, or one whose first thread has ended.
        memory = 0
    return ProcessUse(name=name, threads=threads, memory=memory)


def load_container_limit() -> int | None:
    for path in _CONTAINER_LIMITS:
        try:
            return int(_read(path))
        except (OSError, ValueError):
            continue
    return None


def _read(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 65_536).decode(errors="replace")
    finally:
        os.close(descriptor)
