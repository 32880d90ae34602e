"""Foreign text in a question: shown whole, with nothing hidden and no control characters. Pure."""

from everturn.frontends.flow import width_of

_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Printable by name, and yet nothing is to be seen: fillers and selectors of variants."""
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\x1b": "\\e", "\0": "\\0"}


def make_visible(text: str) -> str:
    """Each character that a terminal would obey, reorder or not show is written out as an escape; blanks stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(mark if mark.isprintable() and mark not in _UNSEEN else _escape(mark) for mark in text)


def wrap_visible(text: str, columns: int) -> list[str]:
    """The lines of a text, each made visible and broken at the width: nothing is left out, and nothing joined."""
    rows: list[str] = []
    for line in text.split("\n"):
        row, width = "", 0
        for mark in make_visible(line):
            wide = width_of(mark)
            if row and width + wide > columns:
                rows.append(row)
                row, width = "", 0
            row, width = row + mark, width + wide
        rows.append(row)
    return rows


def _escape(mark: str) -> str:
    code = ord(mark)
    if mark in _SHORT:
        return _SHORT[mark]
    if code <= 0xFF:  # noqa: PLR2004 (two digits hold it)
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 (four digits hold it)
