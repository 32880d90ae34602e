"""Arguments that a tool wants in headers as well, for those who only look at headers (`x-mcp-header`, streamable HTTP from 2026-07-28 on). Pure."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from everturn.core.patterns import compile_late

KEY = "x-mcp-header"
PREFIX = "mcp-param-"
MAX_DEPTH = 20
_TOKEN = compile_late(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_PLAIN = compile_late(r"(?!=\?base64\?.*\?=$)[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_KINDS = frozenset({"string", "integer", "boolean"})
Mirrored = tuple[tuple[tuple[str, ...], str], ...]
"""Where an argument is, and the name of its header without the prefix."""


def find_mirrored(schema: Mapping[str, Any]) -> Mirrored:
    """An annotation that the protocol does not allow counts as none."""
    return tuple(_walk(schema, ()))


def _walk(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    fields = schema.get("properties")
    if not isinstance(fields, dict) or len(path) >= MAX_DEPTH:
        return
    for name, field in fields.items():
        if not isinstance(field, dict):
            continue
        token = field.get(KEY)
        if isinstance(token, str) and _TOKEN.fullmatch(token) and field.get("type") in _KINDS:
            yield (*path, name), token
        yield from _walk(field, (*path, name))


def encode_mirrored(mirrored: Mirrored, arguments: Mapping[str, Any]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for path, token in mirrored:
        value: Any = arguments
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, bool):
            headers[PREFIX + token.lower()] = str(value).lower()
        elif isinstance(value, str | int):
            headers[PREFIX + token.lower()] = encode_value(str(value))
    return headers


def encode_value(text: str) -> str:
    """For a header: as it is where that is allowed, else in base64."""
    if not text or _PLAIN.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="
