"""What of a message can be searched: the words of prompts, answers, calls and results."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from everturn.core.messages import Kind
from everturn.core.records import MessageAdded

MAX_LENGTH = 100_000
"""Characters of one message; what is behind them is not found."""
_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""Colours and movements in the output of commands."""
SPEAKERS = {Kind.PROMPT: "prompt", Kind.ANSWER: "answer", Kind.RESULTS: "result", Kind.SUMMARY: "summary"}
"""Whose words are searched."""


class _Part(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""
    content: Any = None
    input: Any = None


_PART = msgspec.json.Decoder(_Part)


def render_passage(record: MessageAdded) -> str:
    """Empty where nothing of it is searched."""
    if record.kind not in SPEAKERS:
        return ""
    text = "\n".join(text for raw in record.blocks for text in _texts(bytes(raw)) if text)
    # An excerpt may begin anywhere: what a terminal would obey as a whole would show in part, as `0m`.
    return (_SEQUENCES.sub("", text) if "\x1b" in text else text)[:MAX_LENGTH]


def render_text(record: MessageAdded) -> str:
    """The text blocks alone."""
    return "\n".join(part.text for raw in record.blocks if (part := _decode(bytes(raw))) and part.type == "text")


def _texts(raw: bytes) -> Iterator[str]:
    part = _decode(raw)
    match part:
        case _Part(type="text", text=text):
            yield text
        case _Part(type="tool_use", input=called):
            yield from _strings(called)
        case _Part(type="tool_result", content=str(text)):
            yield text
        case _Part(type="tool_result", content=list(parts)):
            yield from (inner["text"] for inner in parts if isinstance(inner, dict) and _is_text(inner.get("text")))


def _decode(raw: bytes) -> _Part | None:
    try:
        return _PART.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _strings(item)
        case dict():
            for item in value.values():
                yield from _strings(item)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
