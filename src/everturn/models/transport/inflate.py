"""Between the wire and the client: undoes gzip and deflate piece by piece, and stops at a cap."""

import zlib
from collections.abc import Iterator

from everturn.core.errors import FaultKind, ModelFault

PIECE = 65_536
"""The most that one step unpacks; a bomb never costs more than this at once."""
_GZIP = 16 + zlib.MAX_WBITS


class Inflater:
    """Feed it what came, take what it means. Raises `ModelFault`: not what the header said, or larger than the cap."""

    def __init__(self, encoding: str, cap: int) -> None:
        self._codings = [name for part in encoding.split(",") if (name := part.strip().lower()) != "identity" and name]
        self._stages = [_stage(name) for name in reversed(self._codings)]
        self._cap = cap
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        for piece in self._unpack(data, 0):
            self._size += len(piece)
            if self._size > self._cap:
                limit = f"{self._cap / 1_000_000:g} MB"
                raise ModelFault(FaultKind.OVERSIZED, f"The response is larger than {limit}; the rest was not read.")
            yield piece

    def finish(self) -> None:
        """The body ended: a compressed one must be whole."""
        if any(stage.cut for stage in self._stages):
            raise ModelFault(FaultKind.STREAM_BROKEN, "The compressed response broke off.")

    def _unpack(self, data: bytes, depth: int) -> Iterator[bytes]:
        if depth == len(self._stages):
            if data:
                yield data
            return
        try:
            for piece in self._stages[depth].feed(data):
                yield from self._unpack(piece, depth + 1)
        except zlib.error:
            name = ", ".join(self._codings)
            raise ModelFault(FaultKind.STREAM_BROKEN, f"The response says it is {name}, but it is not.") from None


class _Stage:
    """One layer of compression."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._inflate = zlib.decompressobj(bits)
        self._fed = False

    @property
    def cut(self) -> bool:
        return self._fed and not self._inflate.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._inflate.eof:
                # A gzip body may consist of several members, one after the other.
                self._inflate = zlib.decompressobj(self._bits)
            yield self._step(data)
            self._fed = True
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
        while not self._inflate.eof and (rest := self._inflate.decompress(b"", PIECE)):
            yield rest

    def _step(self, data: bytes) -> bytes:
        return self._inflate.decompress(data, PIECE)


class _Deflate(_Stage):
    """`deflate` means zlib, but some servers leave its header out."""

    def __init__(self) -> None:
        super().__init__(zlib.MAX_WBITS)

    def _step(self, data: bytes) -> bytes:
        try:
            return super()._step(data)
        except zlib.error:
            if self._fed:
                raise
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            return super()._step(data)


def _stage(name: str) -> _Stage:
    match name:
        case "gzip" | "x-gzip":
            return _Stage(_GZIP)
        case "deflate":
            return _Deflate()
        case _:
            raise ModelFault(
                FaultKind.NOT_AN_API, f"The response is encoded as {name[:40]!r}, which was not asked for."
            )
