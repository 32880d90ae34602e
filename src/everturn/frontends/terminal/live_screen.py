"""The terminal's screen while the program is interactive: finished text is printed once, the live area below it is drawn by difference.

What is written stands in the terminal's own scrollback, in whole lines that the terminal wraps. The live area (running calls, prompt,
menus, status) is the only part that is ever drawn again. A line that still streams ends where the cursor was saved (`ESC 7`).
"""

import re
from collections.abc import Callable, Sequence

from everturn.frontends.ansi import DIM, Style
from everturn.frontends.flow import cut_line, width_of
from everturn.frontends.terminal.reports import (
    BEGIN_ALTERNATE,
    BEGIN_FRAME,
    END_ALTERNATE,
    END_FRAME,
    HIDE_CURSOR,
    SHOW_CURSOR,
)

SEQUENCE = re.compile(r"\x1b\[[0-9;]*m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""Colours and links: what takes no column."""
MIN_COLUMNS = 12
MIN_ROWS = 4
"""A smaller terminal has no live area."""
_ERASE_LINE_END = "\x1b[K"
_ERASE_BELOW = "\x1b[J"
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_SAVE, _RESTORE = "\x1b7", "\x1b8"
_DOWN = "\x1bD"
"""Like a newline, and the column stays; scrolls at the bottom."""


def plain_width(text: str) -> int:
    """Columns of painted text."""
    return width_of(SEQUENCE.sub("", text)) if "\x1b" in text else width_of(text)


class LiveScreen:
    """`put` and its kin collect; `flush` sends one frame."""

    def __init__(
        self,
        write: Callable[[str], None],
        style: Style,
        size: Callable[[], tuple[int, int]],
    ) -> None:
        self.style = style
        self.synchronized = False
        """The terminal draws a frame at once (mode 2026)."""
        self.activity = ""
        """What is waited for, as the transcript says it."""
        self._write = write
        self._size = size
        self._changed: Callable[[], None] = lambda: None
        self._columns, self._height = self.measure()
        self._text: list[str] = []
        self._is_open_on_screen = False
        """The line that streams has been drawn, and the cursor saved at its end."""
        self._line: list[str] = []
        """The line that still streams, without colours."""
        self._column = 0
        """Where it ends in its last row; the width where that row is full."""
        self._held = ""
        """The last character of a row that is full: the cursor would stand behind the edge."""
        self._rows = 0
        """Rows since the mark."""
        self._marked = False
        self._wanted: tuple[str, ...] = ()
        self._wanted_cursor: tuple[int, int] | None = None
        self._drawn: tuple[str, ...] = ()
        self._at = (0, 0)
        """Where the cursor stands in what is drawn: row and column."""
        self._is_shown = True
        self._erase = 0
        """Rows above the live area that are to go: they were taken back."""
        self._is_away = False
        """The alternate screen is shown."""
        self._line_before = ""
        """The line that streamed when it was opened, as far as it was drawn."""

    def tell_changed(self, changed: Callable[[], None]) -> None:
        """`changed` is called from now on whenever there is something to flush."""
        self._changed = changed

    # What the transcript writes: `transcript.page.OutputScreen`.

    @property
    def columns(self) -> int:
        return self._columns

    @property
    def rows(self) -> int:
        return self._height

    def put(self, text: str) -> None:
        if not text:
            return
        self._count(text)
        text, self._held = self._held + text, ""
        if self._column == self._columns:
            at = _last_character(text)
            text, self._held = text[:at], text[at:]
        self._text.append(text)
        self._changed()

    def put_line(self, text: str, codes: str = "", *, ending: str = "") -> None:
        """A line of its own, cut to the width; its ending stays whole, and dim."""
        self.end_line()
        shown = cut_line(text, max(self._columns - 1 - width_of(ending), 0))
        self.put(f"{self.style.paint(shown, codes)}{self.style.paint(ending, DIM)}\n")

    def end_line(self) -> None:
        if self._line:
            self.put("\n")

    def show_status(self, text: str) -> None:
        if text != self.activity:
            self.activity = text
            self._changed()

    def hide_status(self) -> None:
        self.show_status("")

    def mark(self) -> None:
        self._marked, self._rows = True, 0

    def keep(self) -> None:
        self._marked = False

    def take_back(self) -> bool:
        """Erases everything since the mark; False where part of it has scrolled away or is not seen now, or the width has changed."""
        rows = self._rows + bool(self._line)
        if self._is_away or not self._marked or rows >= self._height - 1:
            return False
        self.flush()
        if rows + len(self._drawn) > self._height:
            return False
        self._erase = rows
        self._line.clear()
        self._column = self._rows = 0
        self._held = ""
        self._changed()
        return True

    # What the program draws below it.

    def draw(self, rows: Sequence[str], cursor: tuple[int, int] | None) -> None:
        """The live area from the next frame on; `cursor` by row and column, None where none is shown.

        Rows must fit the width. Of more than fit the height those around the cursor stay.
        """
        room = self._height - 1
        if self._columns < MIN_COLUMNS or self._height < MIN_ROWS:
            rows, cursor = (), None
        elif len(rows) > room:
            first = min(max((cursor[0] if cursor else 0) - room + 2, 0), len(rows) - room)
            rows = rows[first : first + room]
            cursor = (cursor[0] - first, cursor[1]) if cursor else None
        self._wanted, self._wanted_cursor = tuple(rows), cursor

    def flush(self) -> None:
        """Sends what has changed since the last frame, as one frame."""
        if self._is_away:
            return
        # The window may have changed while its signal is still on the way: rows and columns from before would be wrong.
        self.resize()
        body = self._draw_all() if self._must_draw_all() else self._draw_difference()
        if not body:
            return
        shown = self._wanted_cursor is not None or not self._wanted
        # Without frames the cursor would be seen running about.
        hide = HIDE_CURSOR if self._is_shown else ""
        self._is_shown = shown
        self.send_frame(f"{hide}{body}{SHOW_CURSOR if shown else ''}")

    def send_frame(self, body: str) -> None:
        """Drawn at once by a terminal that can."""
        begin, end = (BEGIN_FRAME, END_FRAME) if self.synchronized else ("", "")
        self._write(f"{begin}{body}{end}")

    def send(self, sequence: str) -> None:
        """Something that the terminal obeys and does not show."""
        self._write(sequence)

    def resize(self) -> None:
        """The terminal has wrapped its rows anew: the live area is found again and drawn whole."""
        if self._is_away:
            return
        old = self._columns, self._height
        self._columns, self._height = self.measure()
        if (self._columns, self._height) == old:
            return
        if self._columns != old[0]:
            self._marked = False
        # A lower window, too: some terminals take away the rows below the cursor.
        above = sum(self._rows_of(row) for row in self._drawn[: self._at[0]])
        above += min(self._at[1], self._columns * 99) // self._columns
        self._write(f"{_up(above)}\r{_ERASE_BELOW}")
        self._drawn, self._at = (), (0, 0)
        line = "".join(self._line).removesuffix(self._held)
        self._column = advance(0, line, self._columns)[1]
        if self._is_open_on_screen:
            self._save_end_of(line)
        self._column = advance(self._column, self._held, self._columns)[1]
        self._changed()

    def open_alternate(self) -> None:
        """Another screen is shown until `close_alternate`; what is put and drawn meanwhile is collected.

        The live area goes before: a new size could wrap it unseen, and the terminal keeps one place of the cursor for both of us.
        """
        self.flush()
        self._is_away = True
        self._line_before = "".join(self._line).removesuffix(self._held)
        self._write(f"{_up(self._at[0])}\r{_ERASE_BELOW}{BEGIN_ALTERNATE}")
        self._drawn, self._at = (), (0, 0)

    def close_alternate(self) -> None:
        if not self._is_away:
            return
        self._is_away = False
        self._is_shown = True
        self._write(f"{END_ALTERNATE}{SHOW_CURSOR}")
        old = self._columns
        self._columns, self._height = self.measure()
        if self._is_open_on_screen:
            self._save_end_of(self._line_before)
        if self._columns != old:
            self._marked = False
            self._column = advance(0, "".join(self._line), self._columns)[1]
            if self._column == self._columns and not self._held:
                text = "".join(self._text)
                at = _last_character(text)
                self._text, self._held = [text[:at]], text[at:]
        self._changed()

    def leave(self) -> None:
        """Takes the live area away; the cursor stands on a line of its own."""
        self.end_line()
        self.draw((), None)
        self.flush()

    def forget(self) -> None:
        """Others have written since: the live area is drawn anew where the cursor stands now."""
        self._drawn, self._at, self._marked = (), (0, 0), False
        self._line.clear()
        self._column, self._held = 0, ""
        self._changed()

    def _must_draw_all(self) -> bool:
        grown = len(self._wanted) > len(self._drawn)
        return bool(self._text or self._erase) or (grown and self._is_open_on_screen)

    def _draw_all(self) -> str:
        parts = [_up(self._at[0]), "\r"]
        if self._erase:
            parts += [_up(self._erase), _ERASE_BELOW]
        else:
            if self._drawn:
                parts.append(_ERASE_BELOW)
            if self._is_open_on_screen:
                parts.append(_RESTORE)
        text = "".join(self._text)
        parts.append(text.replace("\n", "\r\n"))
        self._text.clear()
        self._erase = 0
        self._is_open_on_screen = bool(self._line)
        if self._line:
            below = max(len(self._wanted), 1)
            parts += [_DOWN * below, _up(below), _SAVE, "\r\n"]
        self._drawn, self._at = self._wanted, (max(len(self._wanted) - 1, 0), 0)
        parts += [_NO_WRAP, "\r\n".join(self._wanted), _WRAP] if self._wanted else []
        return "".join((*parts, self._place_cursor()))

    def _draw_difference(self) -> str:
        old, new = self._drawn, self._wanted
        if old == new and self._wanted_cursor in {None, self._at}:
            return ""
        parts: list[str] = []
        row = self._at[0]
        for number, text in enumerate(new):
            if number < len(old) and old[number] == text:
                continue
            if number < len(old) or number == 0:
                parts += [_move(row, number), "\r", text, _ERASE_LINE_END]
            else:
                parts += [_move(row, number - 1), "\r\n", text]
            row = number
        if len(new) < len(old):
            # The row behind the last one; without any, where the first stood.
            parts += [_move(row, len(new)), "\r", _ERASE_BELOW]
            row = len(new)
        self._drawn, self._at = new, (row, -1)
        return "".join((_NO_WRAP, *parts, _WRAP, self._place_cursor()))

    def _place_cursor(self) -> str:
        # A cursor that is not shown stands in the first row: terminals differ in where it goes when a later row is wrapped anew.
        row, column = self._wanted_cursor or (0, 0)
        moved = _move(self._at[0], row) + "\r" + (f"\x1b[{column}C" if column else "")
        self._at = (row, column)
        return moved

    def _save_end_of(self, line: str) -> None:
        """Of the line that streams; the cursor stands in the row below it."""
        column = advance(0, line, self._columns)[1]
        if column == self._columns:
            # Its last row is full now: the last character once more, so that the terminal knows that the line goes on.
            last = line[_last_character(line) :]
            self._write(f"{_up(1)}\x1b[{self._columns - width_of(last) + 1}G{last}{_SAVE}\r\n")
        else:
            self._write(f"{_up(1)}\x1b[{column + 1}G{_SAVE}\r\n")

    def _count(self, text: str) -> None:
        first, *others = SEQUENCE.sub("", text).split("\n")
        self._go_on(first)
        for line in others:
            self._rows += 1
            self._line.clear()
            self._column = 0
            self._go_on(line)

    def _go_on(self, text: str) -> None:
        if text:
            self._line.append(text)
            rows, self._column = advance(self._column, text, self._columns)
            self._rows += rows

    def _rows_of(self, row: str) -> int:
        return max(-(-plain_width(row) // self._columns), 1)

    def measure(self) -> tuple[int, int]:
        columns, rows = self._size()
        return max(columns, 1), max(rows, 1)


def advance(column: int, text: str, columns: int) -> tuple[int, int]:
    """How many rows further, and in which column, a text on one line ends; the last column is the width itself."""
    if text.isascii():
        end = column + len(text)
        rows = max(end - 1, 0) // columns
        return rows, end - rows * columns
    rows = 0
    for mark in text:
        wide = width_of(mark)
        if column + wide > columns:
            rows, column = rows + 1, 0
        column += wide
    return rows, column


def _up(rows: int) -> str:
    return f"\x1b[{rows}A" if rows > 0 else ""


def _move(row: int, to: int) -> str:
    if to == row:
        return ""
    return f"\x1b[{to - row}B" if to > row else _up(row - to)


def _last_character(text: str) -> int:
    """Where the last character begins that takes a column."""
    at = len(text)
    ends = SEQUENCE.finditer(text)
    spans = [found.span() for found in ends]
    while at > 0:
        if spans and spans[-1][1] == at:
            at = spans.pop()[0]
            continue
        at -= 1
        if width_of(text[at]) > 0:
            break
    return at
