"""Markdown as it streams in: pieces of styled text come out as soon as it is certain what they are."""

import re
from collections.abc import Callable
from typing import NamedTuple

from everturn.frontends.ansi import BOLD, CYAN, DIM, ITALIC, UNDERLINED

MAX_SPAN = 300
"""Characters in which a mark must find its partner; beyond it the mark stands for itself."""
MAX_ADDRESS = 2_000
"""Characters of a link's address."""
RULE = "─" * 24

_UNDECIDED = re.compile(r"[ \t]*(?:#{1,6}|[-*_ \t]+|[+>]|`{1,2}|~{1,2}|\d{1,9}[.)]?)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|(\d{1,9}[.)]))[ \t]+")
_QUOTE = re.compile(r" {0,3}> ?")
_MARK = re.compile(r"[`*\\\[]|!(?=\[|$)")
_ESCAPABLE = frozenset("\\`*_#[]|")
_ADDRESS = re.compile(r"""\s*(?:<([^<>]+)>|([^\s<>]+))(?:\s+(?:"[^"]*"|'[^']*'))?\s*""")
_ROW = re.compile(r" *\|")
_CELL_EDGE = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r":?-+:?")


class Piece(NamedTuple):
    text: str
    codes: str = ""
    """Of the style, joined with semicolons."""
    wraps: bool = True
    """Prose; code and tables keep their lines."""
    hang: bool = False
    """Rows that continue this line begin under the end of this piece."""
    link: str = ""
    """Address that the piece shows, for terminals that open addresses."""


Cell = tuple[Piece, ...]
PaintCode = Callable[[str], list[Piece]]
"""A line of code in colours; it remembers what the lines before have begun."""


class MarkdownTable(NamedTuple):
    """A whole table. Every row has as many cells as the header."""

    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    right: tuple[bool, ...]
    """Columns whose cells stand at their right edge."""
    indent: int = 0
    bare: bool = False
    """Drawn with the marks of Markdown itself."""


class Markdown:
    """Headings, bold, italics, inline code, links, fences, lists, quotes, rules and tables; everything else is left as it is.

    A link's address is shown behind its text: an address that nobody sees could lead anywhere.
    """

    def __init__(self, *, bare: bool = False, find_painter: "Callable[[str], PaintCode | None] | None" = None) -> None:
        """`bare`: without colours the marks themselves carry the meaning, and stay.

        `find_painter` gives what paints whole lines of code in a language; None where it has no colours.
        """
        self._bare = bare
        self._find_painter = find_painter
        self._begin()

    @property
    def rows_held(self) -> int:
        """Rows of a table that is shown when it is complete: only then the widths of its columns are known."""
        return len(self._rows)

    def feed(self, text: str) -> list[Piece | MarkdownTable]:
        self._held += text.replace("\t", "    ")
        return self._take(final=False)

    def finish(self) -> list[Piece | MarkdownTable]:
        """What was still undecided; afterwards a new text can begin."""
        pieces = self._take(final=True)
        self._begin()
        return pieces

    def _begin(self) -> None:
        self._held = ""
        self._fence = ""
        self._paint_code: PaintCode | None = None
        self._rows: list[str] = []
        self._begin_line()

    def _begin_line(self) -> None:
        self._at_start = True
        self._codes = ""
        self._literal = False
        self._before = ""

    def _take(self, *, final: bool) -> list[Piece | MarkdownTable]:
        pieces: list[Piece | MarkdownTable] = []
        while self._held:
            line, newline, rest = self._held.partition("\n")
            whole = bool(newline) or final
            if self._at_start and not self._fence:
                if not whole and (_ROW.match(line) or not line.strip(" ")):
                    break
                if _ROW.match(line):
                    pieces += self._hold_row(line + newline)
                    self._held = rest
                    continue
                pieces += self._end_table()
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
        if final:
            pieces += self._end_table()
        return pieces

    def _hold_row(self, line: str) -> list[Piece]:
        """Gives back the row before it where that cannot be the header of a table."""
        self._rows.append(line)
        if len(self._rows) == 2 and _parse_delimiters(*self._rows) is None:  # noqa: PLR2004 (header and delimiters)
            return _keep_row(self._rows.pop(0))
        return []

    def _end_table(self) -> list[Piece | MarkdownTable]:
        rows, self._rows = self._rows, []
        if len(rows) < 2:  # noqa: PLR2004 (header and delimiters)
            return [piece for row in rows for piece in _keep_row(row)]
        table = _parse_table(rows, bare=self._bare)
        return [table, Piece("\n", wraps=False)] if rows[-1].endswith("\n") else [table]

    def _open_line(self, line: str, *, whole: bool) -> tuple[list[Piece], str] | None:
        """What the line begins with, and the rest of it; None while that is undecided."""
        if self._fence:
            return self._open_code(line, whole=whole)
        fence = _FENCE.match(line)
        if not whole and (fence or _UNDECIDED.fullmatch(line)):
            return None
        if fence and "`" not in line[fence.end() :]:
            self._fence = fence[1]
            language = line[fence.end() :].strip().partition(" ")[0]
            self._paint_code = self._find_painter(language) if self._find_painter and not self._bare else None
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
        if self._paint_code is None:
            return [], line
        # Its colours are known when the line is whole.
        return (self._paint_code(line), "") if whole else None

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
    if mark in "[!":
        return _parse_link(text, at, codes, whole=whole)
    while end < len(text) and text[end] == mark:
        end += 1
    if end == len(text) and not whole:
        return None
    marks = text[at:end]
    if mark == "*" and not _opens(marks, before, text[end : end + 1]):
        return [Piece(marks, codes)], end
    window = text[end : end + MAX_SPAN]
    closing = _find_closing(marks, window, whole=whole and len(window) < MAX_SPAN)
    if closing is None:
        return None if not whole and len(window) < MAX_SPAN else ([Piece(marks, codes)], end)
    inner = window[:closing]
    if mark == "`":
        return [Piece(inner, _join(codes, CYAN))], end + closing + len(marks)
    style = {1: ITALIC, 2: BOLD}.get(len(marks), f"{BOLD};{ITALIC}")
    pieces, _ = _parse_inline(inner, before=mark, codes=_join(codes, style), whole=True)
    return pieces, end + closing + len(marks)


