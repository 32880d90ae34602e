"""What a model does in a property: scenes with a short repr, played as the events of one stream."""

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
    Pinged,
    SignatureAdded,
    StreamEvent,
    TextAdded,
    ThinkingAdded,
)
from everturn.modelserver.signatures import sign

CARRIED: dict[str, dict[str, Any]] = {
    "server_tool_use": {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
    "web_search_tool_result": {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    "redacted_thinking": {"type": "redacted_thinking", "data": "c2VjcmV0"},
    "novelty": {"type": "novelty", "what": {"nobody": ["knows", 1.50]}},
}
"""Blocks that come whole: those of the server's own tools, and one that no rule knows."""


class Say(msgspec.Struct, frozen=True):
    text: str = "Hello there."


class Think(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    text: str = "Hm."
    signed: bool = True


class Use(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    tool: str
    input: str = "{}"
    """Its JSON as it is streamed, not necessarily whole; empty = no delta comes."""
    id: str | None = None
    """None = the next free one; empty = the block has none."""


class Carry(msgspec.Struct, frozen=True):
    kind: str


class Break(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    """The stream ends early: with a fault, or without a word."""

    after: int = 0
    kind: FaultKind | None = None


class Scene(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    blocks: tuple[Say | Think | Use | Carry, ...] = ()
    stop: str | None = "end_turn"
    breaks: Break | None = None
    output: int | None = 1
    """Output tokens by the API's word; None = it says nothing about usage."""
    input: int = 10


GOOD = Scene(blocks=(Say("All is well."),))


def play(scene: Scene, *, model: str, ids: Iterator[str]) -> Iterator[StreamEvent]:
    events = _events(scene, model=model, ids=ids)
    if scene.breaks is None:
        yield from events
        return
    for _, event in zip(range(scene.breaks.after), events, strict=False):
        yield event
    if (kind := scene.breaks.kind) is not None:
        raise ModelFault(kind, f"A fault: {kind}, toolu_1.", status=400)


def _events(scene: Scene, *, model: str, ids: Iterator[str]) -> Iterator[StreamEvent]:
    report = {} if scene.output is None else {"input_tokens": scene.input, "output_tokens": scene.output}
    yield MessageStarted("msg", model, {**report, "output_tokens": 0} if report else {})
    yield Pinged()
    for index, block in enumerate(scene.blocks):
        yield from _stream_block(index, block, model, ids)
    yield MessageChanged(scene.stop, {}, report)
    yield MessageStopped()


def _stream_block(
    index: int, block: Say | Think | Use | Carry, model: str, ids: Iterator[str]
) -> Iterator[StreamEvent]:
    match block:
        case Say(text):
            yield BlockStarted(index, b'{"type":"text","text":""}')
            yield TextAdded(index, text)
        case Think(text, signed):
            yield BlockStarted(index, b'{"type":"thinking","thinking":"","signature":""}')
            yield ThinkingAdded(index, text)
            if signed:
                yield SignatureAdded(index, sign(model, text))
        case Use(tool, json_text, id_):
            named = {} if id_ == "" else {"id": next(ids) if id_ is None else id_}
            yield BlockStarted(index, msgspec.json.encode({"type": "tool_use", **named, "name": tool, "input": {}}))
            half = len(json_text) // 2
            pieces = () if json_text == "{}" else (json_text[:half], json_text[half:])
            yield from (InputAdded(index, piece) for piece in ("", *pieces))
        case Carry(kind):
            yield BlockStarted(index, msgspec.json.encode(CARRIED[kind]))
    yield BlockStopped(index)
