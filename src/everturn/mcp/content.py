"""What a server gave back as content of the Messages API: texts as they are, pictures, and words for what a model cannot read."""

import base64
import binascii
from collections.abc import Iterable
from typing import Any

import msgspec

from everturn.mcp.results import (
    AudioContent,
    CallOutcome,
    Content,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_PICTURE = 5 * 1024 * 1024
"""Bytes in base64 that every provider of the API takes."""
NOTHING = "(no result)"


def render_outcome(outcome: CallOutcome) -> str | list[dict[str, Any]]:
    """Texts word for word. Structured content is added where no text says the same."""
    blocks = render_content(outcome.content)
    if outcome.structured is not None and not _says(outcome.structured, outcome.content):
        blocks.append(_text(msgspec.json.encode(outcome.structured).decode()))
    return join_texts(blocks)


def render_content(content: Iterable[Content]) -> list[dict[str, Any]]:
    return [_render(each) for each in content]


def join_texts(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """A text alone where there is nothing else."""
    if all(block["type"] == "text" for block in blocks):
        return "\n".join(block["text"] for block in blocks) or NOTHING
    return blocks


def _says(structured: Any, content: Iterable[Content]) -> bool:
    for each in content:
        if isinstance(each, TextContent):
            try:
                if msgspec.json.decode(each.text) == structured:
                    return True
            except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
                continue
    return False


def _render(content: Content) -> dict[str, Any]:
    match content:
        case TextContent(text=text):
            return _text(text)
        case ImageContent(data=data, mime_type=kind):
            return _picture(data, kind)
        case AudioContent(data=data, mime_type=kind):
            return _text(
                f"[audio, {kind}, about {len(data) * 3 // 4:,} bytes: not shown, since no model here can hear it]"
            )
        case ResourceLink(uri=uri, name=name, description=description):
            about = f": {description}" if description else ""
            return _text(f"[resource {uri} ({name or 'without a name'}){about}; ReadMcpResource reads it]")
        case EmbeddedResource(resource=resource):
            return render_resource(resource)
        case _:
            return _text(msgspec.json.encode(getattr(content, "value", None)).decode())


def render_resource(resource: ResourceContents) -> dict[str, Any]:
    if resource.text is not None:
        return _text(f"[resource {resource.uri}]\n{resource.text}")
    data, kind = resource.blob or "", resource.mime_type or "application/octet-stream"
    if kind in PICTURES:
        return _picture(data, kind)
    return _text(
        f"[resource {resource.uri}, {kind}, about {len(data) * 3 // 4:,} bytes: not shown, since it is no text]"
    )


def _picture(data: str, kind: str) -> dict[str, Any]:
    """The API refuses a request with a picture that is none, and every later one with it."""
    if kind not in PICTURES:
        return _text(f"[an image of the type {kind}: not shown, since models read {', '.join(sorted(PICTURES))}]")
    if len(data) > MAX_PICTURE:
        return _text(f"[an image, {kind}, of about {len(data) * 3 // 4:,} bytes: not shown, since it is too large]")
    try:
        found = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if not _is_picture(found, kind):
        return _text(f"[an image, {kind}: not shown, since its data is no such image]")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


_BEGINNINGS = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


def _is_picture(data: bytes, kind: str) -> bool:
    return data.startswith(_BEGINNINGS[kind])


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
