"""One command from its start to its end: its processes, its output, and the report of its shell."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING

from everturn.core.errors import ToolFault
from everturn.core.limits import Limits
from everturn.ports.abort import AbortedError, AbortSignal
from everturn.tools.bash.output import LiveOutput, Output
from everturn.tools.bash.overload import Overload
from everturn.tools.bash.process import Begun, ProcessGroup, begin_process
from everturn.tools.bash.shell import CommandStart
from everturn.tools.bash.shell_report import MAX_BYTES, ShellReport, parse_report

if TYPE_CHECKING:
    from everturn.ports.sandbox import Cell

MAX_PRINTED = 5 * 1024**3
"""Bytes. Who prints more prints for ever."""
_PIECE = 65_536
_EXPLAINED = 10_000
"""Characters of the output in which signs of a sandbox are looked for."""
_LISTEN_S = 0.05
_MOMENT_S = 0.001
_LOOK_S = 0.1
_SIGNALLED = 128
_LIMITS = Limits()


class CommandEnding(Enum):
    EXITED = "exited"
    TIMED_OUT = "timed out"
    ABORTED = "aborted"
    FLOODED = "flooded"
    OVERLOADED = "overloaded"


class RunningCommand:
    """Close it at its end: then nothing of it runs that can be ended, and no descriptor is left."""

    def __init__(
        self,
        start: CommandStart,
        output: Output,
        show: Callable[[str], None],
        *,
        most_printed: int = MAX_PRINTED,
        cell: "Cell | None" = None,
        limits: Limits = _LIMITS,
    ) -> None:
        """`cell`: what it is confined to, closed with it. Raises `ToolFault` when it cannot start: then the caller closes the cell."""
        self.start = start
        self._cell = cell
        self.output = output
        self._most_printed = most_printed
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._progress: LiveOutput | None = LiveOutput(show)
        self._flooded = False
        self.overload = ""
        """What it took too much of; empty where it did not."""
        self._waiter: asyncio.Future[None] | None = None
        """Of the one who waits, first in the foreground, then in the background."""
        self.is_behind = False
        self._told = b""
        begun = begin(start, cell)
        self._heard = begun.report
        if cell:
            cell.note_started()
        self._group = ProcessGroup(
            begun, mark=start.mark, take=self._take, note_end=self._wake, confined=cell.start if cell else None
        )
        # A report that fills the pipe must not keep the shell waiting for long. Most are short: to wake for them costs more.
        self._listening = self._loop.call_later(_LISTEN_S, self._loop.add_reader, self._heard, self._hear)
        self.ended = self._group.ended
        self._overload = Overload(limits, self._group.find_members, self._note_overload, cell.room if cell else None)

    @property
    def elapsed_s(self) -> float:
        return self._loop.time() - self._began

    def move_behind(self) -> None:
        """Nobody watches it any more; its output goes to a file."""
        self.is_behind = True
        self._progress = None
        if self._cell:
            self._cell.stop_asking()
        self.output.save()

    async def wait(self, seconds: float | None, abort: AbortSignal | None = None) -> CommandEnding:
        """Until it ends, or something else happens: then it may still run, and `end` is for the caller.

        While a person is asked about something that it wants, its time stands still.
        """
        work = self._wait(seconds)
        aborted = False
        try:
            await (abort.guard(work) if abort is not None else work)
        except AbortedError:
            aborted = True
        if self.overload:
            return CommandEnding.OVERLOADED
        if self.ended.done():
            return CommandEnding.EXITED
        if aborted:
            return CommandEnding.ABORTED
        return CommandEnding.FLOODED if self._flooded else CommandEnding.TIMED_OUT

    async def _wait(self, seconds: float | None) -> None:
        until, left = self._own_time + (seconds or 0), seconds
        while not self._has_news:
            self._waiter = self._loop.create_future()
            alarm = None if left is None else self._loop.call_later(left, self._wake)
            try:
                await self._waiter
            finally:
                if alarm is not None:
                    alarm.cancel()
            if seconds is not None and until - self._own_time < _MOMENT_S:
                return
            # A person was asked meanwhile, or is: then we look again from time to time.
            left = max(until - self._own_time, _LOOK_S)

    @property
    def _has_news(self) -> bool:
        return self.ended.done() or self._flooded or bool(self.overload)

    def _wake(self) -> None:
        """Whoever waits is woken at once: with `asyncio.wait` it would take another round of the event loop."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    @property
    def _own_time(self) -> float:
        return self._loop.time() - (self._cell.asked_s if self._cell else 0.0)

    async def end(self, grace_s: float) -> None:
        await self._group.end(grace_s)

    def report(self) -> ShellReport | None:
        while self._hear():
            pass
        return parse_report(self._told) if 0 < len(self._told) <= MAX_BYTES else None

    @property
    def code(self) -> int:
        """Of the shell, once it has ended. A wrapper cannot die of its signal: a shell that told nothing was killed by it."""
        code = self.ended.result()
        is_wrapped = self._cell is not None and self._cell.start.wrapped
        if is_wrapped and _SIGNALLED < code < _SIGNALLED + signal.NSIG and self.report() is None:
            return _SIGNALLED - code
        return code

    def explain(self, code: int | None) -> tuple[str, ...]:
        """What a sandbox held back."""
        return self._cell.explain(self.output.render(_EXPLAINED)[0], code) if self._cell else ()

    def find_refusals(self, code: int | None) -> tuple[str, ...]:
        """Of a held command: lines of its output that seem to say that the system refused it something."""
        return self._cell.find_refusals(self.output.render(_EXPLAINED)[0], code) if self._cell else ()

    def close(self) -> None:
        steps: list[Callable[[], object]] = [self._overload.close]
        if not self.ended.done():
            steps.append(self._group.kill)
        steps.append(self._group.close)
        if self._cell:
            steps.append(self._cell.close)
        steps += [self.output.close, self._listening.cancel]
        steps += [lambda: self._loop.remove_reader(self._heard), lambda: os.close(self._heard)]
        run_all(steps)

    def _hear(self) -> bool:
        try:
            data = os.read(self._heard, _PIECE)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove_reader(self._heard)
        # More than anybody exports is no report. It is heard to its end: the shell must not wait for us.
        if len(self._told) <= MAX_BYTES:
            self._told += data
        return bool(data)

    def _note_overload(self, reason: str) -> None:
        if not self.overload:
            self.overload = reason
            # Before anything else: there may be more of them by then.
            self._group.kill_group()
            self._wake()

    def _take(self, data: bytes) -> None:
        shown = self.output.feed(data)
        if self._progress is not None and shown:
            self._progress.feed(shown)
        if self.output.length > self._most_printed and not self._flooded:
            self._flooded = True
            self._wake()


def begin(start: CommandStart, cell: "Cell | None") -> Begun:
    """Raises `ToolFault` when it cannot start."""
    if start.waiting is not None and (begun := start.waiting.begin(start.words)) is not None:
        return begun
    try:
        return begin_process(start.arguments, start.environment, cell.start if cell else None)
    except (OSError, ValueError) as error:
        raise ToolFault(f"The command could not be started: {error}") from None


def run_all(steps: Iterable[Callable[[], object]]) -> None:
    """Each happens whatever becomes of the others; what the first of them raised is raised then. Cheaper than an `ExitStack`."""
    failures: list[BaseException] = []
    for step in steps:
        try:
            step()
        except BaseException as error:  # noqa: BLE001 (raised again below)
            failures.append(error)
    if failures:
        raise failures[0]
