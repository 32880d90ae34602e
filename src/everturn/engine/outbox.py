"""The way out: the loop puts events in without waiting, the caller takes them out in order."""

import asyncio
from collections import deque

from everturn.core.events import Event


class Outbox:
    """Closed by the last event: what comes later is for the journal, not for the query's consumer."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque()
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] | None = None
        self._finished = asyncio.Event()
        self._is_open = True

    def put(self, event: Event) -> None:
        if self._is_open:
            self.events.append(event)
            if self._waiter is not None:
                self._wake()

    def close(self) -> None:
        self._is_open = False
        self._finished.set()
        self._wake()

    async def wait_closed(self) -> None:
        """Returns when nothing more will come, whether or not anybody reads."""
        await self._finished.wait()

    async def wait(self) -> bool:
        """Returns when there are `events` to take; False when nothing more will come."""
        while not self.events and self._is_open:
            self._waiter = self._loop.create_future()
            await self._waiter
        return bool(self.events)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        self._waiter = None
