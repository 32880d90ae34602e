"""Markdown as it streams in: pieces of styled text come out as soon as it is certain what they are."""

import re
from typing import NamedTuple

from everturn.frontends.ansi import BOLD, CYAN, DIM, ITALIC

SPAN_MOST = 300
"""Characters in which a mark must find its partner; beyond it the mark stands for itself."""
RULE = "─" * 24

_UNDECIDED = re.compile(r"[ \t]*(?:#{1,6}|[-*_ \t]+|[+>]|`{1,2}|~{1,2}|\d{1,9}[.)]?)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|(\d{1,9}[.)]))[ \t]+")
_QUOTE = re.compile(r" {0,3}> ?")
_MARK = re.compile(r"[`*\\]")
_ESCAPABLE = frozenset("\\`*_#")


class Piece(NamedTuple):
    text: str
    codes: str = ""
    """Of the style, joined with semicolons."""
    wraps: bool = True
    """Prose; code and tables keep their lines."""
    hang: bool = False
    """Rows that continue this line begin under the end of this piece."""


class Markdown:
    """Headings, bold, italics, inline code, fences, lists, quotes and rules; everything else is left as it is."""

    def __init__(self, *, bare: bool = False) -> None:
        """`bare`: without colours the marks themselves carry the meaning, and stay."""
        self._bare = bare
        self._begin()

    def feed(self, text: str) -> list[Piece]:
        self._held += text.replace("\t", "    ")
        return self._take(final=False)

    def finish(self) -> list[Piece]:
        """What was still undecided; afterwards a new text can begin."""
        pieces = self._take(final=True)
        self._begin()
        return pieces

    def _begin(self) -> None:
        self._held = ""
        self._fence = ""
        self._begin_line()

    def _begin_line(self) -> None:
        self._at_start = True
        self._codes = ""
        self._literal = False
        self._before = ""

    def _take(self, *, final: bool) -> list[Piece]:
        pieces: list[Piece] = []
        while self._held:
            line, newline, rest = self._held.partition("\n")
            whole = bool(newline) or final
            if self._at_start:
                opened = self._open_line(line, whole=whole)
                if opened is None:
                    break
                opening, line = opened
                pieces += opening
                self._at_start = False
            spoken, left = self._speak(line, whole=whole)
            pieces += spoken
            self._held = left + newline + rest
            if left or not whole:
                break
            if newline:
                pieces.append(Piece("\n", wraps=False))
                self._held = rest
                self._begin_line()
        return pieces

    def _open_line(self, line: str, *, whole: bool) -> tuple[list[Piece], str] | None:
        """What the line begins with, and the rest of it; None while that is undecided."""
        if self._fence:
            return self._open_code(line, whole=whole)
        fence = _FENCE.match(line)
        if not whole and (fence or _UNDECIDED.fullmatch(line)):
            return None
        if fence and "`" not in line[fence.end() :]:
            self._fence = fence[1]
            return [Piece(line, DIM, wraps=False)], ""
        if _RULE.fullmatch(line):
            return [Piece(line if self._bare else RULE, DIM, wraps=False)], ""
        if heading := _HEADING.match(line):
            self._codes = BOLD
            return [Piece(heading[0])] if self._bare else [], line[heading.end() :]
        if item := _ITEM.match(line):
            mark = item[0] if self._bare else f"{item[1]}{item[2] or '•'} "
            return [Piece(mark, hang=True)], line[item.end() :]
        if quote := _QUOTE.match(line):
            return [Piece(quote[0] if self._bare else "│ ", DIM, hang=True)], line[quote.end() :]
        self._literal = line.lstrip().startswith("|")
        return [], line

    def _open_code(self, line: str, *, whole: bool) -> tuple[list[Piece], str] | None:
        bare = line.strip()
        closing = not bare.strip(self._fence[0])
        if not whole and closing:
            return None
        if closing and len(bare) >= len(self._fence):
            self._fence = ""
            return [Piece(line, DIM, wraps=False)], ""
        self._literal, self._codes = True, CYAN
        return [], line

    def _speak(self, line: str, *, whole: bool) -> tuple[list[Piece], str]:
        if self._literal:
            return [Piece(line, self._codes, wraps=False)] if line else [], ""
        if self._bare:
            return [Piece(line)] if line else [], ""
        pieces, used = _parse_inline(line, before=self._before, codes=self._codes, whole=whole)
        self._before = line[used - 1] if used else self._before
        return pieces, line[used:]


def _parse_inline(text: str, *, before: str, codes: str, whole: bool) -> tuple[list[Piece], int]:
    """The pieces that are certain, and how many characters they took."""
    pieces: list[Piece] = []
    at = 0
    while at < len(text):
        mark = _MARK.search(text, at)
        start = mark.start() if mark else len(text)
        if start > at:
            pieces.append(Piece(text[at:start], codes))
        if mark is None:
            return pieces, len(text)
        span = _parse_span(text, start, text[start - 1] if start else before, codes, whole=whole)
        if span is None:
            return pieces, start
        spoken, at = span
        pieces += spoken
    return pieces, at


def _parse_span(text: str, at: int, before: str, codes: str, *, whole: bool) -> tuple[list[Piece], int] | None:
    """What the mark at `at` means and where that ends; None while more text could tell."""
    mark = text[at]
    end = at + 1
    if mark == "\\":
        if end == len(text) and not whole:
            return None
        escaped = text[end : end + 1] in _ESCAPABLE and end < len(text)
        return [Piece(text[end] if escaped else mark, codes)], end + escaped
    while end < len(text) and text[end] == mark:
        end += 1
    if end == len(text) and not whole:
        return None
    marks = text[at:end]
    if mark == "*" and not _opens(marks, before, text[end : end + 1]):
        return [Piece(marks, codes)], end
    window = text[end : end + SPAN_MOST]
    closing = _find_closing(marks, window, whole=whole and len(window) < SPAN_MOST)
    if closing is None:
        return None if not whole and len(window) < SPAN_MOST else ([Piece(marks, codes)], end)
    inner = window[:closing]
    if mark == "`":
        return [Piece(inner, _join(codes, CYAN))], end + closing + len(marks)
    style = {1: ITALIC, 2: BOLD}.get(len(marks), f"{BOLD};{ITALIC}")
    pieces, _ = _parse_inline(inner, before=mark, codes=_join(codes, style), whole=True)
    return pieces, end + closing + len(marks)


def _opens(marks: str, before: str, after: str) -> bool:
    """Stars inside a word or before a space are multiplication, globs or pointers."""
    return len(marks) <= 3 and bool(after) and not after.isspace() and not before.isalnum()  # noqa: PLR2004 (`***`)


def _find_closing(marks: str, window: str, *, whole: bool) -> int | None:
    """Where a run of exactly these marks stands; one at the end counts only if nothing can follow it."""
    for found in re.finditer(f"[{marks[0]}]+", window):
        after_space = marks[0] == "*" and window[: found.start()][-1:].isspace()
        if found[0] == marks and not after_space and (whole or found.end() < len(window)):
            return found.start()
    return None


def _join(codes: str, more: str) -> str:
    if more in codes.split(";"):
        return codes
    return f"{codes};{more}" if codes else more
