"""Heredocs by their text alone: where bash would end them, and lines of them that lead the parser astray.

The parser takes a line that only begins with the delimiter for the end, and loses its way behind an escaped line end. To
bash, the lines of a heredoc with a quoted delimiter are nothing but text, so that it does not matter which ones the parser
sees: such lines are hidden from it, and it must confirm that they were text.
"""

import re
from collections.abc import Iterator

Span = tuple[int, int]

_START = re.compile(r"<<(-?)[ \t]*(['\"])([^'\"\\\n]+)\2")
_MOST = 20


def find_end(source: str, first: int, delimiter: str | None, *, strips: bool) -> int:
    """Where bash would end it: at the first line that is the delimiter and nothing else. -1 without one."""
    for start, end in _lines(source, first):
        if _is_delimiter(source[start:end], delimiter, strips=strips):
            return end
    return -1


def mask_bodies(source: str) -> tuple[str, list[Span]]:
    """The source with other characters in place of misleading lines, and where they stand. Lengths do not change."""
    starts = [] if "<<" not in source else list(_START.finditer(source))
    if not 0 < len(starts) <= _MOST:
        return source, []
    spans = [span for start in starts for span in _misleading(source, start)]
    pieces, at = [], 0
    for first, end in sorted(set(spans)):
        pieces += [source[at:first], "x" * (end - first)]
        at = end
    return "".join([*pieces, source[at:]]), spans


def _misleading(source: str, opening: re.Match[str]) -> list[Span]:
    """Empty where the heredoc has no end."""
    strips, delimiter = bool(opening.group(1)), opening.group(3)
    spans: list[Span] = []
    for start, end in _lines(source, source.find("\n", opening.end()) + 1):
        line = source[start:end]
        if _is_delimiter(line, delimiter, strips=strips):
            return spans
        if line.lstrip(" \t").startswith(delimiter) or line.endswith("\\"):
            spans.append((start, end))
    return []


def _is_delimiter(line: str, delimiter: str | None, *, strips: bool) -> bool:
    return (line.lstrip("\t") if strips else line) == delimiter


def _lines(source: str, first: int) -> Iterator[Span]:
    """From `first` on, which is 0 where no line follows."""
    at = first
    while 0 < at <= len(source):
        end = source.find("\n", at)
        end = len(source) if end < 0 else end
        yield at, end
        at = end + 1
