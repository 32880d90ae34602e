"""Prose laid out for a width: wrapped at words, continued under its list item, as the pieces come."""

import re
from collections.abc import Callable, Iterable

from everturn.frontends.ansi import Style
from everturn.frontends.markdown import MarkdownTable, Piece

MAX_HANG = 24
"""Deeper continuation leaves no room for words."""
_PARTS = re.compile(r" +|[^ ]+")


def width_of(text: str) -> int:
    """Columns on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(mark) or mark in "\u200b\u200d\ufe0f" else 2 if east_asian_width(mark) in "WF" else 1
        for mark in text
    )


def cut_line(text: str, columns: int) -> str:
    """Within so many columns; what is left out is marked."""
    if width_of(text) <= columns:
        return text
    kept = text[: max(columns - 1, 0)]
    while kept and width_of(kept) > columns - 1:
        kept = kept[:-1]
    return f"{kept}…" if columns > 0 else ""


class Flow:
    """Lines end with pieces that are a newline; no other piece holds one, unless it does not wrap."""

    def __init__(
        self,
        style: Style,
        columns: int,
        *,
        table_columns: int = 0,
        paint_link: Callable[[str, str], str] = lambda painted, _address: painted,
    ) -> None:
        """`table_columns`: those of tables; without them, as prose. `paint_link`: for terminals that open addresses."""
        self._paint_link = paint_link
        self._style = style
        self._columns = columns
        self._table_columns = table_columns or columns
        self._column = 0
        self._hang = 0
        self._word: list[Piece] = []
        self._gap = 0

    def lay(self, pieces: Iterable[Piece | MarkdownTable]) -> str:
        """Painted text; the last word is kept back until it is known to be whole."""
        out: list[str] = []
        for piece in pieces:
            if isinstance(piece, MarkdownTable):
                self._lay_table(out, piece)
                continue
            if piece.text == "\n":
                self._end_line(out)
            elif piece.wraps:
                self._lay_prose(out, piece)
            else:
                self._place_all(out)
                self._write(out, piece)
            if piece.hang:
                self._place_all(out)
                self._hang = min(self._column, MAX_HANG, self._columns // 2)
        return "".join(out)

    def finish(self) -> str:
        out: list[str] = []
        self._place_word(out)
        self._gap = 0
        return "".join(out)

    def _lay_table(self, out: list[str], table: MarkdownTable) -> None:
        from everturn.frontends.tables import lay_table

        for at, line in enumerate(lay_table(table, self._table_columns)):
            out.append(self.lay([Piece("\n"), *line] if at else line))

    def _end_line(self, out: list[str]) -> None:
        self._place_word(out)
        out.append("\n")
        self._column = self._hang = self._gap = 0

    def _lay_prose(self, out: list[str], piece: Piece) -> None:
        for part in _PARTS.findall(piece.text):
            if part.isspace():
                self._place_word(out)
                self._gap += len(part)
            else:
                self._word.append(piece._replace(text=part))

    def _place_all(self, out: list[str]) -> None:
        self._place_word(out)
        self._place_gap(out)

    def _place_word(self, out: list[str]) -> None:
        if not self._word:
            return
        width = sum(width_of(piece.text) for piece in self._word)
        if self._column > self._hang and self._column + self._gap + width > self._columns:
            out.append("\n" + " " * self._hang)
            self._column, self._gap = self._hang, 0
        self._place_gap(out)
        for piece in self._word:
            self._write(out, piece)
        self._word.clear()

    def _place_gap(self, out: list[str]) -> None:
        out.append(" " * self._gap)
        self._column += self._gap
        self._gap = 0

    def _write(self, out: list[str], piece: Piece) -> None:
        painted = self._style.paint(piece.text, piece.codes)
        out.append(self._paint_link(painted, piece.link) if piece.link else painted)
        self._column += width_of(piece.text)
