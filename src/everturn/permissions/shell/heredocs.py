"""Heredocs whose text leads the parser astray: such lines are hidden from it, and it must confirm that they were text.

It takes a line that only begins with the delimiter for the end, and loses its way behind an escaped line end. To bash, the
lines of a heredoc with a quoted delimiter are nothing but text, so that it does not matter which ones the parser sees.
"""

import re

Span = tuple[int, int]

_START = re.compile(r"<<(-?)[ \t]*(['\"])([^'\"\\\n]+)\2")
_MOST = 20


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


def _misleading(source: str, start: re.Match[str]) -> list[Span]:
    strips, delimiter = start.group(1), start.group(3)
    at = source.find("\n", start.end()) + 1
    spans: list[Span] = []
    while 0 < at <= len(source):
        end = source.find("\n", at)
        end = len(source) if end < 0 else end
        line = source[at:end]
        if (line.lstrip("\t") if strips else line) == delimiter:
            return spans
        if line.lstrip(" \t").startswith(delimiter) or line.endswith("\\"):
            spans.append((at, end))
        at = end + 1
    return []
