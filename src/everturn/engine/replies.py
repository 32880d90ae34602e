"""What a whole response means: the one place that reads stop reasons."""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Any

from everturn.core.messages import Block, Kind, Message, Text, ToolUse, text_block
from everturn.engine import wording

OVERLAP_MOST = 400
"""Characters in which the repetition of a resumed answer is looked for."""
OVERLAP_LEAST = 8
"""Shorter repetitions are chance."""


class Meaning(Enum):
    CALLS = auto()
    ANSWER = auto()
    CUT = auto()
    WINDOW_FULL = auto()
    PAUSE = auto()
    REFUSAL = auto()


def judge_meaning(blocks: tuple[Block, ...], stop_reason: str | None, *, has_effects: bool = False) -> Meaning:
    """Whether there are complete calls decides, not the stop reason; only a refusal before any effect beats them."""
    if stop_reason == "refusal" and not has_effects:
        return Meaning.REFUSAL
    if any(isinstance(block.view, ToolUse) for block in blocks):
        return Meaning.CALLS
    match stop_reason:
        case "max_tokens":
            return Meaning.CUT
        case "model_context_window_exceeded":
            return Meaning.WINDOW_FULL
        case "pause_turn" | "compaction":
            return Meaning.PAUSE
        case _:
            return Meaning.ANSWER


def answer_text(messages: Sequence[Message]) -> str:
    """The answer to the last prompt; one that was resumed is put together from its parts."""
    parts: list[str] = []
    for message in reversed(messages):
        if message.role == "assistant":
            parts.append(message.text)
        elif message.kind is Kind.PROMPT or (parts and message.text not in wording.FOR_THE_REST):
            break
    return "".join(reversed(parts))


def trim_overlap(before: Message, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """A resumed answer without the words that it repeats from the part before."""
    first = blocks[0].view if blocks else None
    if not isinstance(first, Text):
        return blocks
    size = measure_overlap(before.text, first.text)
    return (text_block(first.text[size:]), *blocks[1:]) if size else blocks


def measure_overlap(before: str, after: str) -> int:
    """Length of the longest end of `before` that `after` starts with."""
    for size in range(min(OVERLAP_MOST, len(before), len(after)), OVERLAP_LEAST - 1, -1):
        if before.endswith(after[:size]):
            return size
    return 0


def refusal_text(details: dict[str, Any]) -> str:
    category, explanation = details.get("category"), details.get("explanation")
    why = f" ({category})" if category else ""
    return f"The model refused to answer{why}." + (f" {explanation}" if explanation else "")
