"""Finds the line on which a field of a JSON text stands, so that an error can point at it."""

import json
import re

_BLANKS = re.compile(r"[ \t\r\n]*")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_DECODER = json.JSONDecoder()


def line_of(text: str, path: str) -> int:
    """The line of the value at a path such as `$.answers[2].text`, or of the last part of the path that exists."""
    at = _skip(text, 0)
    for name, index in _STEP.findall(path):
        found = _member(text, at, name) if name else _element(text, at, int(index))
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _member(text: str, at: int, name: str) -> int | None:
    if text[at : at + 1] != "{":
        return None
    at = _skip(text, at + 1)
    while text[at : at + 1] == '"':
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if key == name:
            return at
        at = _next(text, at)
    return None


def _element(text: str, at: int, index: int) -> int | None:
    if text[at : at + 1] != "[":
        return None
    at = _skip(text, at + 1)
    for _ in range(index):
        at = _next(text, at)
    return at


def _next(text: str, at: int) -> int:
    """Past the value at this place and the comma after it."""
    _, end = _DECODER.raw_decode(text, at)
    end = _skip(text, end)
    return _skip(text, end + 1) if text[end : end + 1] == "," else end
