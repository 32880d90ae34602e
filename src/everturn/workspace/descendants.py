"""The processes that a command has started, wherever they went: found by group, mark and descent, and ended, with time to obey."""

import asyncio
import math
import os
import re
import signal
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress

from everturn.core.patterns import compile_late

MARK = "EVERTURN_MARK"
"""The variable that every process of a command inherits. Who starts one with another value lets it outlive the session."""
_LIMITS = compile_late(rb"^Max msgqueue size +(\d+) +(\d+) ", re.MULTILINE)
_LOWEST, _USUAL = 400_000, 819_200

_SET = f"\0{MARK}=".encode()
_GONE = frozenset({"Z", "X"})
_THREADS = 13
"""Behind the session, their number: where the first thread has ended, the process looks as if it had, and others may run on."""
_TERM_BIT = 1 << (signal.SIGTERM - 1)
_MASKS = ("SigBlk", "SigIgn", "SigCgt")
Marked = Callable[[list[str]], bool]
"""Whether these marks are those that are looked for; a command inside a command has the outer marks, too."""
_FIRST_LOOK_S = 0.01
_MAX_LOOK_S = 0.1
_KILLINGS = 5
_KILLING_S = 1.0
"""Whoever is still there so long after SIGKILL is held by the kernel; nobody can help that."""
Find = Callable[[Collection[int]], list[int]]
"""Gives the members that live, those among them that were known before."""


def choose_seal() -> int:
    """A number for one session: its commands start with this limit on message queues, which nobody misses.

    A limit is inherited by whoever a process starts, also with an empty environment or in a session of its own, and
    cannot be raised again. 0 where there is no room below the limit that we have.
    """
    try:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]
    except (ImportError, AttributeError, OSError, ValueError):
        return 0
    highest = _USUAL if hard < 0 else min(hard, _USUAL)
    return 0 if highest <= _LOWEST else _LOWEST + int.from_bytes(os.urandom(4), "big") % (highest - _LOWEST)


def has_seal(pid: int, seal: int) -> bool:
    limits = _LIMITS.search(_read(f"/proc/{pid}/limits") or b"")
    return limits is not None and int(limits[2]) == seal


def find_members(marked: Marked, group: int = 0, known: Collection[int] = (), seal: int = 0) -> list[int]:
    """Living processes with the mark, those of the group (0 = none), and children of theirs without any mark.

    `known`: who was found before, and may have lost the parent that led to it. `seal`: who has it, and no mark, has
    lost that with its environment.
    Where there is no /proc, a group that has members stands for them as one negative number.
    """
    found: set[int] = set()
    unmarked: dict[int, int] = {}
    numbers = _list_processes()
    if not numbers:
        return [-group] if group and _has_members(group) else []
    for pid in numbers:
        stat = _read_stat(pid)
        if stat is None:
            continue
        parent, *groups = stat
        marks = _read_marks(pid)
        if (
            pid in known
            or (group and group in groups)
            or (marks and marked(marks))
            or (marks is None and seal and has_seal(pid, seal))
        ):
            found.add(pid)
        elif marks is None:
            unmarked[pid] = parent
    grown = True
    while grown:
        children = {pid for pid, parent in unmarked.items() if parent in found} - found
        found |= children
        grown = bool(children)
    return sorted(found - {os.getpid()})


def send(member: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(member, number)


def has_lost_sigterm(pid: int) -> bool:
    """It lives although SIGTERM, once delivered, would have ended it: a shell that was just forking it took it away."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - half the time
            fields = dict(line.split(":", 1) for line in file)
    except (OSError, ValueError):
        return False
    return not any(int(fields.get(mask, "0"), 16) & _TERM_BIT for mask in _MASKS)


def _list_processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - names are all we need
    except OSError:
        return []


def _has_members(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _read(path: str) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(descriptor, 1 << 20)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read_stat(pid: int) -> tuple[int, int, int] | None:
    """Parent, group and session; None for who is gone or a zombie."""
    stat = _read(f"/proc/{pid}/stat")
    if not stat:
        return None
    # pid (name) state parent group session: the name may hold anything, so count from its end.
    state, parent, group, session, *more = stat.decode(errors="replace").rpartition(")")[2].split()
    if state in _GONE and int(more[_THREADS]) <= 1:
        return None
    return int(parent), int(group), int(session)


def _read_marks(pid: int) -> list[str] | None:
    """None where there is none, or where it is not for us to see."""
    environment = _read(f"/proc/{pid}/environ")
    if not environment:
        return None
    _, found, rest = (b"\0" + environment).partition(_SET)
    return rest.partition(b"\0")[0].decode(errors="replace").split(":") if found else None


async def end_members(find: Find, grace_s: float) -> None:
    """`find` is asked until it finds nobody: who is about to die may still start another."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + grace_s
    # Set by the first kill, not by the deadline: a program that was stopped meanwhile may be late for both.
    given_up = math.inf
    asked: set[int] = set()
    look_s = _FIRST_LOOK_S
    while (members := find(asked)) and (now := loop.time()) < given_up:
        if now >= deadline:
            given_up = min(given_up, now + _KILLING_S)
        for member in members:
            if now >= deadline:
                send(member, signal.SIGKILL)
            elif member not in asked or has_lost_sigterm(member):
                send(member, signal.SIGTERM)
                # One that is stopped cannot obey.
                send(member, signal.SIGCONT)
        asked.update(members)
        left = deadline - now
        await wait_gone(members, min(look_s, left) if left > 0 else look_s)
        look_s = min(look_s * 2, _MAX_LOOK_S)


def kill_members(find: Find) -> None:
    """At once. Searched again and again, too: who was not dead yet may have started another."""
    known: set[int] = set()
    for _ in range(_KILLINGS):
        members = find(known)
        for member in members:
            send(member, signal.SIGKILL)
        known.update(members)
        if not members:
            break


async def wait_gone(members: list[int], most_s: float) -> None:
    """Until all of them are gone, or time is up."""
    loop = asyncio.get_running_loop()
    all_gone: asyncio.Future[None] = loop.create_future()
    waiting: set[int] = set()

    def note_gone(descriptor: int) -> None:
        loop.remove_reader(descriptor)
        waiting.discard(descriptor)
        if not waiting and not all_gone.done():
            all_gone.set_result(None)

    with ExitStack() as opened:
        for member in members:
            try:
                descriptor = os.pidfd_open(member)
            except ProcessLookupError:
                continue
            except (AttributeError, OSError):
                # No such call, or a group: then time passes.
                waiting.add(-1)
                continue
            opened.callback(os.close, descriptor)
            opened.callback(loop.remove_reader, descriptor)
            waiting.add(descriptor)
            loop.add_reader(descriptor, note_gone, descriptor)
        if waiting:
            await asyncio.wait({all_gone}, timeout=most_s)
