"""The answer to one request, from bytes as they come: HTTP/1.1, read strictly and without waiting for anything."""

from everturn.core.patterns import compile_late

HEADER_LIMIT = 131_072
"""The most that a head, a chunk's size or the trailers may take."""
_HEAD_END = compile_late(rb"\n\r?\n")
_STATUS = compile_late(rb"HTTP/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?")
_FIELD = compile_late(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*")
_CHUNK = compile_late(rb"([0-9A-Fa-f]{1,20})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?[ \t]*\r\n")
_LENGTH = compile_late(r"\d{1,20}")
_EMPTY = frozenset({204, 304})
_FIRST_FINAL = 200
_SWITCHED = 101


class BrokenReplyError(Exception):
    """What came is not HTTP, or not all of it came."""


class _State:
    """Plain texts: a turn asks for them two dozen times, and members of an `Enum` take four times as long to look up."""

    HEAD = "head"
    COUNTED = "counted"
    """So many bytes are left."""
    CHUNKED = "chunked"
    TRAILERS = "trailers"
    UNTIL_CLOSED = "until closed"
    WHOLE = "whole"


class HttpReply:
    """Feed it what came; take the head first, then the body. Every method raises `BrokenReplyError`."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        """Names in lower case; what stands twice is joined with a comma, as HTTP has it."""
        self._state = _State.HEAD
        self._data = b""
        self._left = 0
        self._chunk_open = False
        """The end of its line is still to come."""
        self._persistent = False

    @property
    def is_whole(self) -> bool:
        return self._state == _State.WHOLE

    @property
    def can_follow(self) -> bool:
        """Another request may be sent: all has come, nothing more than that, and the peer keeps the connection."""
        return self.is_whole and self._persistent and not self._data

    def feed(self, data: bytes) -> None:
        """An empty piece is the end of the connection."""
        if data:
            self._data = self._data + data if self._data else data
        elif self._state == _State.UNTIL_CLOSED:
            self._state = _State.WHOLE
        elif self._state != _State.WHOLE:
            raise BrokenReplyError("the connection was closed before the end")

    def take_head(self) -> bool:
        """Whether status and headers are known. Provisional answers are passed over."""
        while self._state == _State.HEAD:
            lines = self._take_lines()
            if lines is None:
                return False
            first = _STATUS.fullmatch(lines[0])
            if first is None:
                raise BrokenReplyError("it begins with no status line")
            self.status, self.headers = int(first[2]), parse_fields(lines[1:])
            if self.status == _SWITCHED:
                raise BrokenReplyError("it switches to another protocol")
            if self.status >= _FIRST_FINAL:
                self._begin_body(later=first[1] == b"1")
        return True

    def take_body(self) -> bytes:
        """What has come of it; empty where nothing has, or where it has ended."""
        match self._state:
            case _State.CHUNKED:
                return self._take_chunks()
            case _State.COUNTED:
                piece, self._data = self._data[: self._left], self._data[self._left :]
                self._left -= len(piece)
                if not self._left:
                    self._state = _State.WHOLE
                return piece
            case _State.UNTIL_CLOSED:
                piece, self._data = self._data, b""
                return piece
            case _State.TRAILERS:
                self._end_trailers()
                return b""
            case _:
                return b""

    def _begin_body(self, *, later: bool) -> None:
        self._persistent = later and "close" not in split_list(self.headers.get("connection", ""))
        coding, length = self.headers.get("transfer-encoding"), self.headers.get("content-length")
        if self.status in _EMPTY:
            self._state = _State.WHOLE
        elif coding is not None:
            if coding.strip().lower() != "chunked":
                raise BrokenReplyError("its transfer encoding is unknown")
            self._state = _State.CHUNKED
        elif length is not None:
            # The same length may stand there twice, two lengths may not.
            lengths = set(split_list(length))
            if len(lengths) != 1 or not _LENGTH.fullmatch(only := lengths.pop()):
                raise BrokenReplyError("its length is no number")
            self._left = int(only)
            self._state = _State.COUNTED if self._left else _State.WHOLE
        else:
            self._state, self._persistent = _State.UNTIL_CLOSED, False

    def _take_chunks(self) -> bytes:
        data, at, pieces = self._data, 0, list[bytes]()
        while self._state == _State.CHUNKED:
            if self._left:
                piece = data[at : at + self._left]
                if not piece:
                    break
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                self._chunk_open = True
                continue
            begin = at + 2 if self._chunk_open else at
            if self._chunk_open and not b"\r\n".startswith(data[at:begin]):
                raise BrokenReplyError("a chunk is longer than it said")
            end = data.find(b"\n", begin) + 1
            if not end:
                bound(len(data) - at)
                break
            size = _CHUNK.fullmatch(data, begin, end)
            if size is None:
                raise BrokenReplyError("a chunk says no size")
            at, self._left, self._chunk_open = end, int(size[1], 16), False
            if not self._left:
                self._state = _State.TRAILERS
        self._data = data[at:]
        if self._state == _State.TRAILERS:
            self._end_trailers()
        return b"".join(pieces)

    def _end_trailers(self) -> None:
        """They are judged and dropped."""
        if self._data.startswith((b"\r\n", b"\n")):
            self._data = self._data[2 if self._data.startswith(b"\r") else 1 :]
        elif self._data in {b"", b"\r"} or (lines := self._take_lines()) is None:
            return
        else:
            parse_fields(lines)
        self._state = _State.WHOLE

    def _take_lines(self) -> list[bytes] | None:
        """Up to an empty line; None where that has not come."""
        end = _HEAD_END.search(self._data)
        if end is None:
            bound(len(self._data))
            return None
        bound(end.start())
        lines = self._data[: end.start()].split(b"\n")
        self._data = self._data[end.end() :]
        return [line.removesuffix(b"\r") for line in lines]


def parse_fields(lines: list[bytes]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in unfold(lines):
        field = _FIELD.fullmatch(line)
        if field is None:
            raise BrokenReplyError("it has a malformed header")
        name, value = field[1].decode().lower(), field[2].decode("latin-1")
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return fields


def unfold(lines: list[bytes]) -> list[bytes]:
    """A line that begins with a space goes on with the one before: an old way to write long values."""
    if not any(line.startswith((b" ", b"\t")) for line in lines):
        return lines
    whole: list[bytes] = []
    for line in lines:
        if whole and line.startswith((b" ", b"\t")):
            whole[-1] += b" " + line.strip()
        else:
            whole.append(line)
    return whole


def split_list(value: str) -> list[str]:
    return [part.strip().lower() for part in value.split(",")]


def bound(size: int) -> None:
    if size > HEADER_LIMIT:
        raise BrokenReplyError("its head has no end")
