"""The parts of an answer on the screen: words, and calls on their way from being written to their result."""

import time
from collections.abc import Callable

from everturn.cli.demo.lines import Line, Span, Style, cut, line, wrap
from everturn.cli.demo.results import render_remark, render_result
from everturn.core.events import CallEnded

_HALF = 60
"""Characters shown of a call's input while it is being written."""


class Words:
    """Text or thinking, as far as it has come."""

    settled = True

    def __init__(self, style: Style = Style.PLAIN) -> None:
        self._style = style
        self._text = ""

    def add(self, text: str) -> None:
        self._text += text

    def lines(self, width: int) -> list[Line]:
        return wrap(self._text.strip(), width, self._style, first="  ", rest="  ") if self._text.strip() else []


class CallRow:
    """One call. `settled` once it has its result."""

    def __init__(self, name: str, shorten: Callable[[str], str]) -> None:
        self.name = name
        self.id = ""
        self._shorten = shorten
        self._input = ""
        self._line = ""
        self._began_s: float | None = None
        self._ended: CallEnded | None = None

    @property
    def settled(self) -> bool:
        return self._ended is not None

    @property
    def began(self) -> bool:
        return self._began_s is not None

    def add(self, text: str) -> None:
        self._input += text

    def begin(self, what: str) -> None:
        self._line = self._shorten(what)
        self._began_s = time.monotonic()

    def end(self, event: CallEnded) -> None:
        self.name = event.name
        self._ended = event

    def lines(self, width: int) -> list[Line]:
        if self._ended is not None:
            return self._ended_lines(self._ended, width)
        if self._began_s is not None:
            passed = f"  {time.monotonic() - self._began_s:.1f} s"
            return [self._fitted(Span("○ ", Style.FLOW), passed, width)]
        return [cut(line(Span(f"○ {self.name} {self._input[:_HALF]}…", Style.FAINT)), width)]

    def _ended_lines(self, event: CallEnded, width: int) -> list[Line]:
        mark = Span("● ", Style.BAD if event.is_error else Style.GOOD)
        remark = f"  {render_remark(event)}"
        body = [cut(row, width) for row in render_result(event.shown, self._shorten)]
        return [self._fitted(mark, remark, width), *body]

    def _fitted(self, mark: Span, remark: str, width: int) -> Line:
        """A long command gives way to its remark."""
        name, _, rest = (self._line or self.name).partition(" ")
        what = cut(line(Span(name, Style.STRONG), f" {rest}"), width - len(mark.text) - len(remark))
        return (mark, *what, Span(remark, Style.FAINT))


Part = Words | CallRow
