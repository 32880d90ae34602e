"""A name that stands twice in one JSON object: a parser keeps the last and loses the other, which may be what protects. Pure."""

import re
from typing import Any

import msgspec

from everturn.core.patterns import compile_late

_KEY_END = compile_late(r'"[ \t\r\n]*:')
_TOKEN = compile_late(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{}:]', re.DOTALL)


class Repeat(msgspec.Struct, frozen=True):
    path: tuple[str, ...]
    """Of the name; places in lists are left out."""
    first: int
    """The line that it stands in first."""
    again: int


def find_repeat(text: str, values: Any) -> Repeat | None:
    """The first one. `text` is valid JSON, and `values` what it was read as."""
    # As many names as were kept: none can have been lost. A text may hold what looks like the end of a name, hence the rest.
    if len(_KEY_END.findall(text)) == _count_names(values):
        return None
    return _search(text)


def _count_names(value: Any) -> int:
    count, left = 0, [value]
    while left:
        match left.pop():
            case dict() as members:
                count += len(members)
                left += members.values()
            case list() as items:
                left += items
    return count


def _search(text: str) -> Repeat | None:
    known: list[dict[str, int]] = []
    """Of each object or list that is open: where its names stand."""
    path: list[str | None] = []
    """The name that each of them is at."""
    last: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{" | "[":
                known.append({})
                path.append(None)
            case "}" | "]":
                known.pop()
                path.pop()
            case ":" if last is not None:
                name = msgspec.json.decode(last[0], type=str)
                path[-1] = name
                at = last.start()
                if (first := known[-1].setdefault(name, at)) != at:
                    return Repeat(
                        tuple(each for each in path if each is not None), _line_of(text, first), _line_of(text, at)
                    )
            case _:
                last = token
    return None


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
