"""The way out: the loop puts events in without waiting, the caller takes them out in order."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any

from everturn.core.events import Event


class Outbox:
    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._ready = asyncio.Event()
        self._finished = asyncio.Event()

    def put(self, event: Event) -> None:
        self._events.append(event)
        self._ready.set()

    def close(self) -> None:
        self._finished.set()
        self._ready.set()

    async def wait_closed(self) -> None:
        """Returns when nothing more will come, whether or not anybody reads."""
        await self._finished.wait()

    async def __aiter__(self) -> AsyncGenerator[Event]:
        while True:
            while self._events:
                yield self._events.popleft()
            if self._finished.is_set():
                return
            self._ready.clear()
            await self._ready.wait()


async def forward(outbox: Outbox, work: Coroutine[Any, Any, None]) -> AsyncGenerator[Event]:
    """Runs `work` beside its consumer and yields what it puts into the outbox; a consumer that leaves cancels it."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda _: outbox.close())
    try:
        async with aclosing(outbox.__aiter__()) as events:
            async for event in events:
                yield event
    finally:
        task.cancel()
        await asyncio.wait({task})
    task.result()
