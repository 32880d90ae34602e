"""Heredocs by their text alone: where bash would end them, and lines of them that lead the parser astray.

The parser takes a line that only begins with the delimiter for the end, and loses its way behind an escaped line end. To
bash, the lines of a heredoc with a quoted delimiter are nothing but text, so that it does not matter which ones the parser
sees: such lines are hidden from it, and it must confirm that they were text.
"""

import re
from collections.abc import Iterator

from everturn.core.patterns import compile_late

Span = tuple[int, int]

_START = compile_late(r"<<(-?)[ \t]*(['\"])([^'\"\\\n]+)\2")
_MAX_COUNT = 20
_PIECE = r"""'[\w .-]*'|"[\w .-]*"|\$'[\w .-]*'|\\\w|\w"""
"""Of a delimiter: no quote stands in another's."""
_OPENING = compile_late(rf"<<(?P<strips>-?)[ \t]*(?P<delimiter>(?:{_PIECE})+)[ \t]*", re.ASCII)
_QUOTED = r"""'[^'\n]*'|"[^"\\$`\n]*\""""
_FIRST_HEREDOCS = compile_late(
    rf"(?:[\w./:,=@%+|&; \t\n-]++|{_QUOTED})*+(?<=[ \t])"
    rf"(?P<openings>(?:<<-?[ \t]*+(?:{_PIECE})++(?:[ \t]++|(?=\n))){{1,{_MAX_COUNT}}}+)(?:[\w./:,=@%+|&; \t-]++|{_QUOTED})*+\n",
    re.ASCII,
)
"""Plain words around the first heredocs: nothing there can mean something else."""
_QUOTING = compile_late(r"\$?['\"]|\\")


def find_end(source: str, first: int, delimiter: str | None, *, strips: bool) -> int:
    """Where bash would end it: at the first line that is the delimiter and nothing else. -1 without one."""
    for start, end in _lines(source, first):
        if _is_delimiter(source[start:end], delimiter, strips=strips):
            return end
    return -1


def mask_bodies(source: str) -> tuple[str, list[Span]]:
    """The source with other characters in place of misleading lines, and where they stand. Lengths do not change."""
    starts = [] if "<<" not in source else list(_START.finditer(source))
    if not 0 < len(starts) <= _MAX_COUNT:
        return source, []
    spans = [span for start in starts for span in _misleading(source, start)]
    pieces, at = [], 0
    for first, end in sorted(set(spans)):
        pieces += [source[at:first], "x" * (end - first)]
        at = end
    return "".join([*pieces, source[at:]]), spans


def lift_bodies(source: str) -> tuple[str, tuple[str, ...]] | None:
    """The source with blanks in place of its first heredocs, those of one line, and their texts. Lengths do not change.

    For forms that are beyond the parser: two heredocs in a line, delimiters such as `'E''OF'` and `$'EOF'`, words behind
    them. None where one of them would expand, or where the line is not plain.
    """
    line = _FIRST_HEREDOCS.match(source)
    if line is None:
        return None
    at, texts = line.end(), []
    for opening in _OPENING.finditer(line["openings"]):
        spelled = opening["delimiter"]
        delimiter = _QUOTING.sub("", spelled)
        end = find_end(source, at, delimiter, strips=bool(opening["strips"]))
        if delimiter == spelled or end < 0:
            return None
        texts.append(source[at : end - len(delimiter)])
        at = min(end + 1, len(source))
    lifted = line.start("openings"), line.end("openings"), line.end()
    blank = re.sub(r"[^\n]", " ", source[lifted[2] : at])
    head = source[: lifted[0]] + " " * (lifted[1] - lifted[0]) + source[lifted[1] : lifted[2]]
    return head + blank + source[at:], tuple(texts)


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
