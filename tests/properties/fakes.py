"""The world of a case, faked: a model that plays the turn's script, a journal that tells what it heard, hooks that obey."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable
from typing import Any

import msgspec
from tests.properties.cases import Turn
from tests.properties.scenes import GOOD, Scene, play

from everturn.context.compact import INSTRUCTION
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.events import (
    AnswerAdded,
    CommandNoted,
    ContextChanged,
    Continued,
    Event,
    ModelSwitched,
    Retracted,
    Terminated,
    UsageReported,
    UserAdded,
    WorkCompleted,
)
from everturn.core.messages import Message, Text
from everturn.core.records import (
    CommandChanged,
    ContextAltered,
    MessageAdded,
    MessageRetracted,
    ModelChanged,
    QueryEnded,
    Record,
    ResultSpilled,
    TransitionTaken,
    UsageCharged,
    WorkSpent,
)
from everturn.core.stream import StreamEvent
from everturn.ports.hooks import (
    CompactInput,
    CompactVerdict,
    FailureInput,
    HookVerdict,
    Occasion,
    PostToolVerdict,
    StopInput,
    StopVerdict,
)
from everturn.ports.model import Request
from everturn.testing import MemoryJournal

CALLS_TO_SPIRAL = 500
"""A query that asks so often has no end."""


class Asked(msgspec.Struct, frozen=True):
    """One request, and how many records had been written when it was made."""

    request: Request
    records: int
    events: list[StreamEvent] = []
    """What came of it, as far as anybody took it."""

    @property
    def is_main(self) -> bool:
        """Not a side question, which has no tools or ends with the instruction to sum up."""
        last = self.request.messages[-1].blocks[-1].view
        return bool(self.request.tools) and not (isinstance(last, Text) and last.text.startswith(INSTRUCTION))


class StageModel:
    """Plays the script of the turn. Side questions have a script of their own."""

    def __init__(self, stage: Any) -> None:
        self._stage = stage
        self._ids = (f"toolu_{n}" for n in itertools.count(1))
        self.begin(Turn())

    def begin(self, turn: Turn) -> None:
        self._turn = turn
        self._main, self._sides = list(turn.script), list(turn.sides)

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent]:
        stage = self._stage
        asked = Asked(request, len(stage.journal.lines))
        stage.query.asked.append(asked)
        if len(stage.query.asked) > CALLS_TO_SPIRAL:
            raise ModelFault(FaultKind.AUTHENTICATION, "Enough.")
        scene = self._next_main() if asked.is_main else self._next_side()
        for event in play(scene, model=request.model, ids=self._ids):
            for _ in range(stage.knobs.pace):
                await asyncio.sleep(0)
            stage.happened("stream")
            asked.events.append(event)
            yield event

    async def count_tokens(self, request: Request) -> int:
        return 1

    async def aclose(self) -> None: ...

    def _next_main(self) -> Scene:
        if not self._main:
            return GOOD
        return self._main[0] if self._turn.encore and len(self._main) == 1 else self._main.pop(0)

    def _next_side(self) -> Scene:
        return self._sides.pop(0) if self._sides else GOOD


class StageJournal(MemoryJournal):
    def __init__(self, happened: Callable[[str], None]) -> None:
        super().__init__("session")
        self._happened = happened
        self._told: set[object] = set()

    def append(self, record: Record) -> None:
        super().append(record)
        self._told.add(trace_of(record))
        self._happened("record")

    def tells_of(self, event: Event) -> bool:
        """The event's record is written, or it needs none."""
        return (trace := trace_of(event)) is None or trace in self._told


def trace_of(told: Record | Event) -> object:
    """What a record and its event have in common; None for those that stand alone."""
    match told:
        case MessageAdded(id=id_) | AnswerAdded(message=Message(id=id_)) | UserAdded(message=Message(id=id_)):
            return "message", id_
        case MessageRetracted(id=id_) | Retracted(message_id=id_):
            return "retracted", id_
        case TransitionTaken(transition=transition, turn=turn) | Continued(transition=transition, turn=turn):
            return str(transition), turn
        case UsageCharged(model=model, usage=usage, turn=turn) | UsageReported(model=model, usage=usage, turn=turn):
            return model, usage, turn
        case ResultSpilled() | ContextChanged(stage="tool_results"):
            return "spilled"
        case ContextAltered(stage=stage, cause=cause) | ContextChanged(stage=stage, cause=cause):
            return "context", stage, str(cause)
        case ModelChanged(before=before, model=model) | ModelSwitched(before=before, model=model):
            return "model", before, model
        case CommandChanged(id=id_, state=state) | CommandNoted(command_id=id_, state=state):
            return "command", id_, str(state)
        case QueryEnded(reason=reason) | Terminated(reason=reason):
            return "end", str(reason)
        case WorkSpent(continuations=continuations) | WorkCompleted(continuations=continuations):
            return "work", continuations
        case _:
            return None


class StageHooks:
    """Say what the turn tells them to."""

    def hears(self, event: str) -> bool:
        return False

    async def ask(self, occasion: Occasion) -> HookVerdict:
        return HookVerdict()

    def take_context(self) -> tuple[str, ...]:
        return ()

    async def look_around(self) -> str | None: ...

    async def aclose(self) -> None: ...

    def begin(self, turn: Turn) -> None:
        self._stops, self._posts, self._encore = list(turn.stops), list(turn.posts), turn.encore

    async def stop(self, turn: StopInput) -> tuple[StopVerdict, ...]:
        await asyncio.sleep(0)
        if not self._stops:
            return ()
        word = self._stops[0] if self._encore and len(self._stops) == 1 else self._stops.pop(0)
        block, prevent = StopVerdict(block="Not yet."), StopVerdict(prevent="No more.")
        return {"pass": (), "block": (block,), "prevent": (prevent,), "both": (block, prevent)}[word]

    async def post_tool(self, call: Any, result: Any) -> PostToolVerdict:
        await asyncio.sleep(0)
        word = self._posts.pop(0) if self._posts else ""
        return PostToolVerdict(stop="Stop here." if word == "stop" else None, note=word)

    async def pre_compact(self, compaction: CompactInput) -> CompactVerdict:
        return CompactVerdict()

    async def post_compact(self, compaction: CompactInput) -> None: ...

    async def stop_failure(self, failure: FailureInput) -> None:
        await asyncio.sleep(0)


class WordChecker:
    schema = '{"const": "All is well."}'

    def check(self, text: str) -> tuple[Any, str | None]:
        return (text, None) if text == "All is well." else (None, "it is not what was asked for")


class UnchangedFiles:
    def changed(self, path: str, stamp: Any) -> bool:
        return False

    def is_gone(self, path: str) -> bool:
        return False

    def load(self, path: str, most: int) -> None:
        return None
