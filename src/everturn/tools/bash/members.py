"""Which processes a command has started, wherever they went: by its group, by a mark in their environment, by descent."""

import os
import re
import signal
from collections.abc import Callable, Collection
from contextlib import suppress

MARK = "EVERTURN_MARK"
"""The variable that every process of a command inherits. Who starts one with another value lets it outlive the session."""
_LIMITS = re.compile(rb"^Max msgqueue size +(\d+) +(\d+) ", re.MULTILINE)
_LOWEST, _USUAL = 400_000, 819_200

_SET = f"\0{MARK}=".encode()
_GONE = frozenset({"Z", "X"})
_THREADS = 13
"""Behind the session, their number: where the first thread has ended, the process looks as if it had, and others may run on."""
_TERM_BIT = 1 << (signal.SIGTERM - 1)
_MASKS = ("SigBlk", "SigIgn", "SigCgt")


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


Marked = Callable[[list[str]], bool]
"""Whether these marks are those that are looked for; a command inside a command has the outer marks, too."""


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
