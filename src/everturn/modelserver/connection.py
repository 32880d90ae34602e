"""One HTTP/1.1 connection: reads requests, writes answers, and can misbehave on purpose."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable
from http import HTTPStatus

import h11
import msgspec

from everturn.modelserver.steps import Head

_READ = 1 << 16
_SETTLE = 0.05
"""Seconds before a reset: it would overtake what the client has not read yet."""
_RESET = struct.pack("ii", 1, 0)


class ClientLeftError(Exception):
    """The client closed the connection while an answer was under way."""


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    target: str
    headers: dict[str, str]
    """Names in lower case; repeated ones joined by commas."""
    body: bytes
    """At most `limit` bytes of it."""
    size: int
    """How many came."""


class ClientConnection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER)
        self._framed = True
        self._bodiless = False
        # Each write reaches the kernel before the next step, so that a cut falls where the script wants it.
        # Not 0: TLS in asyncio would count an empty buffer as full and never go on.
        writer.transport.set_write_buffer_limits(high=1, low=0)

    async def next_request(self, limit: int) -> Incoming | None:
        """The next request; None when there will be none. May raise h11.RemoteProtocolError."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        if self._http.our_state is not h11.IDLE:
            return None
        request: h11.Request | None = None
        body = bytearray()
        size = 0
        while True:
            match await self._event():
                case h11.Request() as request:
                    if self._http.they_are_waiting_for_100_continue:
                        await self._send(h11.InformationalResponse(status_code=100, headers=[]))
                case h11.Data(data=data):
                    size += len(data)
                    body += data[: max(0, limit - len(body))]
                case h11.EndOfMessage() if request:
                    self._bodiless = request.method == b"HEAD"
                    return _incoming(request, bytes(body), size)
                case _:
                    return None

    async def _event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self._reader.read(_READ))
        return event

    async def begin(self, head: Head) -> None:
        phrase = _phrase(head.status)
        if head.framing == "close":
            self._framed = False
            lines = [f"HTTP/1.1 {head.status} {phrase}", *(f"{name}: {value}" for name, value in head.headers.items())]
            await self.send("".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1"))
        else:
            headers = [(name, value) for name, value in head.headers.items()]
            await self._send(h11.Response(status_code=head.status, headers=headers, reason=phrase.encode()))

    async def send(self, data: bytes) -> None:
        """A piece of the body, in its frame where there is one; nothing in answer to HEAD."""
        if self._bodiless:
            return
        if self._framed and self._http.our_state is h11.SEND_BODY:
            await self._send(h11.Data(data=data))
        else:
            await self._write(data)

    async def finish(self) -> None:
        """End the body as HTTP wants it."""
        if self._framed:
            await self._send(h11.EndOfMessage())

    async def _send(self, event: h11.Event) -> None:
        await self._write(self._http.send(event) or b"")

    async def _write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
            # A drained buffer does not make us wait, but a client in the same loop must have its turn.
            await asyncio.sleep(0)
        except ConnectionError as error:
            raise ClientLeftError from error

    async def wait(self, until: Awaitable[object]) -> None:
        """Wait for something, but no longer than the client does."""
        leaving = asyncio.ensure_future(self.gone())
        waiting = asyncio.ensure_future(until)
        try:
            await asyncio.wait({leaving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise ClientLeftError
        finally:
            for task in (leaving, waiting):
                task.cancel()
            await asyncio.gather(leaving, waiting, return_exceptions=True)

    async def gone(self) -> None:
        """Return when the client has left; what it sends meanwhile is kept for the next request."""
        with contextlib.suppress(ConnectionError):
            while data := await self._reader.read(_READ):
                self._http.receive_data(data)

    async def reset(self) -> None:
        await asyncio.sleep(_SETTLE)
        raw: socket.socket | None = self._writer.get_extra_info("socket")
        if raw is not None:
            with contextlib.suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._writer.transport.abort()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError, TimeoutError, OSError):
            await self._writer.wait_closed()

    def abort(self) -> None:
        self._writer.transport.abort()


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _incoming(request: h11.Request, body: bytes, size: int) -> Incoming:
    headers: dict[str, str] = {}
    for name, value in request.headers:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return Incoming(
        method=request.method.decode(), target=request.target.decode("latin-1"), headers=headers, body=body, size=size
    )
