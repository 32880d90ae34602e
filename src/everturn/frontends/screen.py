"""A terminal's screen: what is written stays, one status line under it is replaced, and the last words can be taken back."""

import re
from collections.abc import Callable

from everturn.frontends.ansi import DIM, Style
from everturn.frontends.flow import cut_line, width_of

_SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")
_ERASE_LINE = "\r\x1b[2K"
_ERASE_BELOW = "\x1b[J"


class Screen:
    """Counts rows as the terminal wraps them, so that it knows how far up the last words began."""

    def __init__(self, write: Callable[[str], None], style: Style, size: Callable[[], tuple[int, int]]) -> None:
        self._write = write
        self._size = size
        self.style = style
        self._column = 0
        self._rows = 0
        self._marked = False
        self._status = ""

    @property
    def columns(self) -> int:
        return max(self._size()[0], 1)

    def put(self, text: str) -> None:
        """Stays; may end in the middle of a line."""
        if not text:
            return
        self._write(self._erase_status() + text)
        self._count(text)

    def put_line(self, text: str, codes: str = "", *, ending: str = "") -> None:
        """A line of its own, cut to the width; its ending stays whole, and dim."""
        self.end_line()
        shown = cut_line(text, max(self.columns - 1 - width_of(ending), 0))
        self.put(f"{self.style.paint(shown, codes)}{self.style.paint(ending, DIM)}\n")

    def end_line(self) -> None:
        if self._column:
            self.put("\n")

    def show_status(self, text: str) -> None:
        """Under everything, until something is put or another status replaces it. Never inside an open line."""
        if not self.style.control or self._column:
            return
        shown = self.style.paint(cut_line(text, self.columns - 1), DIM)
        if shown != self._status:
            self._write(_ERASE_LINE + shown)
            self._status = shown

    def hide_status(self) -> None:
        if self._status:
            self._write(self._erase_status())

    def mark(self) -> None:
        """What is put from here on may be taken back."""
        self._marked, self._rows = True, 0

    def keep(self) -> None:
        self._marked = False

    def take_back(self) -> bool:
        """Erases everything since the mark; False where it cannot: a dumb terminal, or it has scrolled away."""
        rows = self._rows + self._wrapped
        if self._marked and not rows and not self._column:
            return True
        if not self._marked or not self.style.control or rows >= self._size()[1] - 1:
            return False
        up = f"\x1b[{rows}A" if rows else ""
        self._write(f"{self._erase_status()}\r{up}{_ERASE_BELOW}")
        self._column = self._rows = 0
        return True

    @property
    def _wrapped(self) -> int:
        """Rows that the open line takes beyond its first."""
        return max(self._column - 1, 0) // self.columns

    def _count(self, text: str) -> None:
        first, *others = _SEQUENCE.sub("", text).split("\n")
        self._column += width_of(first)
        for line in others:
            self._rows += 1 + self._wrapped
            self._column = width_of(line)

    def _erase_status(self) -> str:
        erased = _ERASE_LINE if self._status else ""
        self._status = ""
        return erased
