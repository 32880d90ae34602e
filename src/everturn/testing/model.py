"""Models without a network: one that plays a script, and one that plays it through bad weather."""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from itertools import takewhile
from random import Random

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.stream import MessageChanged, MessageStopped, StreamEvent
from everturn.modelserver.answers import Answer
from everturn.modelserver.sentences import text
from everturn.ports.model import Request
from everturn.testing.answers import count_calls, play

Scene = Answer | str | Sequence[StreamEvent] | Callable[[Request], Answer | str]
"""What one call plays: an answer in the model server's words, its very events, or a function that looks at the request first."""

WEATHER = (
    FaultKind.OVERLOADED,
    FaultKind.RATE_LIMITED,
    FaultKind.SERVER,
    FaultKind.TIMEOUT,
    FaultKind.CONNECTION,
    FaultKind.STALLED,
)
"""Faults that pass."""


ENDING = (MessageChanged, MessageStopped)


class ScriptedModel:
    """Each call plays the next scene; `requests` keeps what was asked.

    When the script is at its end it says `done`, or with `repeat_last` plays its last scene again and again.
    """

    def __init__(self, *scenes: Scene, repeat_last: bool = False) -> None:
        self.requests: list[Request] = []
        self.closed = False
        self._scenes = list(scenes)
        self._repeat_last = repeat_last
        self._next = 0
        self._calls = 1

    def plays(self, *scenes: Scene) -> None:
        """Adds to the script."""
        self._scenes.extend(scenes)

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        for event in self._take(request):
            yield event

    async def count_tokens(self, request: Request) -> int:
        self.requests.append(request)
        return estimate_input(request)

    async def aclose(self) -> None:
        self.closed = True

    def _take(self, request: Request) -> Iterator[StreamEvent]:
        self.requests.append(request)
        events = self._perform(request)
        self._next += 1
        return events

    def _perform(self, request: Request) -> Iterator[StreamEvent]:
        """The events of the scene whose turn it is; does not go on to the next."""
        scene = self._scene()
        if isinstance(scene, Sequence) and not isinstance(scene, str):
            return iter(scene)
        made = scene(request) if callable(scene) else scene
        answer = text(made) if isinstance(made, str) else made
        first, self._calls = self._calls, self._calls + count_calls(answer)
        return play(
            answer,
            api_id=f"msg_{len(self.requests)}",
            model=request.model,
            input_tokens=estimate_input(request),
            first_call=first,
        )

    def _scene(self) -> Scene:
        if self._next < len(self._scenes):
            return self._scenes[self._next]
        return self._scenes[-1] if self._repeat_last and self._scenes else "done"


class ChaosModel(ScriptedModel):
    """Plays the same script, but some attempts fail or break off; a scene counts as played when it came through.

    The generator's seed makes it repeatable. At most `in_a_row` attempts fail one after the other, so that whoever
    retries often enough gets there.
    """

    def __init__(self, *scenes: Scene, rng: Random, odds: float = 0.4, in_a_row: int = 3) -> None:
        super().__init__(*scenes)
        self.faults = 0
        self._rng = rng
        self._odds = odds
        self._most = in_a_row
        self._streak = 0

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        if self._streak >= self._most or self._rng.random() >= self._odds:
            self._streak = 0
            for event in self._take(request):
                yield event
            return
        self._streak += 1
        self.faults += 1
        self.requests.append(request)
        kind = self._rng.choice(WEATHER)
        if self._rng.random() < 1 / 2:
            raise ModelFault(kind, f"Bad weather: {kind}.", retry_after=self._rng.choice((None, 1.0)))
        # With its stop reason a response would be complete: the scene would have come through after all.
        growing = list(takewhile(lambda event: not isinstance(event, ENDING), self._perform(request)))
        for event in growing[: self._rng.randrange(1, max(2, len(growing)))]:
            yield event
        if self._rng.random() < 1 / 2 or not growing:
            raise ModelFault(FaultKind.STREAM_BROKEN, "Bad weather: the stream broke.")


def estimate_input(request: Request) -> int:
    return 1 + sum(block.tokens for wire in request.messages for block in wire.blocks)
