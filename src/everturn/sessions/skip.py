"""Messages of a very large session that need not be decoded: those before its last compaction, which are not sent again."""

from collections.abc import Iterator

from everturn.core.errors import JournalError
from everturn.core.messages import Kind
from everturn.core.records import MessageAdded
from everturn.ports.disk import Disk
from everturn.sessions.formats import decode_line
from everturn.sessions.line_reader import ReadProgress, read_lines

MESSAGE = b'{"parentUuid":'
"""How the line of a message begins, ours and those of other programs. One that begins otherwise is decoded."""
PIECE = 8 << 20
_BOUNDARY = b'"subtype":"compact_boundary"'
_REWOUND = b'"record":{"type":"rewound"'
_OVERLAP = 256
"""More than the marks and ids that are looked for, so that none is missed between two pieces."""
_AROUND = 1 << 16
"""Bytes that are looked at for the beginning of a line: more than most lines have."""
_ENVELOPE = 1_000
"""Of a line, what is around the content at most."""
_SOON = 20
"""Lines after a boundary among which its summary must be."""


class TooMuchError(JournalError):
    """More stands after the last compaction than anybody could go on with."""


def find_start(disk: Disk, handle: int, progress: ReadProgress, *, most: int, piece: int = PIECE) -> int:
    """Offset of a line before which no message is needed; 0 where all are. Raises `OSError`, and `TooMuchError`."""
    size, wanted, start, look_at = disk.size(handle), None, 0, most
    for at, data in read_back(disk, handle, size, progress, piece):
        if wanted is None:
            if _REWOUND in data:
                # It may lead to before the boundary.
                return 0
            place = data.rfind(_BOUNDARY)
            while wanted is None and place >= 0:
                wanted = load_kept(disk, handle, start := find_line(disk, handle, at + place))
                place = data.rfind(_BOUNDARY, 0, place)
            if wanted is None:
                if size - at > look_at:
                    if is_more(disk, handle, at, most, progress):
                        raise TooMuchError("too much")
                    look_at += look_at // 2
                continue
        for id_ in tuple(wanted):
            if (place := data.rfind(b'"uuid":"%b"' % id_.encode())) >= 0:
                start = min(start, find_line(disk, handle, at + place))
                wanted.discard(id_)
        if not wanted:
            return start
    return 0


def read_back(disk: Disk, handle: int, end: int, progress: ReadProgress, piece: int) -> Iterator[tuple[int, bytes]]:
    """Pieces of the file with their offsets, the last first; each reaches a little into the one behind it."""
    at = end
    while at > 0:
        begin = max(0, at - piece)
        yield begin, disk.pread(handle, at - begin + _OVERLAP, begin)
        at = begin
        progress.note((end - at) // 2)


def find_line(disk: Disk, handle: int, at: int) -> int:
    """Where the line begins that holds this place."""
    while at > 0:
        begin = max(0, at - _AROUND)
        if (place := disk.pread(handle, at - begin, begin).rfind(b"\n")) >= 0:
            return begin + place + 1
        at = begin
    return 0


def load_kept(disk: Disk, handle: int, start: int) -> set[str] | None:
    """Ids of what the boundary in this line keeps; None where it is none, or has no summary."""
    boundary: MessageAdded | None = None
    for number, (_, line) in enumerate(read_lines(disk, handle, start=start, piece=_AROUND)):
        try:
            record = decode_line(line).record
        except JournalError:
            record = None
        if isinstance(record, MessageAdded):
            if boundary is not None:
                return set(boundary.keeps) if record.kind is Kind.SUMMARY else None
            boundary = record if record.kind is Kind.BOUNDARY else None
        if boundary is None or number == _SOON:
            return None
    return None


def is_more(disk: Disk, handle: int, start: int, most: int, progress: ReadProgress) -> bool:
    """Whether messages from here on hold more bytes than `most`. The first line may be a part of one."""
    held = 0
    for _, line in read_lines(disk, handle, start=start, progress=progress):
        if line.startswith(MESSAGE):
            held += max(len(line) - _ENVELOPE, 0)
            if held > most:
                return True
    return False
