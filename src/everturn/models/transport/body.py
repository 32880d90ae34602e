"""The body of a response, decompressed piece by piece, up to a limit."""

from collections.abc import Iterable, Iterator

from everturn.core.compression import CompressionError, Inflater, UnknownCodingError
from everturn.core.errors import FaultKind, ModelFault


class ResponseBody:
    """Feed it what came, take what it means. Raises `ModelFault`: not what the header said, or larger than the cap."""

    def __init__(self, encoding: str, cap: int) -> None:
        self._cap = cap
        self._size = 0
        try:
            self._inflater = Inflater(encoding)
        except UnknownCodingError as error:
            raise ModelFault(
                FaultKind.NOT_AN_API, f"The response is encoded as {error.name[:40]!r}, which was not asked for."
            ) from None

    def feed(self, data: bytes) -> Iterable[bytes]:
        if self._inflater.is_plain:
            return (self._weigh(data),) if data else ()
        return self._unpack(data)

    def _unpack(self, data: bytes) -> Iterator[bytes]:
        try:
            yield from map(self._weigh, self._inflater.feed(data))
        except CompressionError:
            claimed = self._inflater.encoding
            raise ModelFault(FaultKind.STREAM_BROKEN, f"The response says it is {claimed}, but it is not.") from None

    def _weigh(self, piece: bytes) -> bytes:
        self._size += len(piece)
        if self._size > self._cap:
            limit = f"{self._cap / 1_000_000:g} MB"
            raise ModelFault(FaultKind.OVERSIZED, f"The response is larger than {limit}; the rest was not read.")
        return piece

    def finish(self) -> None:
        """The body ended: a compressed one must be whole."""
        if self._inflater.broken_off:
            raise ModelFault(FaultKind.STREAM_BROKEN, "The compressed response broke off.")
