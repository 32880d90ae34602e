"""Tables laid out for a width: a grid where every word fits into its column, else one field under the other. Pure."""

from collections.abc import Iterable
from itertools import zip_longest

from everturn.frontends.ansi import BOLD, DIM
from everturn.frontends.flow import width_of
from everturn.frontends.markdown import Cell, MarkdownTable, Piece

LineOfPieces = list[Piece]
EDGE, RULE, CROSSING = " │ ", "─", "─┼─"


def lay_table(table: MarkdownTable, columns: int) -> list[LineOfPieces]:
    """Lines without their ends. Those of a grid do not wrap, those of fields do."""
    edges = 3 * (len(table.right) - 1) + (4 if table.bare else 0)
    widths = share_width(table, columns - table.indent - edges)
    return lay_fields(table) if widths is None else lay_grid(table, widths)


def share_width(table: MarkdownTable, room: int) -> list[int] | None:
    """Of each column; None where a word would have to be broken."""
    by_column = list(zip(table.header, *table.rows, strict=True))
    wanted = [max(measure(cell) for cell in cells) for cells in by_column]
    least = [max(longest_word(cell) for cell in cells) for cells in by_column]
    if sum(least) > room:
        return None
    widths, left = least, room - sum(least)
    while left and (short := [at for at, width in enumerate(widths) if width < wanted[at]]):
        # One column after the other, the narrowest first, so that they end about equally wide.
        narrowest = min(short, key=lambda at: widths[at])
        widths[narrowest] += 1
        left -= 1
    return widths


def lay_grid(table: MarkdownTable, widths: list[int]) -> list[LineOfPieces]:
    indent = Piece(" " * table.indent, wraps=False)
    opening, edge, closing = ("| ", " | ", " |") if table.bare else ("", EDGE, "")

    def lay_row(cells: Iterable[Cell]) -> list[LineOfPieces]:
        wrapped = [wrap_cell(cell, width) for cell, width in zip(cells, widths, strict=True)]
        return [
            join(
                [
                    pad(row or [], width, right=right)
                    for row, width, right in zip(rows, widths, table.right, strict=True)
                ]
            )
            for rows in zip_longest(*wrapped)
        ]

    def join(cells: list[LineOfPieces]) -> LineOfPieces:
        line = [indent, Piece(opening, DIM, wraps=False)]
        for at, cell in enumerate(cells):
            line += [Piece(edge, DIM, wraps=False), *cell] if at else cell
        return [*line, Piece(closing, DIM, wraps=False)]

    if table.bare:
        rule = join([[Piece("-" * width, wraps=False)] for width in widths])
    else:
        rule = [indent, Piece(CROSSING.join(RULE * width for width in widths), DIM, wraps=False)]
    return [*lay_row(table.header), rule, *(line for row in table.rows for line in lay_row(row))]


def lay_fields(table: MarkdownTable) -> list[LineOfPieces]:
    """`Header: cell`, a line for each; rows are told apart like the items of a list."""
    indent = " " * table.indent
    colon = Piece(": ", "" if table.bare else BOLD)
    empty: tuple[Cell, ...] = ((),) * len(table.header)
    return [
        [Piece(f"{indent}{' ' if at else '-' if table.bare else '•'} ", hang=True), *header, colon, *cell]
        for row in table.rows or (empty,)
        for at, (header, cell) in enumerate(zip(table.header, row, strict=True))
    ]


def measure(cell: Cell) -> int:
    return sum(width_of(piece.text) for piece in cell)


def longest_word(cell: Cell) -> int:
    return max((sum(width_of(text) for text, _ in word) for word in split_words(cell)), default=0)


def split_words(cell: Cell) -> list[list[tuple[str, str]]]:
    """Each word as the parts that it is painted in."""
    words: list[list[tuple[str, str]]] = [[]]
    for piece in cell:
        first, *others = piece.text.split(" ")
        words[-1].append((first, piece.codes))
        words += [[(part, piece.codes)] for part in others]
    return [word for word in ([part for part in word if part[0]] for word in words) if word]


def wrap_cell(cell: Cell, width: int) -> list[LineOfPieces]:
    lines: list[LineOfPieces] = [[]]
    used = 0
    for word in split_words(cell):
        wide = sum(width_of(text) for text, _ in word)
        if used and used + 1 + wide > width:
            lines.append([])
            used = 0
        if used:
            lines[-1].append(Piece(" ", wraps=False))
            used += 1
        lines[-1] += [Piece(text, codes, wraps=False) for text, codes in word]
        used += wide
    return lines


def pad(row: LineOfPieces, width: int, *, right: bool) -> LineOfPieces:
    gap = Piece(" " * (width - measure(tuple(row))), wraps=False)
    return [gap, *row] if right else [*row, gap]
