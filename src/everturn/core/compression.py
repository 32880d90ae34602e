"""Decompresses gzip and deflate in small steps while a body is received, so that a small body that expands to a huge one is noticed early. Pure."""

import zlib
from collections.abc import Iterator

MAX_STEP = 65_536
"""Bytes that one step unpacks at most."""
MAX_LAYERS = 5
"""Codings on top of each other; servers use one."""
_GZIP = 16 + zlib.MAX_WBITS


class CompressionError(ValueError):
    """The body is not what its header says."""


class UnknownCodingError(ValueError):
    """`name` is a coding that is not known here, or more of them than anybody needs."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Inflater:
    """For one body: its header `content-encoding`, several layers included. Raises `UnknownCodingError`.

    An empty header, or `identity`, leaves the body as it is.
    """

    def __init__(self, encoding: str) -> None:
        codings = [name for part in encoding.split(",") if (name := part.strip().lower()) not in {"", "identity"}]
        self.encoding = ", ".join(codings)
        """What the body is packed with, as a person reads it."""
        if len(codings) > MAX_LAYERS:
            raise UnknownCodingError(self.encoding)
        self._layers = [_Layer(name) for name in reversed(codings)]

    @property
    def is_plain(self) -> bool:
        """Nothing is packed: the pieces mean themselves."""
        return not self._layers

    @property
    def broken_off(self) -> bool:
        """The body that was fed so far is not whole."""
        return any(layer.broken_off for layer in self._layers)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What the next piece of the body means, in steps. Raises `CompressionError`."""
        try:
            yield from self._unpack(data, 0)
        except zlib.error as error:
            raise CompressionError(str(error)) from None

    def _unpack(self, data: bytes, depth: int) -> Iterator[bytes]:
        if depth == len(self._layers):
            if data:
                yield data
            return
        for piece in self._layers[depth].feed(data):
            yield from self._unpack(piece, depth + 1)


class _Layer:
    def __init__(self, coding: str) -> None:
        if coding not in {"gzip", "x-gzip", "deflate"}:
            raise UnknownCodingError(coding)
        self._bits = zlib.MAX_WBITS if coding == "deflate" else _GZIP
        self._may_lack_header = coding == "deflate"
        self._inflate = zlib.decompressobj(self._bits)
        self._begun = False

    @property
    def broken_off(self) -> bool:
        return self._begun and not self._inflate.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._inflate.eof:
                # A gzip body may consist of several members, one after the other.
                self._inflate = zlib.decompressobj(self._bits)
            yield self._step(data)
            self._begun = True
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
        while not self._inflate.eof and (rest := self._inflate.decompress(b"", MAX_STEP)):
            yield rest

    def _step(self, data: bytes) -> bytes:
        try:
            return self._inflate.decompress(data, MAX_STEP)
        except zlib.error:
            if self._begun or not self._may_lack_header:
                raise
            # `deflate` means zlib, but some servers leave its header out.
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._inflate.decompress(data, MAX_STEP)
