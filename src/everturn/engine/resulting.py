"""The last event of a query: what came of it, how long it took and what it cost."""

from everturn.core.events import Denial, ResultEvent, Terminated
from everturn.core.state import ENDINGS, Reason
from everturn.engine.iteration import Iteration
from everturn.ports.ledger import Ledger


def plan_result(
    terminated: Terminated,
    last: Iteration | None,
    ledger: Ledger,
    *,
    duration_s: float,
    api_duration_s: float,
    num_turns: int,
    denials: tuple[Denial, ...],
    denied_before: int,
    session_id: str,
) -> ResultEvent:
    """`last` is the iteration that the query ended in; None where it ended before the first."""
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
        rounds=last.state.guards.turn if last else 0,
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
        answered=last is not None and _crossed_with_answer(last, reason),
    )


def _crossed_with_answer(last: Iteration, reason: Reason) -> bool:
    """The call that crossed a limit brought the answer. One that never fitted its schema is none."""
    return last.answered and last.shop.signal.limit is not None and reason is not Reason.STRUCTURED_OUTPUT_RETRIES
