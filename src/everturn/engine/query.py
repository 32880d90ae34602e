"""One query: from a prompt, or from where the last one was cut off, to exactly one `ResultEvent`."""

import asyncio
from contextlib import suppress

import msgspec

from everturn.core.actions import Action, AdmitPrompt, RunStopPhase
from everturn.core.decide import Terminal
from everturn.core.errors import ApproverError
from everturn.core.events import ErrorReleased, Level, Noticed, Terminated
from everturn.core.messages import Block
from everturn.core.outcomes import Problem
from everturn.core.records import QueryEnded
from everturn.core.sources import QuerySource, SourceKind
from everturn.core.state import ENDINGS, AbortCause, Exit, Guards, Reason
from everturn.engine.actions.compact import compact
from everturn.engine.conversation import Conversation
from everturn.engine.loop import run_loop
from everturn.engine.prepared import hear_compaction
from everturn.engine.query_parts import QueryParts
from everturn.engine.result import plan_result
from everturn.engine.resume_round import resume_round
from everturn.engine.state import State
from everturn.engine.turn import Turn
from everturn.ports.abort import AbortedError, AbortSignal
from everturn.ports.hooks import FailureInput
from everturn.ports.store import OpenQuery


async def run_query(
    conversation: Conversation,
    signal: AbortSignal,
    blocks: tuple[Block, ...],
    unfinished: OpenQuery | None = None,
) -> ApproverError | None:
    """Runs a prompt, or goes on with `unfinished`. Returns an error in the caller's approver, which `Engine` raises."""
    conversation.refuse_denied_goal()
    await settle_servers(conversation, signal)
    awaits = conversation.awaits_verification
    deps, recorder = conversation.deps, conversation.recorder
    started_s, api_s, denied_before = deps.clock.elapsed(), recorder.api_s, len(conversation.denials)
    parts = conversation.begin_query(signal, started_s, blocks, unfinished)
    state = open_query(conversation, parts, unfinished)
    note_job(parts)
    first = RunStopPhase() if unfinished is not None and awaits else AdmitPrompt()
    last: Turn | None = None
    timer = asyncio.create_task(conversation.limits.watch_time()) if conversation.limits.has_time_limit else None
    try:
        if parts.goal is not None:
            await parts.goal.begin(unfinished)
        terminated, last = await run_to_end(conversation, parts, state, first)
    finally:
        if timer is not None:
            timer.cancel()
    recorder.emit(
        plan_result(
            terminated,
            last,
            deps.ledger,
            duration_s=deps.clock.elapsed() - started_s,
            api_duration_s=recorder.api_s - api_s,
            num_turns=conversation.user_messages,
            denials=tuple(conversation.denials),
            denied_before=denied_before,
            session_id=conversation.config.session_id,
            goal=parts.goal,
        )
    )
    return last.fault if last is not None else None


async def settle_servers(conversation: Conversation, signal: AbortSignal) -> None:
    """Waits for MCP servers that were never seen, as long as the limits say, and not after an interruption."""
    if (servers := conversation.deps.servers) is not None:
        servers.start()
        with suppress(AbortedError):
            await signal.guard(servers.settle())


def open_query(conversation: Conversation, parts: QueryParts, unfinished: OpenQuery | None) -> State:
    """The state of the first turn, before the prompt is admitted. Without a prompt, what should have followed the last round is added."""
    closed, guards = conversation.mend(deferred=parts.deferred), Guards()
    if parts.deferred and unfinished is not None:
        guards = unfinished.guards
    elif unfinished is not None:
        conversation.queue.take_up()
        guards = resume_round(parts, unfinished, conversation.agent.source.address, closed=closed)
    return conversation.state(guards)


