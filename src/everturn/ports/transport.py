"""HTTP as clients of models and of MCP servers need it: one request, its answer streamed."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol


class Response(Protocol):
    """Header names are lower case."""

    status: int
    headers: Mapping[str, str]

    def body(self) -> AsyncIterator[bytes]:
        """Decoded (gzip, deflate) pieces as they come. Raises `ModelFault`: broken, silent too long, or too large."""
        ...

    async def aclose(self, max_wait_s: float = 0.0) -> None:
        """Close it always. A body that was not read to its end, and whose end does not come in this time, costs the connection."""
        ...


class Transport(Protocol):
    """Contract: raises `ModelFault` (connection, TLS, stalled) and nothing else; follows no redirect."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Response: ...

    async def warm(self, url: str) -> None:
        """Opens a connection ahead of the first request; a failure is kept quiet, the request will tell."""
        ...

    async def aclose(self) -> None: ...


class HttpTransport(Transport, Protocol):
    """For those who need more than POST, and to whom a request done twice is a mistake: `send` never repeats one by itself."""

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Response: ...
