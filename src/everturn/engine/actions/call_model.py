"""CallModel: prepare the context, call the model, and judge what came back. Calls may already run while it streams."""

import msgspec

from everturn.core.decide import AnyOutcome
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.events import Level, RequestStarted, RetractionCause
from everturn.core.messages import Kind, Message
from everturn.core.outcomes import (
    Answered,
    CallsRequested,
    Failed,
    MediaTooLarge,
    NoRoom,
    Paused,
    Problem,
    Refused,
    TooLong,
    Truncated,
)
from everturn.core.state import Transition
from everturn.core.stream import Fold
from everturn.core.view import View
from everturn.engine.prepared import apply_prepared, hear_compaction, track_compaction
from everturn.engine.replies import Meaning, judge_meaning, refusal_text, trim_repetition
from everturn.engine.sampling import Attempt
from everturn.engine.turn import Turn
from everturn.ports.context import Change, Prepared, Situation

FIXED_PART = (
    "The system prompt, the tools and the memory files take about {fixed:,} tokens of a window of "
    "{window:,}: leave some of it out."
)


async def perform(turn: Turn) -> AnyOutcome:
    turn.recorder.emit(RequestStarted(turn=turn.number, model=turn.agent.model))
    if turn.summaries:
        turn.summaries = turn.parts.summaries.show_finished(turn.summaries)
    situation = turn.situation()
    prepared = await prepare_context(turn, situation)
    if is_full(turn, prepared):
        return NoRoom(error=msgspec.structs.replace(explain_overflow(turn, turn.withheld), by_api=False))
    start_background(turn, turn.situation() if prepared.changes else situation)
    if turn.agent.source.is_main:
        turn.parts.keep_snapshot(turn.messages, turn.agent)
    sampled = await turn.sampling.run(
        turn.messages,
        turn.agent,
        cap=turn.state.guards.max_output_override,
        turn=turn.number,
        change_points=prepared.change_points,
    )
    turn.agent, turn.messages, turn.blamed = sampled.agent, View.of(sampled.view), sampled.blamed
    return judge_fault(turn, sampled.fault) if sampled.fault else await judge_reply(turn, sampled.attempt)


async def prepare_context(turn: Turn, situation: Situation) -> Prepared:
    """Runs the context pipeline and takes its result into the turn."""
    try:
        prepared = await turn.parts.deps.pipeline.prepare(turn.messages, situation, turn.asker())
        apply_prepared(turn, prepared)
        track_compaction(turn, prepared.tracking)
    finally:
        turn.end_compaction()
    await hear_compaction(turn, prepared)
    if prepared.clearing != turn.agent.clearing:
        turn.agent = msgspec.structs.replace(turn.agent, clearing=prepared.clearing)
    if prepared.problem:
        last_try = turn.tracking.failures >= turn.parts.config.limits.compact_failures
        ending = " It is not tried again in this session." if last_try else ""
        turn.notice(f"Compaction did not work: {prepared.problem}{ending}", Level.WARNING)
    return prepared


def start_background(turn: Turn, situation: Situation) -> None:
    """Starts to summarise finished stretches of work beside the call."""
    work = turn.parts.deps.pipeline.plan_background(situation, turn.asker())
    if work is not None:
        turn.parts.crew.start(work)


def is_full(turn: Turn, prepared: Prepared) -> bool:
    """The blocking limit: the call would be refused, and nothing is left that could make it smaller."""
    limits = turn.parts.config.limits
    breaker_open = turn.tracking.failures >= limits.compact_failures
    reactive_helps = limits.reactive_compact and not turn.state.guards.reactive_compact_tried
    ahead_helps = limits.auto_compact and not breaker_open and not prepared.hopeless
    if ahead_helps or reactive_helps or turn.staged:
        return False
    if prepared.compacted or turn.agent.source.is_compaction:
        return False
    return prepared.tokens >= turn.parts.requests.card(turn.agent).window


def judge_fault(turn: Turn, fault: ModelFault) -> AnyOutcome:
    problem = Problem(text=fault.text, kind=fault.kind, status=fault.status)
    match fault.kind:
        case FaultKind.TOO_LONG:
            return too_long(turn, problem)
        case FaultKind.MEDIA:
            turn.withhold(problem)
            return MediaTooLarge(error=problem)
        case _:
            return Failed(error=problem)


async def judge_reply(turn: Turn, attempt: Attempt) -> AnyOutcome:
    turn.stop_reason = attempt.fold.stop_reason
    note_cleared(turn, attempt.fold)
    message = make_message(turn, attempt)
    meaning = judge_meaning(message.blocks, turn.stop_reason, has_effects=attempt.executor.has_effects)
    attempt.settled = meaning is not Meaning.REFUSAL
    match meaning:
        case Meaning.REFUSAL:
            # Calls that began while it streamed must not outlive it.
            await turn.sampling.throw_away(attempt, RetractionCause.REFUSED)
            text = refusal_text(attempt.fold.details)
            return Refused(error=Problem(text=text, kind="refusal", by_api=False))
        case Meaning.CALLS:
            turn.commit(message)
            return CallsRequested()
        case Meaning.CUT:
            return truncated(turn, message)
        case Meaning.WINDOW_FULL:
            turn.retract(RetractionCause.WITHHELD)
            return too_long(turn, turn.withheld)
        case Meaning.PAUSE:
            turn.commit(message)
            text = f"The model paused more than {turn.parts.config.limits.pauses} times in a row."
            return Paused(error=Problem(text=text, kind="pauses", by_api=False))
        case Meaning.ANSWER:
            turn.commit(message)
            turn.answered = True
            return Answered()


def make_message(turn: Turn, attempt: Attempt) -> Message:
    blocks = attempt.blocks
    if turn.state.guards.transition is Transition.MAX_OUTPUT_TOKENS_RECOVERY:
        before = next((message for message in reversed(turn.messages) if message.role == "assistant"), None)
        blocks = trim_repetition(before, blocks) if before else blocks
    return Message(id=attempt.message_id, role="assistant", kind=Kind.ANSWER, blocks=blocks, answer=attempt.answer)


def note_cleared(turn: Turn, fold: Fold) -> None:
    """What the API cleared by itself, by its own count; noted again when there is more."""
    before, cleared = turn.recorder.cleared_by_api, fold.cleared
    if cleared > before:
        context = fold.usage.context
        tokens_before = context + cleared - before
        turn.recorder.note_change(
            Change(stage="microcompact", cause="by_api", tokens_before=tokens_before, tokens_after=context)
        )
    turn.recorder.cleared_by_api = cleared


def truncated(turn: Turn, message: Message) -> Truncated:
    turn.truncated = message
    requests = turn.parts.requests
    cap = requests.output_cap(turn.agent, turn.state.guards.max_output_override)
    text = f"The answer was cut off at {cap} output tokens."
    problem = Problem(text=text, kind="max_output_tokens", by_api=False)
    turn.withhold(problem)
    return Truncated(can_grow=requests.card(turn.agent).max_output > cap, error=problem)


def too_long(turn: Turn, problem: Problem) -> TooLong:
    problem = explain_overflow(turn, problem)
    turn.withhold(problem)
    return TooLong(staged=turn.staged, error=problem)


def explain_overflow(turn: Turn, problem: Problem) -> Problem:
    """Where no conversation would fit, however short, it says so."""
    requests = turn.parts.requests
    fixed, window = requests.fixed_tokens(turn.agent), requests.card(turn.agent).window
    said = FIXED_PART.format(fixed=fixed, window=window)
    if fixed < window or said in problem.text:
        return problem
    return msgspec.structs.replace(problem, text=f"{problem.text} {said}")
