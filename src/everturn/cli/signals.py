"""Ctrl-C and SIGTERM: the first ends the query cleanly, the second ends the program."""

import asyncio
import os
import signal
from typing import Any, Protocol

from everturn.core.state import AbortCause, Exit
from everturn.ports.tasks import Tasks

LAST_WORDS_S = 0.5
"""After a second signal: time to end what the query has started."""
MEANING = {
    signal.SIGINT: (AbortCause.USER, Exit.INTERRUPTED),
    signal.SIGTERM: (AbortCause.TERMINATED, Exit.TERMINATED),
    signal.SIGHUP: (AbortCause.TERMINATED, Exit.TERMINATED),
}


class Abortable(Protocol):
    @property
    def is_busy(self) -> bool: ...

    @property
    def tasks(self) -> Tasks: ...

    def abort(self, cause: AbortCause = AbortCause.USER) -> None: ...


class Interruptions:
    """Listens from its making; `task` is the program's, cancelled where there is no query to end."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task
        self._engine: Abortable | None = None
        self.exit: Exit | None = None
        """Of the first signal that came."""
        self._loop = asyncio.get_running_loop()
        for number in MEANING:
            self._loop.add_signal_handler(number, self._receive, number)

    def guard(self, engine: Abortable) -> None:
        self._engine = engine

    def _receive(self, number: signal.Signals) -> None:
        cause, code = MEANING[number]
        is_first = self.exit is None
        self.exit = self.exit or code
        if is_first and self._engine is not None and self._engine.is_busy:
            self._engine.abort(cause)
            return
        self._task.cancel()
        self._loop.call_later(LAST_WORDS_S, self._leave)

    def _leave(self) -> None:
        if self._engine is not None:
            self._engine.tasks.kill()
        os._exit(self.exit or Exit.INTERRUPTED)
