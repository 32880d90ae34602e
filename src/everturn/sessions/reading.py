"""A journal read from its beginning, a piece at a time: however large the file is, what is in memory is what it tells."""

import json
from collections.abc import Iterator

import msgspec

from everturn.ports.disk import Disk
from everturn.sessions.patience import Patience

PIECE = 1 << 20
LONGEST_LINE = 1 << 26
"""No record is longer: such a line is a hole in the file, or nothing of ours."""
TOO_LONG = b"\x00"
"""Stands for a line that was too long; it is as broken as it looks."""


def read_lines(
    disk: Disk, handle: int, *, piece: int = PIECE, start: int = 0, patience: Patience | None = None
) -> Iterator[tuple[int, bytes]]:
    """Each line with the offset at which it begins, its end included; the last may have none. Raises `OSError`.

    `start` is the beginning of a line. Only a newline ends a line: a carriage return may stand in a foreign one.
    """
    at, begin, held = start, start, bytearray()
    patience = patience or Patience(disk.size(handle))
    while data := disk.pread(handle, piece, at):
        at += len(data)
        patience.note(at)
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
    if len(held) + len(data) > LONGEST_LINE:
        held[:] = TOO_LONG + (b"\n" if data.endswith(b"\n") else b"")
    else:
        held += data
