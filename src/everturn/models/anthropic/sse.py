"""From the bytes of a response to the payloads of its events: server-sent events, parsed strictly and incrementally."""

import json
from collections.abc import Iterable

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.patterns import compile_late

BOM = b"\xef\xbb\xbf"
EVENT_CAP = 80_000_000
"""The most bytes that one event may take."""
_PLAIN_EVENT = compile_late(rb"event: (?!error\n)[^\n]*\ndata: ([^\n]*)\n\n")


class SseParser:
    """Feed it the body in any pieces; the payloads are the same for every way to cut it.

    Names of events do not matter, for the payload says what it is; `error` alone is kept, as a payload that says so.
    """

    def __init__(self, *, event_cap: int = EVENT_CAP) -> None:
        self._cap = event_cap
        self._start: bytes | None = b""
        """The first bytes, until it is known whether they are a byte order mark; then None."""
        self._open: list[bytes] = []
        """Pieces of a line that has not ended."""
        self._open_size = 0
        self._after_cr = False
        self._data: list[bytes] = []
        """Data lines of an event that has not ended."""
        self._data_size = 0
        self._failed = False

    def feed(self, piece: bytes) -> list[bytes]:
        """Payloads of the events that this piece ended. Raises `ModelFault` for an event beyond the cap."""
        if self._start is not None:
            piece = self._start + piece
            if len(piece) < len(BOM) and BOM.startswith(piece):
                self._start = piece
                return []
            self._start = None
            piece = piece.removeprefix(BOM)
        if self._after_cr and piece:
            piece = piece.removeprefix(b"\n")
            self._after_cr = False
        if piece.endswith(b"\n"):
            is_fresh = not (self._open or self._data or self._failed) and len(piece) < self._cap
            plain = split_plain(piece) if is_fresh else None
            return self._read(self._line_up(piece)) if plain is None else plain
        end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        if not end:
            self._hold(piece)
            return []
        self._after_cr = end == len(piece)
        payloads = self._read(self._line_up(piece[:end]))
        self._hold(piece[end:])
        return payloads

    def _line_up(self, ended: bytes) -> list[bytes]:
        """The lines that are whole now; bytes split at LF, CRLF and CR alone, just as the standard has it."""
        if self._open:
            ended = b"".join((*self._open, ended))
            self._open.clear()
            self._open_size = 0
        return ended.splitlines()

    def _read(self, lines: list[bytes]) -> list[bytes]:
        payloads = []
        weighed = len(self._data)
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            elif not line:
                if self._data or self._failed:
                    payloads.append(self._take())
            elif line.startswith(b"event:"):
                self._failed = line[6:].removeprefix(b" ") == b"error"
            elif line == b"data":
                self._data.append(b"")
        if self._data:
            self._weigh(self._data[0 if payloads else weighed :])
        return payloads

    def _take(self) -> bytes:
        payload = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        if self._failed and b'"error"' not in payload:
            payload = encode_failure(payload)
        self._data.clear()
        self._data_size = 0
        self._failed = False
        return payload

    def _hold(self, piece: bytes) -> None:
        if piece:
            self._open.append(piece)
            self._open_size += len(piece)
            self._weigh(())

    def _weigh(self, lines: Iterable[bytes]) -> None:
        self._data_size += sum(map(len, lines))
        if self._data_size + self._open_size > self._cap:
            limit = f"{self._cap / 1_000_000:g} MB"
            raise ModelFault(FaultKind.OVERSIZED, f"One event of the stream is larger than {limit}.")


def split_plain(piece: bytes) -> list[bytes] | None:
    """The payloads of whole events, each a name and one line of data, as the API sends them; None for anything else."""
    between = _PLAIN_EVENT.split(piece)
    payloads = between[1::2]
    del between[1::2]
    return None if any(between) or b"\r" in piece else payloads


def encode_failure(payload: bytes) -> bytes:
    """An error event whose payload does not say that it is one."""
    said = payload.decode("utf-8", "replace")[:1_000]
    return json.dumps({"type": "error", "error": {"message": "" if said == "null" else said}}).encode()
