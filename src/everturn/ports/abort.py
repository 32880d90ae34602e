"""The abort signal: it ends a query, and has the cause of the first interruption."""

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from everturn.core.outcomes import Problem
from everturn.core.state import AbortCause, Reason

if TYPE_CHECKING:
    # A program that only lists sessions does without this import.
    import asyncio

T = TypeVar("T")


class AbortedError(Exception):
    """Ends an action that was interrupted. It never leaves the loop."""


class AbortSignal:
    """Tells everything that runs in a query that the query is interrupted. The first cause counts."""

    def __init__(self) -> None:
        self.cause: AbortCause | None = None
        self.limit: tuple[Reason, Problem] | None = None
        """Set in place of `cause` where a limit ended the query."""
        self._event: asyncio.Event | None = None
        self._guards: set[asyncio.Timeout] = set()

    @property
    def raised(self) -> bool:
        """The query is interrupted."""
        return self.cause is not None or self.limit is not None

    def abort(self, cause: AbortCause = AbortCause.USER) -> None:
        if not self.raised:
            self.cause = cause
            self._set()

    def trip(self, reason: Reason, problem: Problem) -> None:
        if not self.raised:
            self.limit = (reason, problem)
            self._set()

    async def wait(self) -> None:
        """Returns when the query is interrupted."""
        if self._event is None:
            import asyncio

            self._event = asyncio.Event()
            if self.raised:
                self._event.set()
        await self._event.wait()

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """Awaits `work` and returns its result. When the query is interrupted, cancels it and raises `AbortedError`."""
        import asyncio

        if self.raised:
            work.close()
            raise AbortedError
        try:
            # A time limit without a time: it cancels this very task when the signal is raised, and no task is made for it.
            async with asyncio.timeout(None) as limit:
                self._guards.add(limit)
                try:
                    result = await work
                finally:
                    self._guards.remove(limit)
        except Exception as error:
            if self.raised:
                raise AbortedError from error
            raise
        if self.raised:
            raise AbortedError
        return result

    def _set(self) -> None:
        if self._event is not None:
            self._event.set()
        if not self._guards:
            return
        import asyncio

        now = asyncio.get_running_loop().time()
        for limit in self._guards:
            limit.reschedule(now)
