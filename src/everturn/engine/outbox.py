"""The queue of events from the loop to the caller: the loop never waits, the caller takes events in order."""

import asyncio
from collections import deque

from everturn.core.events import Event


class Outbox:
    """Is closed by the last event of a query; events after it reach the journal only."""

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
        """Returns when no more events will come, even if nobody took the last ones."""
        await self._finished.wait()

    async def wait(self) -> bool:
        """Waits for events to take. Returns False when no more will come."""
        while not self.events and self._is_open:
            self._waiter = self._loop.create_future()
            await self._waiter
        return bool(self.events)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        self._waiter = None
