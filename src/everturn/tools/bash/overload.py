"""Notices a command that takes more of the machine than it may: too many processes, or too much memory in one of them."""

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


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """How it stands at one moment: two small files tell it."""

    tasks: int
    free: int
    total: int


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """By one command."""

    processes: int = 0
    memory: int = 0
    """Of the largest process."""
    largest: str = ""
    """Its name."""


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
        self._taken = Taken()
        self._loop = asyncio.get_running_loop()
        self._last: Machine | None = None
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

    def _judge(self, last: Machine, now: Machine) -> str:
        most, memory = self._limits.command_processes, plan_memory(self._limits.command_memory_mb, now.total)
        if not (most or memory or self._room) or not self._is_search_due(most, memory, last, now):
            return ""
        began = self._loop.time()
        members = self._members()
        self._last, self._taken = now, find_taken(members)
        reason = self._find_excess(most, memory) or (self._room.find_excess(members) if self._room else "")
        ended = self._loop.time()
        self._next_search = ended + max(_SEARCH_S, (ended - began) / _SEARCHING)
        return reason

    def _find_excess(self, most: int, memory: int) -> str:
        if most and self._taken.processes > most:
            return f"started more than {most:,} processes (the limit command_processes)"
        if memory and self._taken.memory > memory:
            who = self._taken.largest
            return f"took more than {memory // _MB:,} MB of memory in one process, {who} (the limit command_memory_mb)"
        return ""

    def _is_search_due(self, most: int, memory: int, last: Machine, now: Machine) -> bool:
        if self._loop.time() > self._next_search:
            return True
        if self._room is not None and self._room.has_grown():
            return True
        forks = most > 0 and now.tasks - last.tasks > plan_room(most, self._taken.processes)
        return forks or (memory > 0 and last.free - now.free > plan_room(memory, self._taken.memory))


def plan_room(most: int, taken: int) -> int:
    """How much may go, by anybody's doing, before all processes are searched again: half of what is left, but no trifle."""
    return max((most - taken) // 2, most // _TRIFLE)


def find_taken(members: list[int]) -> Taken:
    name, held = max(map(load_held, members), key=lambda each: each[1], default=("", 0))
    return Taken(processes=len(members), memory=held, largest=name)


def plan_memory(most_mb: int, total: int) -> int:
    """Bytes that one process may hold; 0 = no limit."""
    return min(most_mb * _MB, int(_SHARE * min(total, load_container_limit() or total))) if most_mb else 0


def load_machine() -> Machine | None:
    try:
        tasks = _read("/proc/loadavg").split()[3].partition("/")[2]
        # Three lines come first on every Linux: what there is, what is unused, and what could be had.
        total, _, free = (int(line.split()[1]) * _KIB for line in _read("/proc/meminfo").split("\n", 3)[:3])
        return Machine(tasks=int(tasks), free=free, total=total)
    except (OSError, ValueError, LookupError):
        return None


def load_held(pid: int) -> tuple[str, int]:
    """A process by its name, and the bytes that it alone keeps in memory: files that it has mapped can be let go of."""
    try:
        fields = dict(line.split(":", 1) for line in _read(f"/proc/{pid}/status").splitlines())
        return fields["Name"].strip(), sum(int(fields[kind].split()[0]) for kind in ("RssAnon", "RssShmem")) * _KIB
    except (OSError, ValueError, LookupError):
        # It is gone, or a part of the kernel.
        return "", 0


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
