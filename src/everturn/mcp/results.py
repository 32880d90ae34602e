"""What a server gives back: content of tools, resources and prompts. Decoded here, so that a later reader meets no surprises."""

from typing import Any, Literal

import msgspec


class ResourceContents(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`text`, or `blob` in base64."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None


class Content(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One block of it. Which class it is says what it holds."""


class TextContent(Content, frozen=True, kw_only=True):
    text: str


class ImageContent(Content, frozen=True, kw_only=True):
    """`data` in base64, not looked at."""

    data: str
    mime_type: str


class AudioContent(Content, frozen=True, kw_only=True):
    """`data` in base64, not looked at."""

    data: str
    mime_type: str


class ResourceLink(Content, frozen=True, kw_only=True):
    """The resource itself is not there: `McpClient.read_resource` gets it."""

    uri: str
    name: str = ""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None


class EmbeddedResource(Content, frozen=True, kw_only=True):
    resource: ResourceContents


class OtherContent(Content, frozen=True, kw_only=True):
    """A kind that this version does not know, or one that does not hold what its kind should."""

    value: Any


class CallOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """`structured` is None where the tool has given none. `is_error`: the tool says that it failed; the content says why."""

    content: tuple[Content, ...] = ()
    structured: Any = None
    is_error: bool = False
    meta: dict[str, Any] | None = None


class PromptMessage(msgspec.Struct, frozen=True, kw_only=True):
    role: Literal["user", "assistant"]
    content: Content


class FilledPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt with its arguments put in."""

    messages: tuple[PromptMessage, ...]
    description: str = ""


_KINDS: dict[str, type[Content]] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource_link": ResourceLink,
    "resource": EmbeddedResource,
}


class _RawCall(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    content: list[Any] | None = None
    structured_content: Any = None
    is_error: bool | None = None
    tool_result: Any = None
    """As the very first version of the protocol had it."""
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class _RawResource(msgspec.Struct, frozen=True, kw_only=True):
    contents: tuple[ResourceContents, ...]


class _RawMessage(msgspec.Struct, frozen=True, kw_only=True):
    role: Literal["user", "assistant"]
    content: Any


class _RawPrompt(msgspec.Struct, frozen=True, kw_only=True):
    messages: tuple[_RawMessage, ...]
    description: str | None = None


_CALL = msgspec.json.Decoder(_RawCall)
_RESOURCE = msgspec.json.Decoder(_RawResource)
_PROMPT = msgspec.json.Decoder(_RawPrompt)


def decode_content(value: Any) -> Content:
    kind = _KINDS.get(value.get("type", "")) if isinstance(value, dict) else None
    if kind is not None:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            pass
    return OtherContent(value=value)


def decode_call(raw: bytes) -> CallOutcome:
    """Raises `msgspec.DecodeError`."""
    found = _CALL.decode(raw)
    structured = found.structured_content if found.structured_content is not None else found.tool_result
    return CallOutcome(
        content=tuple(map(decode_content, found.content or ())),
        structured=structured,
        is_error=found.is_error is True,
        meta=found.meta,
    )


def decode_resource(raw: bytes) -> tuple[ResourceContents, ...]:
    """Raises `msgspec.DecodeError`."""
    return _RESOURCE.decode(raw).contents


def decode_prompt(raw: bytes) -> FilledPrompt:
    """Raises `msgspec.DecodeError`."""
    found = _PROMPT.decode(raw)
    messages = tuple(PromptMessage(role=each.role, content=decode_content(each.content)) for each in found.messages)
    return FilledPrompt(messages=messages, description=found.description or "")