async def run_to_end(
    conversation: Conversation, parts: QueryParts, state: State, first: Action
) -> tuple[Terminated, Turn | None]:
    """Runs the loop, whose first action is `first`, and closes what the query opened. Returns the event before the result.

    When it is cancelled there is no terminal, but what the query started is ended all the same.
    """
    recorder, last = parts.recorder, None
    try:
        try:
            terminal, last = await run_loop(parts, state, first)
            conversation.learn(last)
            if terminal.reason is Reason.TOOL_DEFERRED:
                conversation.unfinished = OpenQuery(guards=last.state.guards, deferred=True)
        except Exception as error:  # noqa: BLE001 (exceptions inside become terminals)
            problem = Problem(text=f"Everturn failed: {type(error).__name__}: {error}", by_api=False)
            terminal = Terminal(reason=Reason.MODEL_ERROR, release=problem)
        await parts.crew.end()
        release_resources(parts, state)
        conversation.queue.complete()
        start_failure_hooks(parts, terminal)
        error_text = terminal.release.text if terminal.release else ""
        recorder.record(QueryEnded(query_id=parts.query_id, reason=terminal.reason, error=error_text))
        await recorder.sync(end=True)
        if terminal.release is not None:
            recorder.emit(ErrorReleased(problem=terminal.release))
        terminated = Terminated(reason=terminal.reason, problem=terminal.release, exit=exit_code(parts, terminal))
        note_job(parts, terminated, last)
        recorder.emit(terminated)
        return terminated, last
    finally:
        await parts.crew.end()
        release_resources(parts, state)
        conversation.queue.abandon()


def release_resources(parts: QueryParts, state: State) -> None:
    """Releases locks and the like, however the query ends. Those of an agent belong to its conversation."""
    if state.tool_context.source.is_main:
        for problem in parts.resources.release():
            parts.recorder.emit(Noticed(text=problem, level=Level.WARNING))


async def run_compaction(conversation: Conversation, signal: AbortSignal, instructions: str) -> None:
    """`/compact`: a summary between two prompts. The last event is a notice that says what came of it."""
    deps, recorder = conversation.deps, conversation.recorder
    deps.ledger.begin_query(conversation.config.limits, deps.clock.elapsed())
    conversation.requests.put_before(conversation.contexts.begin(goes_on=True))
    state = conversation.state()
    agent = msgspec.structs.replace(state.tool_context, source=QuerySource(SourceKind.COMPACT))
    state = msgspec.structs.replace(state, tool_context=agent)
    turn = Turn(conversation.query_parts(deps.ids.new(), signal), state)
    try:
        prepared = await signal.guard(compact(turn, cause="manual", instructions=instructions))
    except AbortedError:
        turn.notice("The compaction was interrupted; nothing changed.", Level.WARNING)
        return
    await hear_compaction(turn, prepared)
    conversation.learn(turn)
    said = f"Nothing was compacted: {prepared.problem}"
    if prepared.compacted and not prepared.problem:
        before, after = prepared.changes[0].tokens_before, prepared.changes[-1].tokens_after
        said = f"Compacted from about {before:,} to {after:,} tokens."
    recorder.emit(Noticed(text=said))
    await recorder.sync(end=True)


def note_job(parts: QueryParts, ended: Terminated | None = None, last: Turn | None = None) -> None:
    """Notes the state of the session for a list of sessions: running, or how it ended."""
    if (note := parts.deps.note_job) is None:
        return
    from everturn.core.jobs import JobReport, JobState, judge_ending

    state, reason, text = JobState.WORKING, "", ""
    if ended is not None:
        is_error = ENDINGS[ended.reason].is_error or ended.problem is not None
        state = judge_ending(ended.reason, is_error=is_error, answered=last.job if last else None)
        reason, text = str(ended.reason), ended.problem.text if ended.problem else last.text if last else ""
    line = next(iter(text.strip().splitlines()), "")
    session_id, at = parts.config.session_id, parts.deps.clock.now()
    note(JobReport(state=state, session_id=session_id, at=at, reason=reason, text=line))


def start_failure_hooks(parts: QueryParts, terminal: Terminal) -> None:
    """Starts StopFailure hooks without waiting for them; the engine ends them when it closes."""
    if ENDINGS[terminal.reason].stop_failure:
        error = terminal.release.text if terminal.release else ""
        kind = terminal.release.kind if terminal.release else ""
        failure = FailureInput(session_id=parts.config.session_id, reason=terminal.reason, error=error, kind=kind)
        parts.background.start(parts.deps.hooks.stop_failure(failure))


def exit_code(parts: QueryParts, terminal: Terminal) -> int:
    ending = ENDINGS[terminal.reason]
    if ending.exit is Exit.INTERRUPTED and parts.signal.cause is AbortCause.TERMINATED:
        return Exit.TERMINATED
    if ending.exit is Exit.OK and terminal.release is not None:
        return Exit.ERROR
    return ending.exit
