"""Code as rows for a width, in colours and whole: what a person reads before they consent to it. Pure."""

from collections.abc import Sequence

from everturn.frontends.asking.visible import make_visible
from everturn.frontends.flow import width_of
from everturn.frontends.markdown import Piece
from everturn.frontends.tables import LineOfPieces
from everturn.frontends.terminal.highlight import Highlighter
from everturn.frontends.terminal.palette import SIXTEEN, Palette


def lay_code(text: str, language: str, columns: int, *, palette: Palette = SIXTEEN) -> list[LineOfPieces]:
    """Every character: what a terminal would obey or hide is written out, and long lines are broken at the width."""
    highlighter = Highlighter(language, palette.code)
    return [row for line in text.split("\n") for row in wrap_pieces(highlighter.line(make_visible(line)), columns)]


def wrap_pieces(line: Sequence[Piece], columns: int) -> list[LineOfPieces]:
    """A line as the rows that it takes, broken anywhere; at least one row, and at least one character in each."""
    rows: list[LineOfPieces] = [[]]
    used = 0
    for piece in line:
        start = 0
        if piece.text.isascii() and used + len(piece.text) <= columns:
            rows[-1].append(piece)
            used += len(piece.text)
            continue
        for at, mark in enumerate(piece.text):
            wide = width_of(mark)
            if used and used + wide > columns:
                _add(rows[-1], piece, start, at)
                rows.append([])
                start, used = at, 0
            used += wide
        _add(rows[-1], piece, start, len(piece.text))
    return rows


def _add(row: LineOfPieces, piece: Piece, start: int, end: int) -> None:
    if end > start:
        row.append(piece._replace(text=piece.text[start:end]))