def _parse_link(text: str, at: int, codes: str, *, whole: bool) -> tuple[list[Piece], int] | None:
    """`[text](address)`, or an image; what is neither stands for itself."""
    mark, open_at = text[at], at + (text[at] == "!")
    literal = [Piece(mark, codes)], at + 1
    if open_at == len(text):
        return literal if whole else None
    close_at = _find_closed(text, open_at, "[]", MAX_SPAN)
    if close_at is None:
        return literal if whole or len(text) - open_at >= MAX_SPAN else None
    behind = close_at + 1
    if text[behind : behind + 1] not in {"", "("}:
        return literal
    end = _find_closed(text, behind, "()", MAX_ADDRESS)
    if end is None:
        return literal if whole or len(text) - behind >= MAX_ADDRESS else None
    address = _ADDRESS.fullmatch(text, behind + 1, end)
    if address is None or close_at == open_at + 1:
        return literal
    target = address[1] or address[2]
    label = text[open_at + 1 : close_at]
    pieces, _ = _parse_inline(label, before="[", codes=_join(codes, UNDERLINED), whole=True)
    if "".join(piece.text for piece in pieces) != target:
        pieces += [Piece(" ", codes), Piece(f"({target})", _join(codes, DIM), link=target)]
    else:
        pieces = [piece._replace(link=target) for piece in pieces]
    return pieces, end + 1


def _find_closed(text: str, at: int, pair: str, most: int) -> int | None:
    """Where what the mark at `at` opens is closed, within so many characters."""
    opening, closing = pair[0], pair[1]
    depth = 0
    for found in re.finditer(r"\\.|[\[\]()]", text[at : at + most]):
        depth += (found[0] == opening) - (found[0] == closing)
        if depth == 0 and found[0] == closing:
            return at + found.start()
    return None


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


def _keep_row(line: str) -> list[Piece]:
    row = Piece(line.rstrip("\n"), wraps=False)
    return [row, Piece("\n", wraps=False)] if line.endswith("\n") else [row]


def _split_row(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    cells = _CELL_EDGE.split(inner)
    if not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _parse_delimiters(header: str, line: str) -> tuple[bool, ...] | None:
    """Which columns stand at their right edge; None where the second row makes no table of the first."""
    cells = _split_row(line)
    if len(cells) != len(_split_row(header)) or not all(_DELIMITER.fullmatch(cell) for cell in cells):
        return None
    return tuple(cell.endswith(":") and not cell.startswith(":") for cell in cells) or None


def _parse_table(lines: list[str], *, bare: bool) -> MarkdownTable:
    """Cells beyond the header's are added to the last: no word of an answer is left out."""
    first, second, *others = lines
    right = _parse_delimiters(first, second) or ()
    rows = []
    for line in others:
        cells = _split_row(line)
        cells += [""] * (len(right) - len(cells))
        rows.append([*cells[: len(right) - 1], " | ".join(cells[len(right) - 1 :])])

    def parse_cell(cell: str, codes: str = "") -> Cell:
        if bare:
            return (Piece(cell),) if cell else ()
        return tuple(_parse_inline(cell, before="", codes=codes, whole=True)[0])

    return MarkdownTable(
        header=tuple(parse_cell(cell, BOLD) for cell in _split_row(first)),
        rows=tuple(tuple(parse_cell(cell) for cell in row) for row in rows),
        right=right,
        indent=len(first) - len(first.lstrip(" ")),
        bare=bare,
    )
