"""Ends the query when one of the ledger's limits is reached: money, tokens, calls, time, repetition."""

from everturn.core.events import RequestStarted
from everturn.engine.deps import Deps
from everturn.ports.abort import AbortSignal

MIN_WAIT_S = 0.001
"""Shortest wait in seconds: rounding could otherwise make it zero."""


class LimitWatch:
    def __init__(self, deps: Deps) -> None:
        self._ledger, self._clock = deps.ledger, deps.clock
        self._signal: AbortSignal | None = None
        """Signal of the running query; None where none runs."""

    def begin(self, signal: AbortSignal) -> None:
        self._signal = signal

    def end(self) -> None:
        self._signal = None

    def count_turn(self, event: RequestStarted) -> None:
        self._ledger.note_turn(event.turn)

    def check(self) -> None:
        """Checks the limits; called after each event that may have cost something."""
        signal = self._signal
        if signal is None or signal.raised:
            return
        if (limit := self._ledger.tripped(self._clock.elapsed())) is not None:
            signal.trip(*limit)

    @property
    def has_time_limit(self) -> bool:
        return self._ledger.time_left(self._clock.elapsed()) is not None

    async def watch_time(self) -> None:
        """Returns when the time limit is reached; is cancelled when the query ends first."""
        signal = self._signal
        while (left := self._ledger.time_left(self._clock.elapsed())) is not None and left > 0:
            await self._clock.sleep(max(left, MIN_WAIT_S))
        if self._signal is signal:
            self.check()
