"""What a person should hear while output goes to a pipe: on standard error, a line each, whatever the format of the answer."""

from everturn.core.errors import FaultKind
from everturn.core.events import Level, ModelSwitched, Noticed, RetryScheduled
from everturn.frontends.headless.sink import Sink
from everturn.frontends.headless.view import Handlers

QUIET_TRIES = 1
"""A first failed attempt passes unnoticed; who waits longer, or has no network, is told why."""


class Complaints:
    def __init__(self, err: Sink) -> None:
        self._err = err

    @property
    def handlers(self) -> Handlers:
        return {Noticed: self._notice, RetryScheduled: self._retry, ModelSwitched: self._switched}

    def say(self, text: str) -> None:
        from everturn.frontends.harmless import make_line

        self._err.write_text(f"everturn: {make_line(text)}\n")

    def _notice(self, event: Noticed) -> None:
        if event.level is Level.WARNING:
            self.say(event.text)

    def _retry(self, event: RetryScheduled) -> None:
        if event.attempt > QUIET_TRIES or event.error == FaultKind.CONNECTION:
            count = f"attempt {event.attempt} of {event.max_tries}, next in {event.delay_s:.1f} s"
            self.say(f"{event.text.rstrip('.')} ({count})")

    def _switched(self, event: ModelSwitched) -> None:
        self.say(f"{event.model} answers instead of {event.before}")
