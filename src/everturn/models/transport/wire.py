"""The bytes of one connection: received and not yet read, to be sent, and how long it has been silent."""

import asyncio
import math
from typing import Any

from everturn.models.transport.limits import CLOSE_S

HIGH_WATER = 1_048_576
"""So many unread bytes and the peer is asked to wait."""
PIECE = 262_144
"""A body is handed over in pieces of this size, each when the one before has gone."""


class HttpWire(asyncio.Protocol):
    """One reader and one writer at a time. Leaner than asyncio's streams: a turn crosses it a dozen times."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._received: list[bytes] = []
        self._unread = 0
        self._ended = False
        self._failure: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._is_full = False
        self._lost = self._loop.create_future()
        self._deadline = 0.0
        """Until when the one who waits goes on waiting."""
        self._alarm: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport

    @property
    def quiet(self) -> bool:
        """Nothing came that was not read, and nobody hung up."""
        return not (self._ended or self._received or self._transport.is_closing())

    async def read(self, silence_s: float) -> bytes:
        """All that came, or what comes next; empty at the end. Raises `TimeoutError` and `OSError`."""
        if not self._received and not self._ended:
            self._reader = self._loop.create_future()
            await self._wait(self._reader, silence_s)
        if self._received:
            data = b"".join(self._received) if len(self._received) > 1 else self._received[0]
            self._received.clear()
            if self._unread > HIGH_WATER:
                self._transport.resume_reading()
            self._unread = 0
            return data
        if self._failure is not None:
            raise self._failure
        return b""

    async def write(self, head: bytes, body: bytes, silence_s: float) -> None:
        """Returns when the peer has most of it. Raises `TimeoutError` and `OSError`.

        A server may answer and hang up before it has read a large body: its answer, if there is one, tells more.
        """
        view = memoryview(body)
        self._transport.write(b"".join((head, view[:PIECE])))
        await self._drain(silence_s)
        for start in range(PIECE, len(body), PIECE):
            if self._ended:
                return
            self._transport.write(view[start : start + PIECE])
            await self._drain(silence_s)

    async def close(self) -> None:
        """At once: whatever is still on its way is not wanted."""
        self._transport.abort()
        await asyncio.wait({self._lost}, timeout=CLOSE_S)

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received.append(data)
        self._unread += len(data)
        if self._unread > HIGH_WATER:
            self._transport.pause_reading()
        wake(self._reader)

    def eof_received(self) -> None:
        self._ended = True
        wake(self._reader)

    def connection_lost(self, error: Exception | None) -> None:
        self._ended = True
        self._failure = error
        for waiter in (self._reader, self._writer, self._lost):
            wake(waiter)
        if self._alarm is not None:
            self._alarm.cancel()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        wake(self._writer)

    async def _drain(self, silence_s: float) -> None:
        if self._is_full and not self._ended:
            self._writer = self._loop.create_future()
            await self._wait(self._writer, silence_s)
        if self._failure is not None and not self._received:
            raise self._failure

    async def _wait(self, waiter: asyncio.Future[None], silence_s: float) -> None:
        """The alarm stays set from wait to wait and looks, when it rings, whether it is due: most never are."""
        self._deadline = self._loop.time() + silence_s
        if self._alarm is not None and self._alarm.when() > self._deadline:
            self._alarm.cancel()
            self._alarm = None
        if self._alarm is None:
            self._alarm = self._loop.call_at(self._deadline, self._ring)
        try:
            await waiter
        finally:
            self._deadline = math.inf

    def _ring(self) -> None:
        self._alarm = None
        waiting = [waiter for waiter in (self._reader, self._writer) if waiter is not None and not waiter.done()]
        if waiting and self._deadline > self._loop.time():
            self._alarm = self._loop.call_at(self._deadline, self._ring)
            return
        for waiter in waiting:
            waiter.set_exception(TimeoutError())


def wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
