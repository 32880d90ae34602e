"""One iteration of the loop: performs actions and tells what came of them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from everturn.core.actions import Action, CallModel, CompactNow, DrainCollapses, RunTools
from everturn.core.decide import AnyOutcome, Continue
from everturn.core.errors import ApproverError, FaultKind, ModelFault
from everturn.core.events import (
    CompactionBegan,
    CompactionEnded,
    Continued,
    Level,
    Noticed,
    RequestStarted,
    RetractionCause,
)
from everturn.core.messages import Kind, Message
from everturn.core.outcomes import (
    Aborted,
    Answered,
    CallsFinished,
    CallsRequested,
    Compacted,
    Drained,
    Failed,
    LimitReached,
    MediaTooLarge,
    NoRoom,
    Paused,
    Problem,
    Refused,
    TooLong,
    Truncated,
)
from everturn.core.records import CompactionTried, TransitionTaken
from everturn.core.state import AbortCause, Phase, Transition
from everturn.core.tokens import Meter
from everturn.core.view import View
from everturn.engine import wording
from everturn.engine.asking import Asker
from everturn.engine.found_tools import list_found
from everturn.engine.replies import Meaning, answer_text, judge_meaning, refusal_text, trim_repetition
from everturn.engine.restoring import ask_for_rest
from everturn.engine.sampling import Attempt, Sampling
from everturn.engine.state import State
from everturn.engine.stop_phase import Stop
from everturn.engine.workshop import Workshop
from everturn.ports.abort import AbortedError
from everturn.ports.context import Change, Prepared, Situation, Tracking

OVERFLOW = "The conversation no longer fits the model's context window. Start a new session, or send less at once."


BEFORE_IT = (
    "What stands before the conversation (system prompt, tools, memory files) takes about {fixed:,} tokens of a window of "
    "{window:,}: leave some of it out."
)


class Iteration:
    """Begins with a state and ends with the next one, or with the query. Only its own fields change on the way."""

    def __init__(self, shop: Workshop, state: State) -> None:
        self.shop = shop
        self.state = state
        self.messages = state.messages
        self.agent = state.tool_context
        self.summaries = state.pending_summary
        self.uncommitted: Message | None = None
        """A truncated answer, until it is decided what becomes of it."""
        self.stop_reason: str | None = None
        self.answered = False
        """The model stopped by itself, and its answer is in the transcript."""
        self.structured: Any = None
        self.sampling = Sampling(
            deps=shop.deps,
            config=shop.config,
            requests=shop.requests,
            recorder=shop.recorder,
            make_executor=shop.make_executor,
        )
        self.tracking = state.compaction
        self.meter = state.meter
        self._stop_errors: tuple[str, ...] = ()
        self._compacting = False
        self._overflow = Problem(text=OVERFLOW, kind="too_long")
        self.blamed: tuple[str, ...] = ()
        """Images and documents that the last refusal names."""
        self.fault: ApproverError | None = None
        """For whoever started the query: a mistake in their own code."""

    async def perform(self, action: Action) -> AnyOutcome:
        """Never raises: an abort, a limit and our own faults are outcomes too."""
        phase = Phase.TOOLS if isinstance(action, RunTools) else Phase.STREAMING
        try:
            outcome = await self._run(action)
        except AbortedError:
            return self._cut_short(phase)
        except ApproverError as error:
            self.fault = error
            return Failed(error=Problem(text=str(error), by_api=False))
        except Exception as error:  # noqa: BLE001 (the query ends with a reason, whatever happens)
            return Failed(error=Problem(text=f"Everturn failed: {type(error).__name__}: {error}", by_api=False))
        return self._cut_short(phase) if self.shop.signal.raised else outcome

    def next_state(self, decision: Continue) -> State:
        """Adds what the transition says to the model, and carries everything else over."""
        recorder, guards = self.shop.recorder, decision.guards
        recorder.record(
            TransitionTaken(
                query_id=self.shop.query_id, transition=decision.transition, turn=guards.turn, guards=guards
            )
        )
        match decision.transition:
            case Transition.NEXT_TURN if guards.pauses and (words := ask_for_rest(self.messages)):
                self._say(words)
            case Transition.MAX_OUTPUT_TOKENS_ESCALATE:
                self._retract(RetractionCause.ESCALATION)
            case Transition.MAX_OUTPUT_TOKENS_RECOVERY:
                self.commit_partial()
                self._say(wording.RESUME)
            case Transition.STOP_HOOK_BLOCKING:
                self._say(*self._stop_errors)
            case Transition.TOKEN_BUDGET_CONTINUATION:
                self._say(wording.budget_nudge(guards.work.total * 100 // self.shop.config.limits.work_budget))
        recorder.emit(Continued(transition=decision.transition, turn=guards.turn))
        turns_since = self.tracking.turns_since + (decision.transition is Transition.NEXT_TURN)
        return State(
            messages=self.messages,
            tool_context=self.agent,
            guards=guards,
            compaction=msgspec.structs.replace(self.tracking, turns_since=turns_since),
            meter=self.meter,
            pending_summary=self.summaries,
        )

    def commit(self, message: Message) -> None:
        """The response enters the transcript; an empty one does not."""
        if message.blocks:
            self.carry(self.shop.recorder.add(message))
        else:
            self._retract(RetractionCause.WITHHELD)
        answer = message.answer
        if answer is not None and answer.counted:
            self.meter = Meter(tokens=answer.counted, messages=len(self.messages))

    def commit_partial(self) -> None:
        if self.uncommitted is not None:
            self.commit(self.uncommitted)
            self.uncommitted = None

    @property
    def text(self) -> str:
        return answer_text(self.messages)

    def carry(self, message: Message) -> None:
        self.messages = self.messages.plus(message)

    def notice(self, text: str, level: Level = Level.INFO) -> None:
        self.shop.recorder.emit(Noticed(text=text, level=level))

    def _retract(self, cause: RetractionCause) -> None:
        """Takes back what was shown of the last response, if anything was."""
        attempt = self.sampling.attempt
        if attempt is not None and attempt.shown:
            self.shop.recorder.retract(attempt.message_id, cause)

    async def _run(self, action: Action) -> AnyOutcome:
        guard = self.shop.signal.guard
        match action:
            case CallModel():
                return await guard(self._call_model())
            case RunTools():
                return await self._run_tools()
            case DrainCollapses():
                return self._drain()
            case CompactNow(media=True, every=every):
                return self._drop_media(every=every)
            case CompactNow():
                return await guard(self._compact())
            case _:
                return await guard(self._run_stop_phase())

    def _cut_short(self, phase: Phase) -> AnyOutcome:
        signal = self.shop.signal
        if signal.limit is not None:
            which, error = signal.limit
            return LimitReached(which=which, error=error)
        return Aborted(cause=signal.cause or AbortCause.USER, phase=phase)

    async def _call_model(self) -> AnyOutcome:
        self.shop.recorder.emit(RequestStarted(turn=self.state.guards.turn, model=self.agent.model))
        if self.summaries:
            self.summaries = self.shop.summaries.show_finished(self.summaries)
        pipeline, situation = self.shop.deps.pipeline, self._situation()
        try:
            prepared = await pipeline.prepare(self.messages, situation, self._asker())
            self._take(prepared)
        finally:
            self._end_compaction()
        self._track(prepared.tracking)
        if prepared.clearing != self.agent.clearing:
            self.agent = msgspec.structs.replace(self.agent, clearing=prepared.clearing)
        if prepared.problem:
            last_try = self.tracking.failures >= self.shop.config.limits.compact_failures
            ending = " It is not tried again in this session." if last_try else ""
            self.notice(f"Compaction did not work: {prepared.problem}{ending}", Level.WARNING)
        if self._is_full(prepared):
            return NoRoom(error=msgspec.structs.replace(self._explain(self._overflow), by_api=False))
        if prepared.changes:
            situation = self._situation()
        if (work := pipeline.plan_background(situation, self._asker())) is not None:
            self.shop.crew.start(work)
        guards = self.state.guards
        sampled = await self.sampling.run(
            self.messages,
            self.agent,
            cap=guards.max_output_override,
            turn=guards.turn,
            turning=prepared.turning,
        )
        self.agent, self.messages, self.blamed = sampled.agent, View.of(sampled.view), sampled.blamed
        return self._judge_fault(sampled.fault) if sampled.fault else await self._judge_reply(sampled.attempt)

    def _judge_fault(self, fault: ModelFault) -> AnyOutcome:
        problem = Problem(text=fault.text, kind=fault.kind, status=fault.status)
        match fault.kind:
            case FaultKind.TOO_LONG:
                return self._too_long(problem)
            case FaultKind.MEDIA:
                self._withhold(problem)
                return MediaTooLarge(error=problem)
            case _:
                return Failed(error=problem)

    async def _judge_reply(self, attempt: Attempt) -> AnyOutcome:
        self.stop_reason = attempt.fold.stop_reason
        self._note_cleared(attempt.fold.cleared, attempt.fold.usage.context)
        message = self._message(attempt)
        meaning = judge_meaning(message.blocks, self.stop_reason, has_effects=attempt.executor.has_effects)
        attempt.settled = meaning is not Meaning.REFUSAL
        match meaning:
            case Meaning.REFUSAL:
                # Calls that began while it streamed must not outlive it.
                await self.sampling.throw_away(attempt, RetractionCause.REFUSED)
                text = refusal_text(attempt.fold.details)
                return Refused(error=Problem(text=text, kind="refusal", by_api=False))
            case Meaning.CALLS:
                self.commit(message)
                return CallsRequested()
            case Meaning.CUT:
                return self._truncated(message)
            case Meaning.WINDOW_FULL:
                self._retract(RetractionCause.WITHHELD)
                return self._too_long(self._overflow)
            case Meaning.PAUSE:
                self.commit(message)
                text = f"The model paused more than {self.shop.config.limits.pauses} times in a row."
                return Paused(error=Problem(text=text, kind="pauses", by_api=False))
            case Meaning.ANSWER:
                self.commit(message)
                self.answered = True
                return Answered()

    def _note_cleared(self, cleared: int, context: int) -> None:
        """What the API cleared by itself, by its own count; told again when there is more."""
        recorder = self.shop.recorder
        if cleared > recorder.cleared_by_api:
            before = context + cleared - recorder.cleared_by_api
            change = Change(stage="microcompact", cause="by_api", tokens_before=before, tokens_after=context)
            recorder.note_change(change)
        recorder.cleared_by_api = cleared

    def _message(self, attempt: Attempt) -> Message:
        blocks = attempt.blocks
        if self.state.guards.transition is Transition.MAX_OUTPUT_TOKENS_RECOVERY:
            before = next((message for message in reversed(self.messages) if message.role == "assistant"), None)
            blocks = trim_repetition(before, blocks) if before else blocks
        return Message(id=attempt.message_id, role="assistant", kind=Kind.ANSWER, blocks=blocks, answer=attempt.answer)

    def _truncated(self, message: Message) -> Truncated:
        self.uncommitted = message
        cap = self.shop.requests.output_cap(self.agent, self.state.guards.max_output_override)
        text = f"The answer was cut off at {cap} output tokens."
        problem = Problem(text=text, kind="max_output_tokens", by_api=False)
        self._withhold(problem)
        return Truncated(can_grow=self.shop.requests.card(self.agent).max_output > cap, error=problem)

    def _too_long(self, problem: Problem) -> TooLong:
        problem = self._explain(problem)
        self._withhold(problem)
        return TooLong(staged=self._staged, error=problem)

    def _explain(self, problem: Problem) -> Problem:
        """Where no conversation would fit, however short, it says so."""
        fixed, window = self.shop.requests.fixed_tokens(self.agent), self.shop.requests.card(self.agent).window
        said = BEFORE_IT.format(fixed=fixed, window=window)
        if fixed < window or said in problem.text:
            return problem
        return msgspec.structs.replace(problem, text=f"{problem.text} {said}")

    def _withhold(self, problem: Problem) -> None:
        self._overflow = problem
        self.shop.recorder.withhold(problem)

    async def _run_tools(self) -> AnyOutcome:
        attempt = self.sampling.attempt
        executor = attempt.executor if attempt else self.shop.make_executor(self.agent)
        results = await executor.finish()
        self.carry(self.shop.recorder.add_user(Kind.RESULTS, *results, message_id=executor.message_id))
        if executor.fault is not None:
            raise executor.fault
        if self.agent.deferred:
            self._list_found()
        if executor.stopped_by is not None:
            self.notice(f"A hook stopped the query: {executor.stopped_by}")
            return CallsFinished(stopped_by_hook=True)
        if not self.shop.signal.raised:
            for message in (*self.shop.contexts.attach_switch(), *self.shop.attachments.collect(self.agent.address)):
                self.carry(message)
            if self.shop.config.tool_summaries:
                self.summaries = (*self.summaries, self.shop.summaries.start(executor.uses, self._asker()))
        return CallsFinished()

    def _list_found(self) -> None:
        """Tools stand before the messages: whatever is cached is sent anew."""
        requests, before = self.shop.requests, self.agent
        self.agent = list_found(before, self.shop.recorder.notes)
        if self.agent is before:
            return
        names = ", ".join(tool.name for tool in self.agent.tools[len(before.tools) :])
        sizes = requests.fixed_tokens(before), requests.fixed_tokens(self.agent)
        change = Change(stage="tools", cause=f"found {names}", tokens_before=sizes[0], tokens_after=sizes[1])
        self.shop.recorder.note_change(change)
        if self.meter is not None:
            self.meter = msgspec.structs.replace(self.meter, tokens=self.meter.tokens + sizes[1] - sizes[0])

    def _drain(self) -> AnyOutcome:
        prepared = self.shop.deps.pipeline.drain(self.messages)
        self._take(prepared)
        return Drained(committed=len(prepared.collapses), error=self._overflow)

    async def compact(self, *, cause: str, instructions: str = "") -> Prepared:
        try:
            prepared = await self.shop.deps.pipeline.compact(
                self.messages, self._situation(), self._asker(), cause=cause, instructions=instructions
            )
            self._track(prepared.tracking)
            self._take(prepared)
        finally:
            self._end_compaction()
        return prepared

    def _begin_compaction(self, cause: str) -> None:
        self._compacting = True
        self.shop.recorder.emit(CompactionBegan(cause=cause))

    def _end_compaction(self) -> None:
        if self._compacting:
            self._compacting = False
            self.shop.recorder.emit(CompactionEnded())

    async def _compact(self) -> AnyOutcome:
        prepared = await self.compact(cause="too_long")
        if prepared.compacted and prepared.problem:
            self.notice(f"Compaction did not work: {prepared.problem}", Level.WARNING)
        return Compacted(worked=prepared.compacted, media=False, error=self._overflow)

    def _drop_media(self, *, every: bool) -> AnyOutcome:
        drop = self.shop.deps.pipeline.drop_media
        prepared = drop(self.messages, self.blamed, every=every, said=self._overflow.text)
        self._take(prepared)
        return Compacted(worked=prepared.compacted, media=True, error=self._overflow)

    async def _run_stop_phase(self) -> AnyOutcome:
        stop = Stop(
            messages=tuple(self.messages),
            agent=self.agent,
            text=self.text,
            by_sequence=self.stop_reason == "stop_sequence",
            hook_active=self.state.guards.stop_hook_active,
        )
        ruled = await self.shop.stop_phase.run(stop)
        self._stop_errors, self.structured = ruled.errors, ruled.structured
        return ruled.outcome

    def _take(self, prepared: Prepared) -> None:
        """What the pipeline made: for the transcript, for the journal, for the next request."""
        recorder = self.shop.recorder
        if prepared.changes:
            self._forget_files(prepared)
        if prepared.facts is not None:
            recorder.record(prepared.facts)
        for message in prepared.added:
            recorder.add(message)
        for collapse in prepared.collapses:
            recorder.record(collapse)
        for spilled in prepared.spilled:
            recorder.record(spilled)
        if prepared.cleared is not None:
            recorder.record(prepared.cleared)
        for change in prepared.changes:
            recorder.note_change(change)
        if prepared.changes:
            self.meter = None
        if any(message.kind is Kind.BOUNDARY for message in prepared.added):
            self._carry_task_budget()
        self.messages = View.of(prepared.messages)

    def _forget_files(self, prepared: Prepared) -> None:
        """What was read may no longer be in the context: it must be read again before it is relied on."""
        files = self.shop.files
        if prepared.only_cleared:
            files.hide()
        else:
            files.clear()
        for path, state in prepared.restored:
            files.remember(path, state)
        if files.has_news:
            # A summary shows what is restored; without it, that does not count.
            self.shop.recorder.keep_files(prepared.added[-1].id if prepared.added else "")

    def _track(self, tracking: Tracking) -> None:
        """A breaker that is open stays open when the session is resumed."""
        before, self.tracking = self.tracking, tracking
        if (before.failures, before.count) != (tracking.failures, tracking.count):
            self.shop.recorder.record(CompactionTried(failures=tracking.failures, count=tracking.count))

    def _carry_task_budget(self) -> None:
        """After a compaction the API cannot see what was spent before it; we tell it what is left."""
        if (budget := self.agent.task_budget) is not None:
            left = max(budget.total - self.shop.deps.ledger.query_output, 0)
            carried = msgspec.structs.replace(budget, remaining=left)
            self.agent = msgspec.structs.replace(self.agent, task_budget=carried)

    def _is_full(self, prepared: Prepared) -> bool:
        """The blocking limit: the call would be refused, and nothing is left that could make it smaller."""
        limits, config = self.shop.config.limits, self.shop.config
        breaker_open = self.tracking.failures >= limits.compact_failures
        reactive_helps = limits.reactive_compact and not self.state.guards.reactive_compact_tried
        ahead_helps = limits.auto_compact and not breaker_open and not prepared.hopeless
        if ahead_helps or reactive_helps or self._staged:
            return False
        if prepared.compacted or config.is_compaction:
            return False
        return prepared.tokens >= self.shop.requests.card(self.agent).window

    @property
    def _staged(self) -> int:
        return self.shop.deps.pipeline.staged if self.shop.config.collapse else 0

    def _situation(self) -> Situation:
        requests = self.shop.requests
        return Situation(
            card=requests.card(self.agent),
            limits=self.shop.config.limits,
            fixed_tokens=requests.fixed_tokens(self.agent),
            output_cap=requests.output_cap(self.agent, self.state.guards.max_output_override),
            meter=self.meter,
            tracking=self.tracking,
            is_cold=self.shop.recorder.cache.is_cold(requests.cache_ttl, self.shop.deps.clock.now()),
            collapse=self.shop.config.collapse,
            is_compaction=self.shop.config.is_compaction,
            notes=self.shop.recorder.notes,
            session_id=self.shop.config.session_id,
            folder=self.shop.config.folder,
            small_model=self.shop.config.small_model,
            tools=tuple([tool.name for tool in self.agent.tools]),
            recent_files=self.shop.files.recent(2 * self.shop.config.limits.restored_files),
            changed_files=self.shop.files.changed,
            on_compaction=self._begin_compaction,
            count=self._count,
        )

    async def _count(self, view: Sequence[Message]) -> int | None:
        requests, agent = self.shop.requests, self.agent
        request = requests.build(view, agent, max_tokens=requests.output_cap(agent, None))
        try:
            return await self.shop.deps.model.count_tokens(request)
        except ModelFault:
            return None

    def _asker(self) -> Asker:
        return Asker(
            deps=self.shop.deps,
            limits=self.shop.config.limits,
            requests=self.shop.requests,
            recorder=self.shop.recorder,
            agent=self.agent,
            turn=self.state.guards.turn,
        )

    def _say(self, *texts: str) -> None:
        self.carry(self.shop.recorder.add_user(Kind.HIDDEN, *texts))
