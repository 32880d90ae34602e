"""One model call: streamed, and where it fails retried, repaired or sent to a fallback model."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing

import msgspec

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.events import (
    BlockBegan,
    BlockFinished,
    InputDelta,
    MessageBegan,
    ModelSwitched,
    RetractionCause,
    TextDelta,
    ThinkingDelta,
)
from everturn.core.messages import (
    Answer,
    Block,
    Message,
    ToolUse,
)
from everturn.core.patterns import compile_late
from everturn.core.prefix import Segment
from everturn.core.records import ModelChanged
from everturn.core.refused_media import find_blamed
from everturn.core.schedule import Attempts, GiveUp, MendWith, Repair, RetryAfter, SwitchModel, plan_recovery
from everturn.core.stream import (
    Added,
    BlockStarted,
    BlockStopped,
    Fold,
    InputAdded,
    MessageStarted,
    StreamEvent,
    TextAdded,
    ThinkingAdded,
)
from everturn.engine.deps import AgentContext, Config, Deps
from everturn.engine.executor import Executor
from everturn.engine.recorder import Recorder
from everturn.engine.requests import Requests
from everturn.ports.context import Change
from everturn.ports.model import Request

_DELTAS: dict[type[StreamEvent], type[TextDelta | InputDelta | ThinkingDelta]] = {
    TextAdded: TextDelta,
    InputAdded: InputDelta,
    ThinkingAdded: ThinkingDelta,
}
"""The event for each kind of piece that is shown while it arrives."""
CALL_ID = compile_late(r"[a-zA-Z0-9_-]+")
"""Ids of calls that the API accepts in later requests."""


class Attempt:
    """One attempt at a response, and the executor of the calls that started while it streamed."""

    def __init__(self, *, message_id: str, asked: str, fold: Fold, executor: Executor) -> None:
        self.message_id = message_id
        self.asked = asked
        self.fold = fold
        self.executor = executor
        self.started_s = 0.0
        self.shown = False
        self.settled = False
        """The response was added to the transcript or thrown away."""
        self.fault: ModelFault | None = None
        self.held: tuple[int, Block] | None = None
        """Index and block of the last finished call, while it may still turn out to be cut off."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the response; after a fault only the finished ones."""
        return self.fold.finish() if self.fault is None else self.without_doubtful(self.fold.blocks)

    def without_doubtful(self, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        """The blocks without calls that the executor never got: in a response that broke off, these may be cut off, too."""
        has = self.executor.has
        return tuple(block for block in blocks if not isinstance(block.view, ToolUse) or has(block.view))

    @property
    def answer(self) -> Answer:
        return self.fold.answer(self.asked, incomplete=self.fault is not None)


class Sampled(msgspec.Struct, frozen=True, kw_only=True):
    """How a model call ended. With a fault, nothing of the attempt is kept."""

    attempt: Attempt
    agent: AgentContext
    """The agent with the model that answers from now on."""
    view: Sequence[Message]
    """The messages as they were sent. A repair may have changed them."""
    fault: ModelFault | None = None
    blamed: tuple[str, ...] = ()
    """Names of the images and documents that the refusal names."""


class Sampling:
    def __init__(
        self,
        *,
        deps: Deps,
        config: Config,
        requests: Requests,
        recorder: Recorder,
        make_executor: Callable[[AgentContext], Executor],
    ) -> None:
        self._deps = deps
        self._config = config
        self._requests = requests
        self._recorder = recorder
        self._make_executor = make_executor
        self.attempt: Attempt | None = None
        """The attempt under way, or the last one."""

    async def run(
        self,
        view: Sequence[Message],
        agent: AgentContext,
        *,
        cap: int | None,
        turn: int,
        change_points: tuple[Block, ...] = (),
    ) -> Sampled:
        attempts, began_s = Attempts(fallbacks_left=len(agent.fallbacks)), 0.0
        while True:
            max_tokens = self._requests.output_cap(agent, cap)
            request = self._requests.build(view, agent, max_tokens=max_tokens)
            if change_points:
                request = self._recorder.cache.anchor(request, change_points)
            self._note_media()
            attempt = self._begin(agent)
            fault = await self._stream(attempt, request, turn)
            if fault is None:
                return Sampled(attempt=attempt, agent=agent, view=view)
            overloads = attempts.overloads + 1 if fault.kind is FaultKind.OVERLOADED else 0
            began_s = began_s or attempt.started_s
            unanswered = not fault.answered and not self._has_answer()
            attempts = msgspec.structs.replace(
                attempts,
                overloads=overloads,
                unreached=unanswered and not fault.reached,
                unanswered=unanswered,
                elapsed_s=self._deps.clock.elapsed() - began_s,
            )
            plan = plan_recovery(
                fault.kind,
                attempts,
                self._config.limits,
                retry_after=fault.retry_after,
                jitter=self._deps.clock.jitter(),
            )
            if attempt.executor.has_effects:
                attempt.fault = fault
                kept_on = self._switch(agent, fault) if isinstance(plan, SwitchModel) else agent
                return Sampled(attempt=attempt, agent=kept_on, view=view)
            match plan:
                case RetryAfter(delay_s):
                    await self.throw_away(attempt, RetractionCause.RETRY)
                    await self._wait(fault, attempts, delay_s)
                    attempts = msgspec.structs.replace(attempts, tried=attempts.tried + 1)
                case MendWith(repair):
                    await self.throw_away(attempt, RetractionCause.REPAIR)
                    view = self._mend(view, repair, fault)
                    attempts = msgspec.structs.replace(attempts, repairs=attempts.repairs | {repair})
                case SwitchModel():
                    await self.throw_away(attempt, RetractionCause.FALLBACK)
                    agent = self._switch(agent, fault)
                    attempts, began_s = Attempts(fallbacks_left=len(agent.fallbacks)), 0.0
                case GiveUp(retry_after):
                    if retry_after is not None:
                        from everturn.engine.retry_notice import tell_when

                        fault = tell_when(fault, retry_after, self._deps.clock.now())
                    await self.throw_away(attempt, RetractionCause.WITHHELD)
                    blamed = find_blamed_media(request, view, fault)
                    return Sampled(attempt=attempt, agent=agent, view=view, fault=fault, blamed=blamed)

    def _begin(self, agent: AgentContext) -> Attempt:
        taken = set[str]()
        # Not through `self`, which holds the attempt: the reference cycle would keep every attempt until the garbage collector runs.
        used, ids = self._recorder.use_ids, self._deps.ids

        def claim(received: str) -> str:
            free = received not in taken and received not in used
            claimed = received if free and CALL_ID.fullmatch(received) else f"toolu_{ids.new()}"
            taken.add(claimed)
            return claimed

        self.attempt = Attempt(
            message_id=self._deps.ids.new(),
            asked=agent.model,
            fold=Fold(claim),
            executor=self._make_executor(agent),
        )
        return self.attempt

    async def _stream(self, attempt: Attempt, request: Request, turn: int) -> ModelFault | None:
        fold = attempt.fold
        look = self._recorder.cache.look(request, self._deps.clock.now())
        if (departure := look.departure) is not None and departure.segment is Segment.MESSAGES:
            request = msgspec.structs.replace(request, kept=departure.kept)
        started = attempt.started_s = self._deps.clock.elapsed()
        try:
            async with aclosing(self._deps.model.stream(request)) as stream:
                async for event in stream:
                    block = fold.feed(event)
                    self._show(attempt, event)
                    if fold.is_due:
                        self._recorder.note_received(fold, request, request_id=attempt.message_id)
                    if block is not None and isinstance(event, BlockStopped):
                        self._finish_block(attempt, event.index, block)
                    if fold.ended:
                        # The last calls can begin now, before the rest of the work on this answer.
                        await asyncio.sleep(0)
                        break
        except ModelFault as fault:
            # The stream broke after the stop reason was known and all blocks were closed: nothing is missing.
            if not fold.complete:
                return fault
        finally:
            self._recorder.api_s += self._deps.clock.elapsed() - started
            self._recorder.charge_response("main", fold, request, turn=turn, request_id=attempt.message_id, look=look)
        if not fold.complete:
            return ModelFault(FaultKind.STREAM_BROKEN, "The stream ended before the answer was complete.")
        for block in fold.finish():
            self._hand_over(attempt, block)
        return None

    def _show(self, attempt: Attempt, event: StreamEvent) -> None:
        id_, emit = attempt.message_id, self._recorder.emit
        if isinstance(event, Added):
            if attempt.fold.took and (delta := _DELTAS.get(type(event))) is not None:
                emit(delta(message_id=id_, index=event.index, text=event.text))
            return
        match event:
            case BlockStarted(index):
                attempt.shown = True
                self._release(attempt, index)
                kind, name, use_id = attempt.fold.describe(index)
                emit(BlockBegan(message_id=id_, index=index, kind=kind, name=name, tool_use_id=use_id))
            case MessageStarted():
                fold = attempt.fold
                model = fold.model or attempt.asked
                emit(MessageBegan(message_id=id_, model=model, usage=fold.usage, api_id=fold.api_id))

    def _finish_block(self, attempt: Attempt, index: int, block: Block) -> None:
        self._recorder.emit(BlockFinished(message_id=attempt.message_id, index=index, block=block))
        self._release(attempt, index)
        if attempt.fold.is_certain(block):
            self._hand_over(attempt, block)
        else:
            attempt.held = (index, block)

    def _release(self, attempt: Attempt, follower: int) -> None:
        """Hands over a held call when another block follows it: only the last call of a response can be cut off."""
        if attempt.held and attempt.held[0] < follower:
            self._hand_over(attempt, attempt.held[1])
            attempt.held = None

    def _hand_over(self, attempt: Attempt, block: Block) -> None:
        use = block.view
        if type(use) is ToolUse and not attempt.executor.has(use):
            attempt.executor.add(use)

    async def throw_away(self, attempt: Attempt, cause: RetractionCause) -> None:
        await attempt.executor.discard()
        attempt.settled = True
        if attempt.shown:
            self._recorder.retract(attempt.message_id, cause)

    def _has_answer(self) -> bool:
        """Whether the session has an answer of the API."""
        return any(message.answer is not None for message in self._recorder.transcript)

    async def _wait(self, fault: ModelFault, attempts: Attempts, delay_s: float) -> None:
        from everturn.engine.retry_notice import announce_retry

        most = attempts.most(self._config.limits)
        self._recorder.emit(announce_retry(fault, attempts.tried, most, delay_s))
        await self._deps.clock.sleep(delay_s * self._config.limits.retry_scale)

    def _switch(self, agent: AgentContext, fault: ModelFault) -> AgentContext:
        """Takes the next fallback model for the rest of the session."""
        model, *rest = agent.fallbacks
        switch_model(self._recorder, agent.model, model, cause=fault.kind, told=fault.text)
        return msgspec.structs.replace(agent, model=model, fallbacks=tuple(rest))

    def _note_media(self) -> None:
        """Notes that the request leaves out more media than the one before, which changes what was sent."""
        dropped = self._requests.media_dropped
        if dropped > self._recorder.media_dropped:
            self._recorder.note_change(Change(stage="media", cause="too_many", tokens_before=0, tokens_after=0))
        self._recorder.media_dropped = dropped

    def _mend(self, view: Sequence[Message], repair: Repair, fault: ModelFault) -> Sequence[Message]:
        self._recorder.note_change(Change(stage="repair", cause=repair, tokens_before=0, tokens_after=0))
        from everturn.engine.repairs import mend_messages, plan_mending

        plan = plan_mending(view, repair, fault.text)
        self._recorder.mend(plan)
        return mend_messages(view, plan)


def find_blamed_media(request: Request, view: Sequence[Message], fault: ModelFault) -> tuple[str, ...]:
    """Names of the media that the refusal is about; empty where it is about something else, or names no place."""
    if fault.kind is not FaultKind.MEDIA or len(fault.place) < len(("message", "block")):
        return ()
    message, block, *part = fault.place
    if message >= len(request.messages) or block >= len(request.messages[message].blocks):
        return ()
    return find_blamed(request.messages[message].blocks[block], part[0] if part else None, view)


def switch_model(recorder: Recorder, before: str, model: str, *, cause: str, told: str) -> None:
    """Records and shows the switch. Thinking of the old model is no longer sent: its signatures are bound to that model.

    `told`: the cause in words.
    """
    recorder.record(ModelChanged(before=before, model=model, cause=cause))
    recorder.emit(ModelSwitched(before=before, model=model, cause=told))
    stage_cause = cause if cause in {"tool", "person"} else "fallback"
    recorder.note_change(Change(stage="signatures", cause=stage_cause, tokens_before=0, tokens_after=0))
