"""Takes messages out of a server's output: whole lines in, however they come in pieces. Pure."""

MAX_MESSAGE = 64_000_000
"""Bytes of one message. What is larger is skipped to its end; only its edges are kept."""
EDGE = 1_024


class TooLarge:
    """A line that was skipped: what it began and ended with, to find out what it answered."""

    __slots__ = ("head", "size", "tail")

    def __init__(self, head: bytes, tail: bytes, size: int) -> None:
        self.head = head
        self.tail = tail
        self.size = size


class MessageLines:
    def __init__(self, most: int = MAX_MESSAGE) -> None:
        self._most = most
        self._open: list[bytes] = []
        self._size = 0
        """Of the line that is not finished."""

    def feed(self, data: bytes) -> list[bytes | TooLarge]:
        """The lines that this piece finishes, without their ends; empty ones are left out."""
        *whole, rest = data.split(b"\n")
        lines: list[bytes | TooLarge] = []
        for part in whole:
            if self._size:
                line = self._finish(part)
                if isinstance(line, TooLarge) or line:
                    lines.append(line)
            elif part := part.strip():
                lines.append(part)
        if rest:
            self._hold(rest)
        return lines

    @property
    def unfinished(self) -> bytes:
        """What is there of a line whose end has not come."""
        return b"".join(self._open)[:EDGE]

    def _hold(self, part: bytes) -> None:
        self._open.append(part)
        self._size += len(part)
        if self._size > self._most:
            head, tail = self._open[0], b"".join(self._open[-2:])
            self._open = [head[:EDGE], tail[-EDGE:]]

    def _finish(self, part: bytes) -> bytes | TooLarge:
        self._hold(part)
        held, size = self._open, self._size
        self._open, self._size = [], 0
        if size > self._most:
            return TooLarge(held[0], held[-1], size)
        return b"".join(held).strip()
