"""Messages and their blocks: what was received is kept as bytes; the structures here are views for us to read."""

import json
from enum import StrEnum
from typing import Any, Literal

import msgspec

from everturn.core.budget import Usage
from everturn.core.errors import TranscriptError
from everturn.core.tokens import estimate_block

Role = Literal["user", "assistant"]


class Text(msgspec.Struct, frozen=True, gc=False, tag="text", tag_field="type"):
    text: str


class Thinking(msgspec.Struct, frozen=True, gc=False, tag="thinking", tag_field="type"):
    thinking: str = ""
    signature: str = ""


class RedactedThinking(msgspec.Struct, frozen=True, gc=False, tag="redacted_thinking", tag_field="type"):
    data: str = ""


class ToolUse(msgspec.Struct, frozen=True, gc=False, tag="tool_use", tag_field="type"):
    id: str
    name: str
    input: msgspec.Raw = msgspec.Raw(b"{}")


class ToolResult(msgspec.Struct, frozen=True, gc=False, tag="tool_result", tag_field="type"):
    tool_use_id: str
    content: msgspec.Raw = msgspec.Raw(b'""')
    """A JSON string, or a JSON list of blocks."""
    is_error: bool = False


class Image(msgspec.Struct, frozen=True, gc=False, tag="image", tag_field="type"):
    source: msgspec.Raw


class Document(msgspec.Struct, frozen=True, gc=False, tag="document", tag_field="type"):
    source: msgspec.Raw


class Opaque(msgspec.Struct, frozen=True, gc=False):
    """A block of a kind we do not know, or know and never look into: it is carried as it came."""

    type: str


View = Text | Thinking | RedactedThinking | ToolUse | ToolResult | Image | Document | Opaque
"""None of them has subclasses. Where every turn asks, it asks for the class itself: `isinstance` with a struct takes four times as long."""
_KNOWN = msgspec.json.Decoder(Text | Thinking | RedactedThinking | ToolUse | ToolResult | Image | Document)
_KIND = msgspec.json.Decoder(Opaque)
_PARTS = msgspec.json.Decoder(str | list[msgspec.Raw])
_encode = msgspec.json.Encoder().encode


ID_TAIL = 12
"""Hexadecimal digits at the end of a UUID."""


def derive_id(message_id: str, place: int) -> str:
    """Id of the part of a message that is shown by itself; the first part has the message's own."""
    if not place:
        return message_id
    head, tail = message_id[:-ID_TAIL], message_id[-ID_TAIL:]
    try:
        return f"{head}{int(tail, 16) ^ place:0{ID_TAIL}x}"
    except ValueError:
        return f"{message_id}-{place}"


class Block(msgspec.Struct, frozen=True, gc=False):
    raw: bytes
    """The block's JSON, exactly as received or as first written; this is what is sent and journaled."""
    view: View
    tokens: int
    """Estimate, made once."""
    media: int = 0
    """Images and documents in it, those inside a tool result included."""


class Kind(StrEnum):
    """What a message is to us; the API knows only its role."""

    PROMPT = "prompt"
    ANSWER = "answer"
    RESULTS = "results"
    ATTACHMENT = "attachment"
    HIDDEN = "hidden"
    """Our word to the model: a nudge, a request to resume, a stop hook's error."""
    INTERRUPTION = "interruption"
    SUMMARY = "summary"
    """Stands for messages that are no longer sent."""
    LOCAL = "local"
    """Output of a local command; sent as the user's text."""
    BOUNDARY = "boundary"
    """Nothing before it is sent. Itself never sent, like the two kinds below."""
    NOTICE = "notice"
    PROGRESS = "progress"


UNSENT = frozenset({Kind.BOUNDARY, Kind.NOTICE, Kind.PROGRESS})


