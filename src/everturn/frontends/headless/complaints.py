"""Messages on standard error while the answer goes to a pipe: one line each, in every output format."""

import asyncio

from everturn.core.events import (
    CompactionBegan,
    CompactionEnded,
    Level,
    MessageBegan,
    ModelSwitched,
    Noticed,
    RequestStarted,
    RetryScheduled,
)
from everturn.frontends.headless.sink import Sink
from everturn.frontends.headless.view import Handlers

MIN_SILENCE_S = 10.0
"""A wait that takes longer is told, and told again each time it has doubled."""


class Complaints:
    def __init__(self, err: Sink, *, silence_s: float = MIN_SILENCE_S) -> None:
        self._err = err
        self._silence_s = silence_s
        self._model = ""
        self._timer: asyncio.TimerHandle | None = None

    @property
    def handlers(self) -> Handlers:
        return {
            Noticed: self._notice,
            RequestStarted: self._request,
            MessageBegan: self._begun,
            RetryScheduled: self._retry,
            ModelSwitched: self._switched,
            CompactionBegan: self._compaction_began,
            CompactionEnded: self._compaction_ended,
        }

    def say(self, text: str) -> None:
        from everturn.frontends.harmless import make_line

        self._err.write_text(f"everturn: {make_line(text)}\n")

    def close(self) -> None:
        """Nothing is waited for any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _notice(self, event: Noticed) -> None:
        if event.level is Level.WARNING:
            self.say(event.text)

    def _request(self, event: RequestStarted) -> None:
        self._model = event.model
        self._watch(f"waiting for {event.model}")

    def _begun(self, _event: MessageBegan) -> None:
        self.close()

    def _retry(self, event: RetryScheduled) -> None:
        count = f"attempt {event.attempt} of {event.max_tries}, next in {event.delay_s:.1f} s"
        self.say(f"{event.text.rstrip('.')} ({count})")
        self._watch(f"waiting for {self._model}", event.delay_s)

    def _switched(self, event: ModelSwitched) -> None:
        self.say(f"{event.model} answers instead of {event.before}")
        self._model = event.model
        self._watch(f"waiting for {event.model}")

    def _compaction_began(self, _event: CompactionBegan) -> None:
        self._watch("summarising the conversation")

    def _compaction_ended(self, _event: CompactionEnded) -> None:
        self._watch(f"waiting for {self._model}")

    def _watch(self, what: str, after_s: float = 0.0) -> None:
        """The wait begins in `after_s` seconds."""
        self.close()
        self._timer = asyncio.get_running_loop().call_later(
            after_s + self._silence_s, self._tell, what, self._silence_s
        )

    def _tell(self, what: str, waited_s: float) -> None:
        self.say(f"{what}, for {waited_s:g} s so far")
        self._timer = asyncio.get_running_loop().call_later(waited_s, self._tell, what, 2 * waited_s)
