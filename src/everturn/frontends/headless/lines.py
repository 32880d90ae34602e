"""JSON lines: strict UTF-8, one object each, none longer than a reader takes."""

import json
import math
from typing import Any

import msgspec

from everturn.core.messages import repair_surrogates

MAX_BYTES = 1 << 20
"""Readers of this format give up on a longer line."""
_MIN_CUT = 64
_ITEM_BYTES = 16
"""A list may keep one item for so many bytes that a text may keep."""
_KEPT = ("type", "subtype", "uuid", "session_id")
_encode = msgspec.json.Encoder(enc_hook=str).encode


def encode_line(value: dict[str, Any], *, most: int = MAX_BYTES) -> bytes:
    """With its newline. One that would be too long loses the middle of its longest texts and says `truncated`."""
    body = encode_strict(value)
    return (body if len(body) < most else _shorten(value, most)) + b"\n"


def encode_strict(value: Any) -> bytes:
    """Raw parts are foreign bytes: they are checked, and mended where they are no UTF-8 or hold a line end."""
    try:
        body = _encode(value)
        body.decode()
    except (UnicodeError, OverflowError):
        body = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), default=str).encode()
    return body.replace(b"\n", b" ").replace(b"\r", b" ")


def encode_shown(shown: Any) -> msgspec.Raw:
    """The half of a tool's result that is for people; what JSON has no form for becomes text."""
    try:
        return msgspec.Raw(encode_strict(shown))
    except (TypeError, ValueError, RecursionError):
        return msgspec.Raw(_encode(repair_surrogates(str(shown))))


def _shorten(value: dict[str, Any], most: int) -> bytes:
    plain = json.loads(encode_strict(value))
    size = most // 2
    while size >= _MIN_CUT:
        body = encode_strict(_cut(plain, size) | {"truncated": True})
        if len(body) < most:
            return body
        size //= 2
    return encode_strict({key: plain[key] for key in _KEPT if key in plain} | {"truncated": True})


def _cut(value: Any, size: int) -> Any:
    match value:
        case str() if len(value) > size:
            half = size // 2
            return f"{value[:half]}\n[… {len(value) - 2 * half:,} characters left out …]\n{value[-half:]}"
        case {"type": "image" | "document" as kind, "source": {"data": str(data)}} if len(data) > size:
            return {"type": "text", "text": f"[{kind} left out: {len(data):,} characters do not fit into a line]"}
        case dict():
            return {key: _cut(item, size) for key, item in value.items()}
        case list():
            return [_cut(item, size) for item in value[: size // _ITEM_BYTES]]
        case _:
            return value


def _plain(value: Any) -> Any:
    """Nothing but what the standard library writes as strict JSON."""
    match value:
        case msgspec.Raw():
            return _plain(json.loads(bytes(value).decode("utf-8", "replace")))
        case msgspec.Struct():
            return _plain(msgspec.to_builtins(value, enc_hook=str))
        case str():
            return repair_surrogates(value)
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {repair_surrogates(str(key)): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return value
