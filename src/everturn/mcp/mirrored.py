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
_DATA = frozenset({"default", "examples", "const", "enum", "title", "description"})
"""Parts of a schema that hold values."""
Mirrored = tuple[tuple[tuple[str, ...], str], ...]
"""Where an argument is, and the name of its header without the prefix."""


class MisplacedHeaderError(Exception):
    """An annotation that the protocol does not allow: such a tool must not be called over HTTP."""


def find_mirrored(schema: Mapping[str, Any]) -> Mirrored:
    """Raises `MisplacedHeaderError`; its text is a part of a sentence."""
    found = tuple(_walk(schema, ()))
    names = [token.lower() for _, token in found]
    if len(set(names)) < len(names):
        raise MisplacedHeaderError("two arguments want the same header")
    return found


def _walk(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, part in schema.items():
        if key == "properties" and isinstance(part, dict):
            for name, field in part.items():
                if isinstance(field, dict):
                    yield from _walk(field, (*path, name)) if len(path) < MAX_DEPTH else ()
        elif key == KEY:
            yield path, _judge(part, schema.get("type"), path)
        elif key not in _DATA and _mentions(part):
            raise MisplacedHeaderError(f"{KEY} stands inside {key!r}")


def _judge(token: Any, kind: Any, path: tuple[str, ...]) -> str:
    where = ".".join(path)
    if not path:
        raise MisplacedHeaderError(f"{KEY} stands outside every argument")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise MisplacedHeaderError(f"the {KEY} of {where} is no name of a header")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise MisplacedHeaderError(f"{where} has a {KEY} and is neither text, a whole number nor a truth value")
    return token


def _mentions(part: Any) -> bool:
    """Level by level: what is nested deeper than anything sensible is not looked at."""
    level = [part]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                if KEY in each:
                    return True
                below += each.values()
            elif isinstance(each, list):
                below += each
        level = below
    return False


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
