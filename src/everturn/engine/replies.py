"""What a whole response means: the one place that reads stop reasons."""

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import Any

from everturn.core.messages import Block, Kind, Message, Text, ToolUse, text_block
from everturn.engine import wording

MAX_TAIL = 4_000
"""Characters at the end of a cut answer in which a repetition is looked for."""
MIN_REPEATED = 80
"""Characters of a repetition; a shorter one may be chance."""
MIN_REPEATED_LINES = 2
"""Whole lines of a repetition, besides the line that the cut tore."""
MIN_TORN = 8
"""Characters of the torn line: indentation and the sign of a list item say nothing."""


class Meaning(Enum):
    CALLS = auto()
    ANSWER = auto()
    CUT = auto()
    WINDOW_FULL = auto()
    PAUSE = auto()
    REFUSAL = auto()


def judge_meaning(blocks: tuple[Block, ...], stop_reason: str | None, *, has_effects: bool = False) -> Meaning:
    """What the response means. Complete calls decide, not the stop reason; only a refusal before any effect comes before them."""
    if stop_reason == "refusal" and not has_effects:
        return Meaning.REFUSAL
    if any(type(block.view) is ToolUse for block in blocks):
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
    """The text of the answer to the last prompt; a resumed answer is joined from its parts."""
    parts: list[str] = []
    for message in reversed(messages):
        if message.role == "assistant":
            parts.append(message.text)
        elif message.kind is Kind.PROMPT or (parts and message.text not in wording.FOR_THE_REST):
            break
    return "".join(reversed(parts))


def trim_repetition(before: Message, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """A resumed answer without the last lines of the part before, where it repeats them beyond doubt."""
    first = blocks[0].view if blocks else None
    if not isinstance(first, Text):
        return blocks
    size = measure_repetition(before.text, first.text)
    return (text_block(first.text[size:]), *blocks[1:]) if size else blocks


def measure_repetition(before: str, after: str) -> int:
    """Length of what `after` repeats from the end of `before`; 0 where there is any doubt, since a text may repeat itself.

    There is none where the cut tore a line and `after` starts over at an earlier line: it repeats several lines and the
    beginning of the torn one, and all of that stands only once in the tail. A text that simply goes on would complete the
    torn line. After a cut between two lines nothing is removed: two equal stretches of lines may follow each other.
    """
    tail = before[-MAX_TAIL:]
    starts = [match.end() for match in re.finditer("\n", tail)] + ([0] if tail == before else [])
    repeated = [tail[start:] for start in starts if after.startswith(tail[start:])]
    found = next((text for text in repeated if _is_telling(text)), "")
    is_unique = len(repeated) == 1 and tail.find(found) == tail.rfind(found)
    return len(found) if found and is_unique and len(after) > len(found) else 0


def _is_telling(text: str) -> bool:
    lines, _, torn = text.rpartition("\n")
    return (
        len(text) >= MIN_REPEATED
        and len(torn.strip()) >= MIN_TORN
        and len([line for line in lines.split("\n") if line.strip()]) >= MIN_REPEATED_LINES
    )


def refusal_text(details: dict[str, Any]) -> str:
    category, explanation = details.get("category"), details.get("explanation")
    why = f" ({category})" if category else ""
    return f"The model refused to answer{why}." + (f" {explanation}" if explanation else "")
