"""The way out: the loop puts events in without waiting, the caller takes them out in order."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Iterator
from typing import Any

from everturn.core.events import Event


class Outbox:
    """Closed by the last event: what comes later is for the journal, not for the query's consumer."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._ready = asyncio.Event()
        self._finished = asyncio.Event()

    def put(self, event: Event) -> None:
        if not self._finished.is_set():
            self._events.append(event)
            self._ready.set()

    def close(self) -> None:
        self._finished.set()
        self._ready.set()

    async def wait_closed(self) -> None:
        """Returns when nothing more will come, whether or not anybody reads."""
        await self._finished.wait()

    async def wait(self) -> bool:
        """Returns when there are events to take; False when nothing more will come."""
        while not self._events and not self._finished.is_set():
            self._ready.clear()
            await self._ready.wait()
        return bool(self._events)

    def take(self) -> Iterator[Event]:
        """What is there, and what is put in meanwhile."""
        while self._events:
            yield self._events.popleft()


async def forward(outbox: Outbox, work: Coroutine[Any, Any, None]) -> AsyncGenerator[Event]:
    """Runs `work` beside its consumer and yields what it puts into the outbox; a consumer that leaves cancels it."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda _: outbox.close())
    try:
        while await outbox.wait():
            for event in outbox.take():
                yield event
    finally:
        task.cancel()
        await asyncio.wait({task})
    task.result()
