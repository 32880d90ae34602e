"""Words for what a model does: small parts, joined with `+` to one answer, played as the events of a stream."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.stream import (
    BlockStarted,
    BlockStopped,
    InputAdded,
    MessageChanged,
    MessageStarted,
    MessageStopped,
    SignatureAdded,
    StreamEvent,
    TextAdded,
    ThinkingAdded,
)

PIECE = 8
"""Characters per delta: short, so that small answers stream too."""


class Said(msgspec.Struct, frozen=True):
    text: str


class Thought(msgspec.Struct, frozen=True):
    text: str
    signature: str


class Called(msgspec.Struct, frozen=True):
    name: str
    input: str
    """Its JSON, not necessarily whole."""
    id: str | None = None
    """None = the next free one."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    kind: FaultKind
    text: str
    status: int | None = None
    retry_after: float | None = None

    def raised(self) -> ModelFault:
        """A fresh one each time: an exception that is raised twice drags its first traceback along."""
        return ModelFault(self.kind, self.text, status=self.status, retry_after=self.retry_after)


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """An answer or a piece of one. In a sum the blocks follow each other, and the later word on the ending counts."""

    blocks: tuple[Said | Thought | Called, ...] = ()
    stop_reason: str | None = None
    """None = what fits: tool_use after a call, else end_turn."""
    details: dict[str, Any] = {}
    report: dict[str, int] = {}
    fault: Fault | None = None
    """Raised where the answer would have ended."""
    cut_after: int | None = None
    """Events after which the stream just ends."""

    def __add__(self, other: "Part") -> "Part":
        return Part(
            blocks=self.blocks + other.blocks,
            stop_reason=other.stop_reason or self.stop_reason,
            details=other.details or self.details,
            report={**self.report, **other.report},
            fault=other.fault or self.fault,
            cut_after=self.cut_after if other.cut_after is None else other.cut_after,
        )


def say(text: str) -> Part:
    return Part(blocks=(Said(text),))


def think(text: str, signature: str = "signed") -> Part:
    return Part(blocks=(Thought(text, signature),))


def call(name: str, /, **input_: Any) -> Part:
    return Part(blocks=(Called(name, json.dumps(input_)),))


def call_as(id_: str, name: str, /, **input_: Any) -> Part:
    """A call with an id of its own, to ask what happens when two are the same."""
    return Part(blocks=(Called(name, json.dumps(input_), id_),))


def call_raw(name: str, json_text: str) -> Part:
    """A call whose input is these bytes, valid or not."""
    return Part(blocks=(Called(name, json_text),))


def fails(
    kind: FaultKind, text: str = "It failed.", *, status: int | None = None, retry_after: float | None = None
) -> Part:
    """Alone: the attempt fails before its first event. After other parts: in mid-stream, once they have been sent."""
    return Part(fault=Fault(kind=kind, text=text, status=status, retry_after=retry_after))


def cut(*, after: int) -> Part:
    """The stream ends after so many events, without a word."""
    return Part(cut_after=after)


def truncated(text: str) -> Part:
    """The answer hits the output cap."""
    return say(text) + Part(stop_reason="max_tokens")


def refuse(explanation: str = "", category: str = "general_harms") -> Part:
    details = {"type": "refusal", "category": category, "explanation": explanation}
    return Part(stop_reason="refusal", details=details)


def pause(text: str = "Still at it.") -> Part:
    return say(text) + Part(stop_reason="pause_turn")


def stops(reason: str) -> Part:
    return Part(stop_reason=reason)


def usage(**counters: int) -> Part:
    """`input`, `output`, `cache_write` and `cache_read`; those not named are estimated or 0."""
    names = {
        "input": "input_tokens",
        "output": "output_tokens",
        "cache_write": "cache_creation_input_tokens",
        "cache_read": "cache_read_input_tokens",
    }
    return Part(report={names[name]: count for name, count in counters.items()})


def play(part: Part, *, api_id: str, model: str, input_tokens: int, first_call: int) -> Iterator[StreamEvent]:
    """The events of one answer. Raises the part's fault; calls without an id are numbered from `first_call`."""
    events = _events(part, api_id=api_id, model=model, input_tokens=input_tokens, first_call=first_call)
    if part.cut_after is None:
        yield from events
        return
    if part.cut_after <= 0:
        raise ModelFault(FaultKind.STREAM_BROKEN, "The stream ended before it began.")
    for _, event in zip(range(part.cut_after), events, strict=False):
        yield event


def _events(part: Part, *, api_id: str, model: str, input_tokens: int, first_call: int) -> Iterator[StreamEvent]:
    if part.fault is not None and not part.blocks:
        raise part.fault.raised()
    spoken = sum(len(block.input if isinstance(block, Called) else block.text) for block in part.blocks)
    report = {"input_tokens": input_tokens, "output_tokens": 1 + spoken // 4, **part.report}
    yield MessageStarted(api_id, model, {**report, "output_tokens": 1})
    for index, block in enumerate(part.blocks):
        if isinstance(block, Called) and block.id is None:
            block = Called(block.name, block.input, f"toolu_{first_call}")  # noqa: PLW2901 (the same call, with its id)
            first_call += 1
        yield from _stream_block(index, block)
    if part.fault is not None:
        raise part.fault.raised()
    calls = any(isinstance(block, Called) for block in part.blocks)
    yield MessageChanged(part.stop_reason or ("tool_use" if calls else "end_turn"), part.details, report)
    yield MessageStopped()


def _stream_block(index: int, block: Said | Thought | Called) -> Iterator[StreamEvent]:
    match block:
        case Said(text):
            yield BlockStarted(index, b'{"type":"text","text":""}')
            yield from (TextAdded(index, piece) for piece in _pieces(text))
        case Thought(text, signature):
            yield BlockStarted(index, b'{"type":"thinking","thinking":"","signature":""}')
            yield from (ThinkingAdded(index, piece) for piece in _pieces(text))
            yield SignatureAdded(index, signature)
        case Called(name, json_text, id_):
            opening: dict[str, Any] = {"type": "tool_use", "id": id_, "name": name, "input": {}}
            yield BlockStarted(index, msgspec.json.encode(opening))
            # As the API does: an empty piece first, and no other for a call without arguments.
            yield InputAdded(index, "")
            yield from (InputAdded(index, piece) for piece in _pieces("" if json_text == "{}" else json_text))
    yield BlockStopped(index)


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))
