"""RunStopPhase: what runs when the model stopped by itself, part by part in a fixed order, and what comes of it."""

from collections.abc import Awaitable, Callable

from everturn.core.events import Level, StopPhaseProgressed
from everturn.core.outcomes import Failed, GoalFailed, LimitReached, Problem, StopBlocked, StopPassed, StopPrevented
from everturn.engine import wording
from everturn.engine.turn import Turn
from everturn.ports.hooks import Checker, StopInput

StopOutcome = StopPassed | StopBlocked | StopPrevented | GoalFailed | LimitReached | Failed
Part = Callable[[Turn], Awaitable[StopOutcome | None]]
"""None: the phase goes on."""


async def perform(turn: Turn) -> StopOutcome:
    turn.stop_errors, turn.structured = (), None
    for part in PARTS if turn.agent.source.is_main else PARTS_OF_SUBAGENTS:
        if (outcome := await part(turn)) is not None:
            return outcome
    # A stop sequence is never continued by a work budget, and a goal that is met ends it.
    may_continue = turn.agent.source.is_main and turn.stop_reason != "stop_sequence" and turn.parts.goal is None
    return StopPassed(spent=turn.parts.deps.ledger.query_output, may_continue=may_continue)


async def keep_snapshot(turn: Turn) -> None:
    """Keeps the context of the main conversation, so that a side question can continue it and read the prompt cache."""
    turn.parts.keep_snapshot(turn.messages, turn.agent)


async def classify_job(turn: Turn) -> None:
    """Judges the answer for a list of sessions: by rule, and by the small model only where no rule decides."""
    if turn.parts.deps.note_job is None:
        return
    from everturn.core.jobs import judge_answer

    turn.job = judge_answer(turn.text)
    if turn.job is None:
        from everturn.engine.small_model import ask_whether_it_waits

        turn.job = await ask_whether_it_waits(turn)


async def suggest_prompt(turn: Turn) -> None:
    """Starts to suggest the next prompt, without waiting for it."""
    if turn.parts.config.suggestions:
        from everturn.engine.small_model import suggest

        turn.parts.background.start(suggest(turn))


async def release_resources(turn: Turn) -> None:
    """Releases locks and the like that tools took. A call that still needs one takes it again."""
    for problem in turn.parts.resources.release():
        turn.notice(problem, Level.WARNING)


async def check_answer(turn: Turn) -> StopOutcome | None:
    """Checks the answer against the output schema, where there is one."""
    checker = turn.parts.deps.checker
    if checker is None:
        return None
    turn.structured, problem = checker.check(turn.text)
    return None if problem is None else reject_answer(turn, problem, checker)


def reject_answer(turn: Turn, problem: str, checker: Checker) -> StopOutcome:
    """Sends the model back because the answer does not fit the schema, unless the limit of retries is reached."""
    turn.recorder.emit(StopPhaseProgressed(step="structured_output", text=problem))
    ledger = turn.parts.deps.ledger
    ledger.note_structured_failure()
    if (limit := ledger.tripped(turn.parts.deps.clock.elapsed())) is not None:
        return LimitReached(which=limit[0], error=limit[1])
    turn.stop_errors = (wording.output_invalid(problem, checker.schema),)
    text = f"The answer does not fit the output schema: {problem}"
    return StopBlocked(unfit=Problem(text=text, kind="output_schema", by_api=False))


async def run_stop_hooks(turn: Turn) -> StopOutcome | None:
    """Runs the user's stop hooks in parallel. `prevent` wins over `block`."""
    parts = turn.parts
    verdicts = await parts.deps.hooks.stop(
        StopInput(
            session_id=parts.config.session_id,
            messages=tuple(turn.messages),
            text=turn.text,
            stop_hook_active=turn.state.guards.stop_hook_active,
            ask=turn.asker(),
        )
    )
    for verdict in verdicts:
        if text := verdict.prevent or verdict.block or "\n".join(verdict.context) or verdict.output:
            turn.recorder.emit(StopPhaseProgressed(step="stop_hook", text=text))
    if any(verdict.prevent is not None for verdict in verdicts):
        return StopPrevented()
    blocks = (verdict.block for verdict in verdicts if verdict.block is not None)
    added = (text for verdict in verdicts for text in verdict.context)
    turn.stop_errors = (
        *(wording.hook_blocked(block, before_goal=parts.goal is not None) for block in blocks),
        *(wording.hook_context("Stop", text) for text in added),
    )
    return StopBlocked() if turn.stop_errors else None


async def verify_goal(turn: Turn) -> StopOutcome | None:
    """Runs the goal's command, after the hooks, because they are quicker than most test suites."""
    goal = turn.parts.goal
    if goal is None:
        return None
    outcome = await goal.verify()
    turn.stop_errors = (goal.told,) if isinstance(outcome, GoalFailed) else ()
    return outcome


MEMORY: tuple[Part, ...] = ()
"""Extraction, then consolidation across sessions. Not for subagents."""
TEAM: tuple[Part, ...] = ()
"""Hooks of a team: a task completed, a teammate idle."""

PARTS: tuple[Part, ...] = (
    keep_snapshot,
    classify_job,
    suggest_prompt,
    *MEMORY,
    release_resources,
    check_answer,
    run_stop_hooks,
    verify_goal,
    *TEAM,
)
"""In this order; the first outcome ends the phase."""
PARTS_OF_SUBAGENTS: tuple[Part, ...] = (check_answer, run_stop_hooks, *TEAM)
