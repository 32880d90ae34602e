"""Stage four: stale results of tools that can be run again give way to a line, once, and many at a time."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from everturn.context.accounting import usable_window
from everturn.context.following import SHELL, field_of
from everturn.context.sight import RERUNNABLE, Shown
from everturn.core.messages import Block, Message, ToolResult, ToolUse, result_block
from everturn.ports.context import Situation
from everturn.ports.model import Clearing

STAGE = "microcompact"
LINE = "[The result of {call} (about {tokens:,} tokens) went stale and was cleared. Run it again if it is needed.]"
LINE_TOKENS = 60
CLEARED_BY_API = RERUNNABLE - {SHELL}
"""The API does not know which command failed last, and that one must stay in sight."""
TARGETS = ("file_path", "command", "pattern", "url", "query", "task_id")
LONGEST_TARGET = 120
LARGE_SHARE = 0.25
"""Of the window: a result so large is in the way even if it is the latest."""


def plan_clearing(
    shown: Sequence[Shown], tokens: int, situation: Situation, *, held: Collection[str], forced: bool = False
) -> dict[str, str]:
    """Lines by `tool_use_id`; empty where it would not be worth the cache that it breaks.

    `held` are results that must stay in sight. `forced`: the request was refused, so whatever frees something is worth it.
    """
    limits, room = situation.limits, usable_window(situation)
    if not forced and (situation.card.clears_results or tokens <= limits.clear_share * room):
        return {}
    keeps = min(limits.clear_keeps, len(shown))
    stale = list(shown[: len(shown) - keeps])
    if forced:
        stale += [each for each in shown[len(shown) - keeps :] if each.tokens > LARGE_SHARE * room]
    stale = [each for each in stale if each.use.id not in held]
    gain = sum(each.tokens - LINE_TOKENS for each in stale)
    if gain <= 0 or (not forced and gain < limits.clear_gain * room):
        return {}
    return {each.use.id: render_line(each.use, each.tokens) for each in stale}


def plan_by_api(situation: Situation) -> Clearing | None:
    """Where the API clears stale results itself, that is better: nothing that was sent changes."""
    if not situation.card.clears_results:
        return None
    limits, room = situation.limits, usable_window(situation)
    return Clearing(
        above=max(int(limits.clear_share * room), 1),
        keep=limits.clear_keeps,
        at_least=int(limits.clear_gain * room),
        excluded=tuple(name for name in situation.tools if name not in CLEARED_BY_API),
    )


def render_line(use: ToolUse, tokens: int) -> str:
    target = next((text for name in TARGETS if (text := field_of(use, name))), "")
    shown = target if len(target) <= LONGEST_TARGET else f"{target[:LONGEST_TARGET]}…"
    return LINE.format(call=f"{use.name} {' '.join(shown.split())}".rstrip(), tokens=tokens)


def clear_results(messages: Sequence[Message], lines: Mapping[str, str]) -> tuple[Message, ...]:
    """Messages without any of these come back as they are."""
    return tuple(_clear(message, lines) if _concerns(message, lines) else message for message in messages)


def _concerns(message: Message, lines: Mapping[str, str]) -> bool:
    return any(isinstance(block.view, ToolResult) and block.view.tool_use_id in lines for block in message.blocks)


def _clear(message: Message, lines: Mapping[str, str]) -> Message:
    return msgspec.structs.replace(message, blocks=tuple(_clear_block(block, lines) for block in message.blocks))


def _clear_block(block: Block, lines: Mapping[str, str]) -> Block:
    if not isinstance(block.view, ToolResult) or (line := lines.get(block.view.tool_use_id)) is None:
        return block
    return result_block(block.view.tool_use_id, line, is_error=block.view.is_error)
