"""The last event of a query: its outcome, duration and cost."""

from typing import TYPE_CHECKING, Any

from everturn.core.denials import Denial
from everturn.core.events import ResultEvent, Terminated
from everturn.core.state import ENDINGS, Reason
from everturn.engine.hook_calls import decode_input
from everturn.engine.turn import Turn
from everturn.ports.ledger import Ledger

if TYPE_CHECKING:
    from everturn.engine.goals import GoalWork


def plan_result(
    terminated: Terminated,
    last: Turn | None,
    ledger: Ledger,
    *,
    duration_s: float,
    api_duration_s: float,
    num_turns: int,
    denials: tuple[Denial, ...],
    denied_before: int,
    session_id: str,
    goal: "GoalWork | None" = None,
) -> ResultEvent:
    """`last` is the turn that the query ended in; None where it ended before the first."""
    reason, problem = terminated.reason, terminated.problem
    ending = ENDINGS[reason]
    failed_by_api = reason is Reason.MODEL_ERROR and problem is not None and problem.by_api
    text = last.text if last else ""
    if problem is not None and ending.subtype == "success" and reason is not Reason.COMPLETED:
        text = problem.text
    return ResultEvent(
        subtype=ending.subtype,
        is_error=ending.is_error or problem is not None,
        duration_s=duration_s,
        api_duration_s=api_duration_s,
        num_turns=num_turns,
        rounds=last.number if last and reason is not Reason.PROMPT_BLOCKED else 0,
        text=text,
        stop_reason=last.stop_reason if last else None,
        reason=reason,
        terminal_reason="api_error" if failed_by_api else ending.public,
        exit=terminated.exit,
        total_usd=ledger.session_usd,
        usage=ledger.query_usage,
        models=ledger.models,
        denials=denials,
        denied_before=denied_before,
        errors=(problem.text,) if problem else (),
        session_id=session_id,
        structured_output=last.structured if last else None,
        deferred_tool_use=describe_deferred(last),
        answered=last is not None and _ended_with_answer(last, reason),
        goal=goal.state if goal else "",
        goal_attempts=goal.attempts if goal else 0,
        goal_files=goal.files if goal else (),
    )


def _ended_with_answer(last: Turn, reason: Reason) -> bool:
    """Whether an error ended the query and there is a complete answer all the same: it crossed a limit, or the goal was not met.

    An answer that never fitted its schema is none.
    """
    by_limit = last.parts.signal.limit is not None and reason is not Reason.STRUCTURED_OUTPUT_RETRIES
    return last.answered and (by_limit or reason is Reason.GOAL_NOT_MET)


def describe_deferred(last: Turn | None) -> dict[str, Any] | None:
    if last is None or (use := last.deferred) is None:
        return None
    return {"id": use.id, "name": use.name, "input": decode_input(use)}