class Answer(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What the API said about a response besides its blocks."""

    api_id: str = ""
    asked: str = ""
    """The model we asked; thinking blocks are bound to it."""
    model: str = ""
    """The model that answered, by its own word."""
    stop_reason: str | None = None
    usage: Usage = Usage()
    incomplete: bool = False
    """The stream was cut or aborted; what is here is what had come."""

    @property
    def counted(self) -> int:
        """Tokens of the whole conversation up to here by the API's count; 0 where it did not count all of them."""
        return 0 if self.incomplete or self.usage.estimated_output else self.usage.context


class Message(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    id: str
    role: Role
    kind: Kind
    blocks: tuple[Block, ...]
    answer: Answer | None = None
    blames: tuple[str, ...] = ()
    """Ids of messages whose media the API refused; they are sent without it."""
    keeps: tuple[str, ...] = ()
    """In a boundary: ids of earlier messages that are still sent, after the summary."""

    @property
    def tokens(self) -> int:
        return sum(block.tokens for block in self.blocks)

    @property
    def text(self) -> str:
        return "".join(block.view.text for block in self.blocks if isinstance(block.view, Text))

    @property
    def uses(self) -> tuple[ToolUse, ...]:
        """Only a model asks for tools."""
        if self.role == "user":
            return ()
        return tuple([view for block in self.blocks if type(view := block.view) is ToolUse])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """A model answers no calls."""
        if self.role == "assistant":
            return ()
        return tuple([view for block in self.blocks if type(view := block.view) is ToolResult])


def decode_block(raw: bytes) -> Block:
    """Never refuses a JSON object that Python can read: one that says nothing to us is carried as `Opaque`."""
    view: View
    try:
        view = _KNOWN.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        view = Opaque(type=_type_of(raw))
    return Block(raw, view, *_measure(raw, view))


def encode_block(view: View | dict[str, Any]) -> Block:
    """A block of our own making. Lone surrogates, which UTF-8 cannot carry, become U+FFFD."""
    try:
        raw = _encode(view)
    except UnicodeEncodeError:
        return decode_block(encode_repaired(view if isinstance(view, dict) else _fields_of(view)))
    if isinstance(view, dict):
        return decode_block(raw)
    return Block(raw, view, *_measure(raw, view))


def text_block(text: str) -> Block:
    return encode_block(Text(text))


def result_block(tool_use_id: str, content: str | list[dict[str, Any]], *, is_error: bool = False) -> Block:
    body: dict[str, Any] = {"type": "tool_result", "tool_use_id": tool_use_id, "content": content}
    if is_error:
        body["is_error"] = True
    return encode_block(body)


def result_text(result: ToolResult) -> str:
    """The text parts of a result, joined; media is left out."""
    content = _parts_of(result)
    if isinstance(content, str):
        return content
    return "\n".join(view.text for view in (decode_block(part).view for part in content) if isinstance(view, Text))


def repair_surrogates(text: str) -> str:
    """Joins surrogate pairs that arrived in two pieces; a lone half becomes U+FFFD."""
    return join_surrogates(text, lone="replace")


def join_surrogates(text: str, *, lone: str = "surrogatepass") -> str:
    """The same, but a lone half stays what it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", lone)
    return text


def encode_repaired(value: Any) -> bytes:
    return _encode(_without_surrogates(value))


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return repair_surrogates(value)
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {repair_surrogates(key): _without_surrogates(item) for key, item in value.items()}
        case _:
            return value


def _type_of(raw: bytes) -> str:
    try:
        return _KIND.decode(raw).type
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise TranscriptError("a content block is not JSON") from error
    if not isinstance(value, dict):
        raise TranscriptError("a content block is not a JSON object")
    return str(value.get("type", "unknown"))


def is_media(raw: bytes) -> bool:
    """Whether a block is an image or a document."""
    return _type_of(raw) in {"image", "document"}


def _measure(raw: bytes, view: View) -> tuple[int, int]:
    """Its tokens, and the pieces of media in it."""
    kind = type(view)
    if kind is Image or kind is Document:
        return estimate_block(0, media=1), 1
    # Most results are one text, which may be very long: it need not be decoded to see that it holds no media.
    if type(view) is ToolResult and bytes(memoryview(view.content)[:1]) == b"[":
        media = [len(part) for part in _parts_of(view) if isinstance(part, bytes) and is_media(part)]
        return estimate_block(len(raw) - sum(media), media=len(media)), len(media)
    return estimate_block(len(raw)), 0


def _parts_of(result: ToolResult) -> str | list[bytes]:
    """Without what is no block; content of any other form counts as none."""
    try:
        content = _PARTS.decode(result.content)
    except (msgspec.DecodeError, RecursionError):
        return ""
    if isinstance(content, str):
        return content
    return [raw for raw in map(bytes, content) if raw.startswith(b"{")]


def _fields_of(view: View) -> dict[str, Any]:
    return {"type": view.__struct_config__.tag} | msgspec.structs.asdict(view)
