"""All of a folded result, on the terminal's alternate screen: wrapped at the width, scrolled and searched by keys.

A line is laid out when it is shown, so that a result of any length opens at once.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from everturn.frontends.ansi import DIM, Style
from everturn.frontends.figures import render_count
from everturn.frontends.flow import cut_line, width_of
from everturn.frontends.harmless import make_line
from everturn.frontends.terminal.inputs import Input, Key, Paste
from everturn.frontends.terminal.prompt_area import wrap_plain
from everturn.frontends.terminal.reports import HIDE_CURSOR, SHOW_CURSOR
from everturn.frontends.terminal.results import Details

MAX_LINE_CACHE = 512
TAB = 8
INVERSE = "7"
HINT = "q leaves, / searches"
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_ERASE_LINE_END, _ERASE_ALL_BELOW = "\x1b[K", "\x1b[H\x1b[J"

Place = tuple[int, int]
"""A line, and a row of it; in a search, a line and a character of it."""


class PagerScreen(Protocol):
    """The alternate screen, as far as the pager needs it."""

    style: Style

    def measure(self) -> tuple[int, int]: ...

    def send_frame(self, body: str) -> None: ...


class DetailsPager:
    def __init__(
        self,
        details: Details,
        screen: PagerScreen,
        *,
        close: Callable[[], None],
        notice: Callable[[], str] = lambda: "",
    ) -> None:
        """`notice` is what the person should know of the screen behind this one."""
        self._title = details.title
        self._lines = details.lines
        self._screen = screen
        self._close = close
        self._notice = notice
        self._top: Place = (0, 0)
        self._typed: str | None = None
        """What is being typed to be searched."""
        self._words = ""
        self._sought: re.Pattern[str] | None = None
        self._found: Place | None = None
        self._said = ""
        """Stands in the status row until the next key."""
        self._drawn: list[str] = []
        self._was_cursor: int | None = None
        self.resize()

    # What comes in.

    def receive(self, given: Input) -> None:
        self._said = ""
        if self._typed is not None:
            self._type(self._typed, given)
        elif isinstance(given, Key):
            self._press(given)

    def resize(self) -> None:
        columns, rows = self._screen.measure()
        self._columns, self._height = max(columns, 1), max(rows - 1, 1)
        self._wrap = lru_cache(MAX_LINE_CACHE)(lambda line: wrap_plain(self._text(line), self._columns))
        self._top = (self._top[0], 0)
        self._drawn = []

    def _press(self, key: Key) -> None:
        page = max(self._height - 1, 1)
        match key:
            case Key(name="escape") | Key(name="c" | "o", ctrl=True) | Key(text="q" | "Q"):
                self._close()
            case Key(name="down" | "enter") | Key(text="j") | Key(name="n" | "e", ctrl=True):
                self._scroll(1)
            case Key(name="up") | Key(text="k") | Key(name="p" | "y", ctrl=True):
                self._scroll(-1)
            case Key(name="pagedown" | "space") | Key(text="f") | Key(name="f" | "v", ctrl=True):
                self._scroll(page)
            case Key(name="pageup") | Key(text="b") | Key(name="b", ctrl=True):
                self._scroll(-page)
            case Key(name="d", ctrl=True) | Key(text="d"):
                self._scroll(page // 2 + 1)
            case Key(name="u", ctrl=True) | Key(text="u"):
                self._scroll(-(page // 2 + 1))
            case Key(name="home") | Key(text="g" | "<"):
                self._top = (0, 0)
            case Key(name="end") | Key(text="G" | ">"):
                self._top = self._last_top()
            case Key(text="/"):
                self._typed = ""
            case Key(text="n"):
                self._search(1)
            case Key(text="N"):
                self._search(-1)
            case _:
                pass

    def _type(self, typed: str, given: Input) -> None:
        match given:
            case Paste(text=text):
                self._typed = typed + make_line(text)
            case Key(name="escape") | Key(name="c", ctrl=True):
                self._typed = None
            case Key(name="backspace"):
                self._typed = typed[:-1] if typed else None
            case Key(name="u", ctrl=True):
                self._typed = ""
            case Key(name="enter"):
                self._typed = None
                if typed:
                    ignored = re.IGNORECASE if typed.islower() else re.NOFLAG
                    self._words, self._found = typed, None
                    self._sought = re.compile(re.escape(typed), ignored)
                self._search(1)
            case Key(text=text):
                self._typed = typed + text

    # Where things are.

    def _text(self, line: int) -> str:
        return self._lines[line][0].expandtabs(TAB)

    def _down(self, place: Place, by: int) -> Place:
        line, row = place
        row += by
        while row >= (count := len(self._wrap(line))):
            if line + 1 >= len(self._lines):
                return line, count - 1
            row -= count
            line += 1
        return line, row

    def _up(self, place: Place, by: int) -> Place:
        line, row = place
        row -= by
        while row < 0:
            if line == 0:
                return 0, 0
            line -= 1
            row += len(self._wrap(line))
        return line, row

    def _last_top(self) -> Place:
        last = len(self._lines) - 1
        return self._up((last, len(self._wrap(last)) - 1), self._height - 1)

    def _scroll(self, by: int) -> None:
        if by > 0:
            self._top = min(self._down(self._top, by), self._last_top())
        else:
            self._top = self._up(self._top, -by)

    # What is sought.

    def _search(self, direction: int) -> None:
        """The next place that fits, from the one that is on the screen, or from the first row."""
        if self._sought is None:
            self._said = "nothing was searched yet; / searches"
            return
        end = self._down(self._top, self._height - 1)
        found = self._found
        if found is None or not self._top <= self._row_of(found) <= end:
            line, row = self._top
            found = line, sum(map(len, self._wrap(line)[:row])) - (direction > 0)
        if (place := self._find(found, direction)) is None:
            self._said = f"nothing fits {self._words!r}"
            return
        if (place > found) != (direction > 0):
            self._said = "searched on from the other end"
        self._found = place
        if not self._top <= (top := self._row_of(place)) <= end:
            self._top = min(top, self._last_top())

    def _find(self, start: Place, direction: int) -> Place | None:
        """Around the end, up to where it began."""
        assert self._sought is not None  # noqa: S101 (the caller has looked)
        count, (first, after) = len(self._lines), start
        for step in range(count + 1):
            line = (first + direction * step) % count
            text = self._text(line)
            if direction > 0:
                found = self._sought.search(text, after + 1 if step == 0 else 0)
                if found is not None:
                    return line, found.start()
                continue
            places = [found.start() for found in self._sought.finditer(text)]
            places = [place for place in places if step or place < after]
            if places:
                return line, places[-1]
        return None

    def _row_of(self, place: Place) -> Place:
        line, left = place
        for row, text in enumerate(self._wrap(line)):
            if left < len(text):
                return line, row
            left -= len(text)
        return line, 0

    # What is seen.

    def draw(self) -> None:
        """Only the rows that have changed."""
        rows = [*self._lay_rows(), self._lay_status()]
        parts = [] if self._drawn else [_ERASE_ALL_BELOW]
        old = self._drawn or [""] * len(rows)
        parts += [
            f"\x1b[{number};1H{_ERASE_LINE_END}{row}"
            for number, (row, before) in enumerate(zip(rows, old, strict=True), 1)
            if row != before
        ]
        cursor = None if self._typed is None else min(width_of(self._typed) + 2, self._columns)
        if not parts and cursor == self._was_cursor:
            return
        self._drawn, self._was_cursor = rows, cursor
        shown = f"\x1b[{len(rows)};{cursor}H{SHOW_CURSOR}" if cursor is not None else ""
        self._screen.send_frame("".join((HIDE_CURSOR, _NO_WRAP, *parts, _WRAP, shown)))

    def _lay_rows(self) -> list[str]:
        rows: list[str] = []
        line, first = self._top
        while len(rows) < self._height and line < len(self._lines):
            rows += self._lay_line(line, first, self._height - len(rows))
            line, first = line + 1, 0
        return [*rows, *[""] * (self._height - len(rows))]

    def _lay_line(self, line: int, first: int, most: int) -> list[str]:
        wrapped, codes = self._wrap(line), self._lines[line][1]
        # Beside the conversation it is dim; here it is what is read.
        codes = "" if codes == DIM else codes
        begin = sum(map(len, wrapped[:first]))
        end = begin + sum(map(len, wrapped[first : first + most]))
        spans = self._spans(line, begin, end)
        rows = []
        for text in wrapped[first : first + most]:
            rows.append(self._paint(text, codes, [(start - begin, stop - begin) for start, stop in spans]))
            begin += len(text)
        return rows

    def _spans(self, line: int, begin: int, end: int) -> list[tuple[int, int]]:
        """What fits the search in a part of a line."""
        if self._sought is None:
            return []
        before = max(begin - len(self._words), 0)
        return [found.span() for found in self._sought.finditer(self._text(line), before, end)]

    def _paint(self, text: str, codes: str, spans: list[tuple[int, int]]) -> str:
        style, at, parts = self._screen.style, 0, []
        fitting = f"{codes};{INVERSE}" if codes else INVERSE
        for span in spans:
            start, stop = max(span[0], at), min(span[1], len(text))
            if start < stop:
                parts += [style.paint(text[at:start], codes), style.paint(text[start:stop], fitting)]
                at = stop
        return "".join((*parts, style.paint(text[at:], codes)))

    def _lay_status(self) -> str:
        columns, style = self._columns, self._screen.style
        if self._typed is not None:
            return cut_line(f"/{self._typed}", columns)
        told = self._said or f"{self._tell_place()} · {self._title}"
        hint = self._notice() or HINT
        room = columns - width_of(hint) - 3
        row = cut_line(f" {told}", room if room >= width_of(self._tell_place()) else columns)
        if room >= width_of(row):
            row += " " * (columns - 1 - width_of(row) - width_of(hint)) + hint
        return style.paint(row + " " * (columns - width_of(row)), INVERSE)

    def _tell_place(self) -> str:
        count, first = len(self._lines), self._top[0] + 1
        last = self._down(self._top, self._height - 1)[0] + 1
        return f"{first:,} to {last:,} of {render_count(count, 'line')}, {last * 100 // count} %"
