"""From one payload of the stream to one event of ours; strict and typed on the fast path, lenient behind it."""

import json
from collections.abc import Iterator
from typing import Any, final

import msgspec

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.stream import (
    BlockStarted,
    BlockStopped,
    CitationAdded,
    CompactionFilled,
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


class _Text(msgspec.Struct, tag="text_delta"):
    text: str


class _Thinking(msgspec.Struct, tag="thinking_delta"):
    text: str = msgspec.field(name="thinking")


class _Input(msgspec.Struct, tag="input_json_delta"):
    text: str = msgspec.field(name="partial_json")


class _Signature(msgspec.Struct, tag="signature_delta"):
    text: str = msgspec.field(name="signature")


@final
class _Citation(msgspec.Struct, tag="citations_delta"):
    citation: msgspec.Raw


class _Delta(msgspec.Struct, tag="content_block_delta"):
    index: int
    delta: _Text | _Thinking | _Input | _Signature | _Citation


class _Start(msgspec.Struct, tag="content_block_start"):
    index: int
    content_block: msgspec.Raw


class _Stop(msgspec.Struct, tag="content_block_stop"):
    index: int


class _Ping(msgspec.Struct, tag="ping"):
    pass


class _Message(msgspec.Struct):
    id: str
    model: str
    usage: dict[str, Any]


class _Begin(msgspec.Struct, tag="message_start"):
    message: _Message


class _Ending(msgspec.Struct):
    stop_reason: str | None = None
    stop_details: dict[str, Any] | None = None


class _Change(msgspec.Struct, tag="message_delta"):
    delta: _Ending
    usage: dict[str, Any]
    stop_details: dict[str, Any] | None = None
    context_management: dict[str, Any] | None = None


class _End(msgspec.Struct, tag="message_stop"):
    pass


class _Whole(msgspec.Struct):
    content: list[msgspec.Raw]


_ADDED = {_Text: TextAdded, _Input: InputAdded, _Thinking: ThinkingAdded, _Signature: SignatureAdded}
_decode = msgspec.json.Decoder(_Delta | _Start | _Stop | _Ping | _Begin | _Change | _End).decode


def decode_event(payload: bytes) -> StreamEvent:
    """Raises `ModelFault` for an error event and for what is no JSON object; what is unknown counts as a ping."""
    try:
        event = _decode(payload)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return decode_rare(payload)
    if type(event) is _Delta:
        # Most events are these.
        delta = event.delta
        if type(delta) is _Citation:
            return CitationAdded(event.index, keep_raw(delta.citation))
        return _ADDED[type(delta)](event.index, delta.text)
    match event:
        case _Start():
            return BlockStarted(event.index, keep_raw(event.content_block))
        case _Stop():
            return BlockStopped(event.index)
        case _Begin():
            return MessageStarted(event.message.id, event.message.model, event.message.usage)
        case _Change():
            details = event.delta.stop_details or event.stop_details or {}
            cleared = count_cleared(event.context_management) if event.context_management else 0
            return MessageChanged(event.delta.stop_reason or None, details, event.usage, cleared)
        case _End():
            return MessageStopped()
        case _:
            return Pinged()


def decode_rare(payload: bytes) -> StreamEvent:
    """Errors, and every event that is not quite as it should be."""
    match load_object(payload, "The stream held an event"):
        case {"type": "message_start", "message": dict(message)}:
            return MessageStarted(_string(message, "id"), _string(message, "model"), _object(message, "usage"))
        case {"type": "message_delta"} as event:
            delta = _object(event, "delta")
            details = _object(delta, "stop_details") or _object(event, "stop_details")
            cleared = count_cleared(_object(event, "context_management"))
            return MessageChanged(_string(delta, "stop_reason") or None, details, _object(event, "usage"), cleared)
        case {"type": "message_stop"}:
            return MessageStopped()
        case {"type": "content_block_delta", "delta": dict(delta)} as event:
            return _decode_delta(_index(event), delta)
        case {"type": "content_block_start", "content_block": dict(block)} as event:
            return BlockStarted(_index(event), json.dumps(block).encode())
        case {"type": "content_block_stop"} as event:
            return BlockStopped(_index(event))
        case {"type": "error"} | {"error": _} as event if "type" not in event or event["type"] == "error":
            raise _classify(event)
        case _:
            return Pinged()


def _classify(event: dict[str, Any]) -> ModelFault:
    from everturn.models.anthropic.faults import classify_event

    return classify_event(event)


def count_cleared(management: dict[str, Any]) -> int:
    """Tokens that context editing took out."""
    edits = management.get("applied_edits")
    counts = (
        [edit.get("cleared_input_tokens") for edit in edits if isinstance(edit, dict)]
        if isinstance(edits, list)
        else []
    )
    return sum(count for count in counts if isinstance(count, int) and count > 0)


def decode_message(body: bytes) -> Iterator[StreamEvent]:
    """A whole message, from a server that does not stream, as the events it stands for."""
    message = load_object(body, "The API answered with something")
    if message.get("type") == "error" or "error" in message:
        raise _classify(message)
    blocks = message.get("content")
    if not isinstance(blocks, list):
        raise ModelFault(FaultKind.NOT_AN_API, "The server did not answer as an API: its JSON is no message.")
    usage = _object(message, "usage")
    yield MessageStarted(_string(message, "id"), _string(message, "model"), usage)
    for index, raw in enumerate(_raw_blocks(body, blocks)):
        yield BlockStarted(index, raw)
        yield BlockStopped(index)
    yield MessageChanged(_string(message, "stop_reason") or None, _object(message, "stop_details"), usage)
    yield MessageStopped()


def keep_raw(received: msgspec.Raw) -> bytes:
    """The received bytes, on one line (a newline can only stand between tokens) and valid UTF-8."""
    raw = bytes(received)
    if b"\n" in raw or b"\r" in raw:
        raw = raw.replace(b"\n", b" ").replace(b"\r", b" ")
    try:
        raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace").encode()
    return raw


def _raw_blocks(body: bytes, blocks: list[Any]) -> list[bytes]:
    try:
        return [keep_raw(raw) for raw in msgspec.json.decode(body, type=_Whole).content]
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return [json.dumps(block).encode() for block in blocks]


def load_object(payload: bytes, what: str) -> dict[str, Any]:
    """The lenient reader: lone surrogates pass, bytes that are no UTF-8 become U+FFFD."""
    try:
        value = json.loads(payload.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise ModelFault(FaultKind.STREAM_BROKEN, f"{what} that is not JSON.") from None
    if not isinstance(value, dict):
        raise ModelFault(FaultKind.STREAM_BROKEN, f"{what} that is not a JSON object.")
    return value


def _decode_delta(index: int, delta: dict[str, Any]) -> StreamEvent:
    match delta:
        case {"type": "text_delta", "text": str(text)}:
            return TextAdded(index, text)
        case {"type": "thinking_delta", "thinking": str(text)}:
            return ThinkingAdded(index, text)
        case {"type": "input_json_delta", "partial_json": str(text)}:
            return InputAdded(index, text)
        case {"type": "signature_delta", "signature": str(text)}:
            return SignatureAdded(index, text)
        case {"type": "citations_delta", "citation": dict(citation)}:
            return CitationAdded(index, json.dumps(citation).encode())
        case {"type": "compaction_delta"}:
            return CompactionFilled(index, json.dumps(delta).encode())
        case _:
            return Pinged()


def _index(event: dict[str, Any]) -> int:
    index = event.get("index", 0)
    return index if isinstance(index, int) and index >= 0 else 0


def _string(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _object(fields: dict[str, Any], name: str) -> dict[str, Any]:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}
