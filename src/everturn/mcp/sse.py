"""Events out of a stream of server-sent events, however it comes in pieces. Pure."""

import msgspec

from everturn.core.patterns import compile_late

_LINE = compile_late(rb"\r\n|\n|\r")
_MARK = b"\xef\xbb\xbf"


class OversizedEventError(Exception):
    """An event is larger than the reader may hold."""


class SseEvent(msgspec.Struct, frozen=True, kw_only=True):
    """`data` may be empty: then it only says its id, or how long to wait before the stream is asked for again."""

    kind: str = "message"
    data: bytes = b""
    id: str = ""
    retry_ms: int | None = None


class SseReader:
    def __init__(self, most: int) -> None:
        """`most`: bytes of one event."""
        self._most = most
        self._open: list[bytes] = []
        """What has come of a line that is not finished."""
        self._open_size = 0
        self._open_ended = False
        """It ends with half a line end."""
        self._started = False
        self._data: list[bytes] = []
        self._size = 0
        self._kind = ""
        self._id = ""
        self._retry_ms: int | None = None
        self._seen = False
        """The event that is being read has anything in it."""

    def feed(self, piece: bytes) -> list[SseEvent]:
        """Raises `OversizedEventError`."""
        if not piece:
            return []
        self._open.append(piece)
        self._open_size += len(piece)
        if self._size + self._open_size > self._most and b"\n" not in piece:
            raise OversizedEventError
        if not (self._open_ended or b"\n" in piece or b"\r" in piece):
            # In the middle of a line: it is put together once, when its end has come.
            return []
        text = b"".join(self._open)
        if not self._started:
            self._started = True
            text = text.removeprefix(_MARK)
        events: list[SseEvent] = []
        at = 0
        for end in _LINE.finditer(text):
            if end.group() == b"\r" and end.end() == len(text):
                # Its other half may still come.
                break
            if (event := self._take_line(text[at : end.start()])) is not None:
                events.append(event)
            at = end.end()
        rest = text[at:]
        self._open, self._open_size = [rest] if rest else [], len(rest)
        self._open_ended = rest.endswith(b"\r")
        if self._size + self._open_size > self._most:
            raise OversizedEventError
        return events

    def _take_line(self, line: bytes) -> SseEvent | None:
        if not line:
            event = self._finish() if self._seen else None
            self._clear()
            return event
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
                self._size += len(value)
            case b"event":
                self._kind = value.decode("utf-8", "replace")
            case b"id" if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
            case b"retry" if value.isdigit():
                self._retry_ms = int(value[:9])
            case _:
                return None
        self._seen = True
        return None

    def _finish(self) -> SseEvent:
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        return SseEvent(kind=self._kind or "message", data=data, id=self._id, retry_ms=self._retry_ms)

    def _clear(self) -> None:
        self._data = []
        self._size = 0
        self._kind = self._id = ""
        self._retry_ms = None
        self._seen = False
