"""Undoes gzip and deflate while a body comes, in small steps, so that a bomb costs no more than the room it is given."""

import zlib
from collections.abc import Iterator

from everturn.core.errors import ToolFault

STEP = 65_536
_GZIP = 16 + zlib.MAX_WBITS


class Inflater:
    """For one body. An empty coding, or `identity`, leaves it as it is. Raises `ToolFault`."""

    def __init__(self, coding: str) -> None:
        self._coding = coding.strip().lower()
        if self._coding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
            raise ToolFault(f"The server sent the page as {self._coding[:40]!r}, which was not asked for.")
        self._plain = self._coding in {"", "identity"}
        self._bits = zlib.MAX_WBITS if self._coding == "deflate" else _GZIP
        self._inflate = zlib.decompressobj(self._bits)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._plain:
            yield data
            return
        try:
            while data:
                if self._inflate.eof:
                    # A gzip body may consist of several members.
                    self._inflate = zlib.decompressobj(self._bits)
                yield self._step(data)
                self._begun = True
                data = self._inflate.unconsumed_tail or self._inflate.unused_data
        except zlib.error:
            raise ToolFault(f"The server says that the page is {self._coding}, but it is not.") from None

    def _step(self, data: bytes) -> bytes:
        try:
            return self._inflate.decompress(data, STEP)
        except zlib.error:
            if self._begun or self._coding != "deflate":
                raise
            # `deflate` means zlib, but some servers leave its header out.
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._inflate.decompress(data, STEP)
