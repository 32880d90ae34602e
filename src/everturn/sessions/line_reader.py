"""Reads a journal from its beginning, a piece at a time; reports progress for a large one."""

import json
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar

import msgspec

from everturn.ports.disk import Disk

_FIRST_S = 2.0
_NEXT_S = 5.0
_tell: ContextVar[Callable[[str], None] | None] = ContextVar("tell", default=None)


def tell_slow_reading(tell: Callable[[str], None]) -> None:
    """From now on, in this context and those that begin in it, `tell` hears a line now and then while a file is read."""
    _tell.set(tell)


class ReadProgress:
    """Over one file, or several, however often they are gone through."""

    def __init__(self, size: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._tell = _tell.get()
        self._now = now
        self._due_s = now() + _FIRST_S

    def note(self, done: int) -> None:
        """Bytes of the file that were read; more than there are where it is read a second time."""
        if self._tell is None or (now := self._now()) < self._due_s:
            return
        self._due_s = now + _NEXT_S
        percent = min(done * 100 // max(self._size, 1), 99)
        self._tell(f"Reading {self._size / 1e6:,.0f} MB of sessions: {percent} %")


PIECE = 1 << 20
MAX_LINE_LENGTH = 1 << 26
"""No record is longer: such a line is a hole in the file, or nothing of ours."""
TOO_LONG = b"\x00"
"""Stands for a line that was too long; it is as broken as it looks."""


def read_lines(
    disk: Disk, handle: int, *, piece: int = PIECE, start: int = 0, progress: ReadProgress | None = None
) -> Iterator[tuple[int, bytes]]:
    """Each line with the offset at which it begins, its end included; the last may have none. Raises `OSError`.

    `start` is the beginning of a line. Only a newline ends a line: a carriage return may stand in a foreign one.
    """
    at, begin, held = start, start, bytearray()
    progress = progress or ReadProgress(disk.size(handle))
    while data := disk.pread(handle, piece, at):
        at += len(data)
        progress.note(at)
        first = data.find(b"\n")
        if first < 0:
            _hold(held, data)
            continue
        _hold(held, data[: first + 1])
        yield begin, bytes(held)
        begin = at - len(data) + first + 1
        end = data.rfind(b"\n") + 1
        for line in _split(data, first + 1, end):
            yield begin, line
            begin += len(line)
        held = bytearray(data[end:])
    if held:
        yield begin, bytes(held)


def is_json(line: bytes) -> bool:
    """Whole: nothing of it is missing. What nests too deeply for us is given the benefit of the doubt."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    else:
        return True
    try:
        json.loads(line)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _split(data: bytes, start: int, end: int) -> Iterator[bytes]:
    while start < end:
        stop = data.index(b"\n", start) + 1
        yield data[start:stop]
        start = stop


def _hold(held: bytearray, data: bytes) -> None:
    if len(held) + len(data) > MAX_LINE_LENGTH:
        held[:] = TOO_LONG + (b"\n" if data.endswith(b"\n") else b"")
    else:
        held += data
