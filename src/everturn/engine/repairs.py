"""Repairs of messages that the API refused: what each takes out of them, now and in a resumed session."""

import re
from collections.abc import Collection, Iterable, Sequence

import msgspec

from everturn.core.messages import (
    Block,
    Message,
    RedactedThinking,
    Thinking,
    ToolResult,
    ToolUse,
    result_text,
    text_block,
)
from everturn.core.records import MessagesMended
from everturn.core.schedule import Repair
from everturn.engine import wording


def plan_mending(view: Sequence[Message], repair: Repair, complaint: str) -> MessagesMended:
    """Which messages the repair changes; of pairs, only those that the complaint names by their ids."""
    calls: tuple[str, ...] = ()
    if repair is Repair.REPAIR_PAIRS:
        named = set(re.findall(r"[\w-]+", complaint))
        known = {id_ for message in view for id_ in _call_ids(message)}
        calls = tuple(sorted(named & known))
    changed = tuple(message.id for message in view if _rebuild(message, repair, calls) is not message)
    return MessagesMended(repair=repair, messages=changed, calls=calls)


def mend_messages(messages: Iterable[Message], plan: MessagesMended) -> tuple[Message, ...]:
    changed = set(plan.messages)
    return tuple(
        _rebuild(message, plan.repair, plan.calls) if message.id in changed else message for message in messages
    )


def _rebuild(message: Message, repair: str, calls: Collection[str]) -> Message:
    if repair == Repair.DROP_THINKING:
        mended = [block for block in message.blocks if not isinstance(block.view, Thinking | RedactedThinking)]
    else:
        mended = [new for block in message.blocks if (new := _unpair(block, calls)) is not None]
    blocks = tuple(mended)
    return message if blocks == message.blocks else msgspec.structs.replace(message, blocks=blocks)


def _unpair(block: Block, calls: Collection[str]) -> Block | None:
    """The block without the call that the API refused; its result becomes plain text."""
    match block.view:
        case ToolUse(id=id_) if id_ in calls:
            return None
        case ToolResult(tool_use_id=id_) as result if id_ in calls:
            return text_block(wording.unpaired_result(result_text(result)))
        case _:
            return block


def _call_ids(message: Message) -> list[str]:
    return [use.id for use in message.uses] + [result.tool_use_id for result in message.results]
