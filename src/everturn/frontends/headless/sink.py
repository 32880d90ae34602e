"""Where output goes: bytes, flushed at once. After the reader has closed the pipe, writes do nothing instead of raising."""

import errno
import os
from typing import BinaryIO

USUAL_SIZE = (80, 24)


class Sink:
    def __init__(self, file: BinaryIO | None) -> None:
        self._file = file
        self.lost: OSError | None = None if file is not None else OSError(errno.EBADF, os.strerror(errno.EBADF))
        """Why nothing is written any more."""

    @property
    def broken_pipe(self) -> bool:
        return isinstance(self.lost, BrokenPipeError)

    def write(self, data: bytes) -> None:
        if self._file is None or self.lost is not None:
            return
        try:
            self._file.write(data)
            self._file.flush()
        except ValueError:
            self.lost = OSError(errno.EBADF, os.strerror(errno.EBADF))
        except OSError as error:
            self.lost = error
            self._drain()

    def write_text(self, text: str) -> None:
        """Strict UTF-8; half a character becomes a question mark."""
        self.write(text.encode("utf-8", "replace"))

    def escaped(self) -> "EscapedSink":
        """The same place, for lines of JSON that a terminal would obey in part."""
        return EscapedSink(self)

    def measure(self) -> tuple[int, int]:
        """Columns and rows of the terminal at the other end, or the usual ones."""
        try:
            columns, rows = os.get_terminal_size(self._file.fileno() if self._file is not None else -1)
        except (OSError, ValueError):
            return USUAL_SIZE
        return columns or USUAL_SIZE[0], rows or USUAL_SIZE[1]

    def _drain(self) -> None:
        """What is still in the buffer goes nowhere, so that the interpreter does not complain when it closes the file."""
        if self._file is None:
            return
        try:
            descriptor = self._file.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
        except (OSError, ValueError):
            return
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


class EscapedSink(Sink):
    """On a terminal: what it would obey is written out, and the JSON means the same."""

    def __init__(self, inner: Sink) -> None:
        super().__init__(None)
        self._inner = inner
        self.lost = inner.lost

    def write(self, data: bytes) -> None:
        from everturn.frontends.harmless import escape_unsafe

        self._inner.write_text(escape_unsafe(data.decode("utf-8", "replace")))
        self.lost = self._inner.lost
