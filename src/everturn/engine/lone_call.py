"""One call of a tool that no model has asked for: hooks, rules, person and limits are the same as for a call of the model's."""

from typing import Any

import msgspec

from everturn.core.messages import ToolResult, ToolUse
from everturn.engine.conversation import Conversation
from everturn.ports.abort import AbortSignal


async def run_lone_call(
    conversation: Conversation, signal: AbortSignal, name: str, input_: dict[str, Any]
) -> ToolResult:
    """Its result, an error result where it may not run or fails. It does not enter the conversation. Raises `ApproverError`."""
    deps = conversation.deps
    deps.ledger.begin_query(conversation.config.limits, deps.clock.elapsed())
    parts = conversation.query_parts(deps.ids.new(), signal)
    executor = parts.make_executor(conversation.agent)
    call = ToolUse(id=f"toolu_{deps.ids.new()}", name=name, input=msgspec.Raw(msgspec.json.encode(input_)))
    try:
        executor.add(call)
        blocks = await executor.finish()
    finally:
        await parts.crew.end()
    if executor.fault is not None:
        raise executor.fault
    found = blocks[0].view if blocks else None
    deferred = ToolResult(tool_use_id=call.id, content=msgspec.Raw(b'"A hook has put this call off."'), is_error=True)
    return found if isinstance(found, ToolResult) else deferred
