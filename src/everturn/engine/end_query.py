"""How a query ends: calls are settled, and the transcript is left so that the next prompt can follow."""

import msgspec

from everturn.core.actions import CompactNow
from everturn.core.decide import Terminal
from everturn.core.events import Attached, Level, RetractionCause, WorkCompleted
from everturn.core.marks import tool_error
from everturn.core.messages import Block, Kind, Message, Text, ToolResult, ToolUse, result_block
from everturn.core.records import WorkSpent
from everturn.core.state import AbortCause, Reason
from everturn.core.transcript import is_blank, unanswered
from everturn.engine import wording
from everturn.engine.actions.perform import perform
from everturn.engine.replies import Meaning, judge_meaning
from everturn.engine.sampling import Attempt
from everturn.engine.turn import Turn

RECENT = 8
"""Number of messages at the end of the transcript among which an unanswered call can be."""


async def end_query(last: Turn, terminal: Terminal, *, duration_s: float) -> None:
    """`last` is the turn in which the terminal came."""
    parts, reason = last.parts, terminal.reason
    last.commit_truncated()
    if reason is not Reason.TOOL_DEFERRED:
        await settle_calls(last)
    last.summaries = parts.summaries.show_finished(last.summaries)
    if reason in {Reason.ABORTED_STREAMING, Reason.ABORTED_TOOLS} and parts.signal.cause is not AbortCause.NEW_PROMPT:
        in_tools = reason is Reason.ABORTED_TOOLS
        text = wording.INTERRUPTED_TOOLS if in_tools else wording.INTERRUPTED_STREAMING
        parts.recorder.add_user(Kind.INTERRUPTION, text)
    if reason is Reason.IMAGE_ERROR:
        # What was refused is not sent again: it would make every later prompt fail.
        await perform(last, CompactNow(media=True, every=not last.blamed))
    if terminal.overridden:
        blocks = parts.config.limits.stop_hook_blocks
        last.notice(f"Stop hooks blocked {blocks} times and were overridden.", Level.WARNING)
    if reason is Reason.MAX_TURNS and parts.config.limits.max_turns:
        detail = {"limit": parts.config.limits.max_turns, "turn": last.number + 1}
        parts.recorder.emit(Attached(kind="max_turns_reached", detail=detail))
    if terminal.work is not None:
        work = WorkSpent(
            continuations=terminal.work.work.continuations,
            percent=terminal.work.percent,
            diminishing=terminal.work.diminishing,
            duration_s=duration_s,
        )
        parts.recorder.record(work)
        parts.recorder.emit(WorkCompleted(**msgspec.structs.asdict(work)))


async def settle_calls(last: Turn) -> None:
    """Gives every call in the transcript exactly one result, wherever the query was cut off."""
    recorder, attempt = last.recorder, last.sampling.attempt
    results: list[Block] = []
    if attempt is not None and not attempt.settled:
        results = await salvage(last, attempt)
    elif attempt is not None and unanswered(recorder.transcript[-RECENT:]):
        # The response is in the transcript, but the abort came before `RunTools` waited for its calls.
        results = await attempt.executor.finish()
    answered = {block.view.tool_use_id for block in results if isinstance(block.view, ToolResult)}
    error = tool_error(wording.CALL_INTERRUPTED)
    for use in unanswered(recorder.transcript[-RECENT:]):
        if use.id not in answered:
            results.append(result_block(use.id, error, is_error=True))
    if results:
        message_id = attempt.executor.message_id if answered and attempt else ""
        last.carry(recorder.add_user(Kind.RESULTS, *results, message_id=message_id))


async def salvage(last: Turn, attempt: Attempt) -> list[Block]:
    """Keeps the finished blocks of a response that was cut off. Returns the results of its calls, which are settled first.

    An answer that was complete before the abort took effect counts as complete.
    """
    attempt.settled = True
    fold = attempt.fold
    last.answered = fold.complete and judge_meaning(fold.finish(), fold.stop_reason) is Meaning.ANSWER
    blocks = fold.finish() if last.answered else attempt.without_doubtful(fold.salvage())
    if not any(isinstance(block.view, Text | ToolUse) and not is_blank(block) for block in blocks):
        await attempt.executor.discard()
        if attempt.shown:
            last.recorder.retract(attempt.message_id, RetractionCause.ABORTED)
        return []
    if last.answered:
        last.stop_reason = fold.stop_reason
    answer = fold.answer(attempt.asked, incomplete=not last.answered)
    last.commit(Message(id=attempt.message_id, role="assistant", kind=Kind.ANSWER, blocks=blocks, answer=answer))
    return await attempt.executor.finish()
