"""Turn-taking on the terminal: the view shows everything that came before a question, then waits until it is answered."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager


class _Turn:
    def __init__(self) -> None:
        self.given = asyncio.Event()
        self.over = asyncio.Event()


class Floor:
    """Questions come one at a time, in the order of their events, because the view comes to them one at a time."""

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._turns: dict[str, _Turn] = {}
        self._elapsed = elapsed
        self.waited_s = 0.0
        """How long the view has waited for answers, all in all."""

    @asynccontextmanager
    async def taken(self, tool_use_id: str) -> AsyncGenerator[None]:
        """For who asks: entered when the view has come to the question; whatever happens, the view goes on after it."""
        turn = self._turns[tool_use_id] = _Turn()
        try:
            await turn.given.wait()
            yield
        finally:
            del self._turns[tool_use_id]
            turn.over.set()

    async def give(self, tool_use_id: str) -> None:
        """For the view: returns when the question is answered, or at once where nobody asks it any more."""
        if (turn := self._turns.get(tool_use_id)) is not None:
            began_s = self._elapsed()
            turn.given.set()
            await turn.over.wait()
            self.waited_s += self._elapsed() - began_s
