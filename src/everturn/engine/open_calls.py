"""Calls that a crash or a closed iterator left without a result: each gets a result that says what is unknown."""

from collections.abc import Mapping

from everturn.core.marks import tool_error
from everturn.core.messages import Kind, ToolUse, result_block
from everturn.core.records import CallIntended, CallSettled
from everturn.core.transcript import unanswered
from everturn.engine import wording
from everturn.engine.recorder import Recorder


def close_calls(recorder: Recorder) -> bool:
    """Adds the missing results, and returns whether there were any. A call whose message was lost is reported to the model once."""
    unsettled = dict(recorder.unsettled)
    results = [
        result_block(use.id, open_call_text(use, unsettled), is_error=True) for use in unanswered(recorder.transcript)
    ]
    lost = [
        wording.lost_call(intent.name, bytes(intent.input).decode("utf-8", "replace"), waited=intent.ahead)
        for intent in unsettled.values()
        if intent.tool_use_id not in recorder.use_ids
    ]
    if results:
        recorder.add_user(Kind.RESULTS, *results)
    if lost:
        recorder.add_user(Kind.HIDDEN, *lost)
    for id_ in tuple(recorder.unsettled):
        recorder.record(CallSettled(tool_use_id=id_, is_error=True))
    return bool(results)


def open_call_text(use: ToolUse, unsettled: Mapping[str, CallIntended]) -> str:
    if (intent := unsettled.get(use.id)) is not None:
        return wording.unknown_outcome(use.name, bytes(use.input).decode("utf-8", "replace"), waited=intent.ahead)
    return tool_error(wording.CALL_INTERRUPTED)
