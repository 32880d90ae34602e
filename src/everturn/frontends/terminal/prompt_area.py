"""The prompt as rows: text wrapped at the width, its cursor, and the part of it that fits. Pure."""

from typing import NamedTuple

from everturn.frontends.flow import width_of

_JOINERS = frozenset("\u200c\u200d")
"""Unseen, but letters and faces fall apart without them."""
_PICTURES = 0x2400
"""The signs of the first 32 characters, in their order."""


class PromptRows(NamedTuple):
    rows: list[str]
    row: int
    """Of the cursor, in `rows`."""
    column: int


def lay_prompt(
    text: str, cursor: int, *, columns: int, most: int, first: str = "> ", further: str = "  "
) -> PromptRows:
    """At most `most` rows, those around the cursor; `first` and `further` stand before the rows."""
    room = max(columns - max(width_of(first), width_of(further)) - 1, 1)
    rows: list[str] = []
    at, place = 0, (0, 0)
    for line in text.split("\n"):
        for part in wrap_plain(show_each(line), room):
            if at <= cursor <= at + len(part):
                place = (len(rows), width_of(part[: cursor - at]))
            rows.append(part)
            at += len(part)
        at += 1
    shown = [f"{further if number else first}{row}" for number, row in enumerate(rows)]
    row, column = place
    begin = min(max(row - most + 1, 0), max(len(shown) - most, 0))
    return PromptRows(shown[begin : begin + most], row - begin, column + width_of(further if row else first))


def show_each(line: str) -> str:
    """One character for each: whatever a terminal would obey, and what nobody would see, has a sign in its place."""
    return line if line.isprintable() else "".join(mark if mark.isprintable() else _sign_of(mark) for mark in line)


def _sign_of(mark: str) -> str:
    if mark in _JOINERS:
        return mark
    if mark == "\t" or mark.isspace():
        return " "
    code = ord(mark)
    if code < ord(" "):
        return chr(_PICTURES + code)
    return "\u2421" if mark == "\x7f" else "\ufffd"


def wrap_plain(line: str, room: int) -> list[str]:
    """Pieces of at most so many columns; every character is kept."""
    if line.isascii():
        return [line[at : at + room] for at in range(0, len(line), room)] or [""]
    pieces, piece, width = [], "", 0
    for mark in line:
        wide = width_of(mark)
        if piece and width + wide > room:
            pieces.append(piece)
            piece, width = "", 0
        piece, width = piece + mark, width + wide
    return [*pieces, piece]
