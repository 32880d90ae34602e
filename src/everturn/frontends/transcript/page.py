"""What all families of events write on: paragraphs and lines on a screen, and the frames in which they are painted."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from everturn.core.masking import mask_keys
from everturn.frontends.ansi import Style
from everturn.frontends.flow import Flow
from everturn.frontends.harmless import make_harmless
from everturn.frontends.markdown import Piece
from everturn.frontends.transcript.waiting import Waiting

MAX_WIDTH = 100
"""Prose is read badly in longer lines."""
UNWRAPPED = 1_000_000
"""Columns of prose that the terminal wraps itself, so that copied text has no breaks of ours."""


class OutputScreen(Protocol):
    """Where finished text goes. Everything written stays, unless it is taken back to the mark."""

    style: Style

    @property
    def columns(self) -> int: ...

    def put(self, text: str) -> None: ...

    def put_line(self, text: str, codes: str = "", *, ending: str = "") -> None: ...

    def end_line(self) -> None: ...

    def show_status(self, text: str) -> None: ...

    def hide_status(self) -> None: ...

    def mark(self) -> None: ...

    def keep(self) -> None: ...

    def take_back(self) -> bool: ...


class Page:
    """Words stand in paragraphs with an empty line between them; lines of calls stand together."""

    def __init__(
        self,
        screen: OutputScreen,
        *,
        elapsed: Callable[[], float],
        asked_s: Callable[[], float],
        frame_s: float,
        wraps: bool = True,
    ) -> None:
        """`asked_s`: how long a person was waited for until now. `frame_s`: text that streams is painted at most this often. `wraps`: prose is wrapped here, not by the terminal."""
        self.screen = screen
        self.asked_s = asked_s
        self.waiting = Waiting(lambda: elapsed() - asked_s())
        self.paragraph = ""
        """Kind of what was written last."""
        self.flush: Callable[[], None] = lambda: None
        """Paints the text that has come."""
        self.end_text: Callable[[], None] = lambda: None
        """Ends the text that streams, before something else is written."""
        self.show_waiting: Callable[[], bool] = self._show_waiting
        """Shows what is waited for; whether another frame is wanted."""
        self.paint_link: Callable[[str, str], str] = lambda painted, _address: painted
        """What makes a painted text open an address."""
        self._frame_s = frame_s
        self._wraps = wraps
        self._frame: asyncio.TimerHandle | None = None

    def plan_frame(self) -> None:
        if self._frame is None:
            self._frame = asyncio.get_running_loop().call_later(self._frame_s, self._paint)

    def drop_frame(self) -> None:
        if self._frame is not None:
            self._frame.cancel()
            self._frame = None

    def close(self) -> None:
        self.drop_frame()
        self.end_text()
        self.screen.hide_status()
        self.screen.end_line()

    def say(self, text: str, codes: str) -> None:
        """One line between the words."""
        self.end_text()
        self.open_paragraph("line")
        self.screen.put_line(text, codes)

    def say_with_ending(self, line: str, ending: str, codes: str) -> None:
        """However long the line is, its ending stays visible."""
        self.end_text()
        self.open_paragraph("line")
        self.screen.put_line(line, codes, ending=f"  {ending}")

    def put_words(self, text: str, codes: str, *, kind: str = "text") -> None:
        """Whole, however many rows they take."""
        self.end_text()
        self.open_paragraph(kind)
        columns = self.screen.columns - 1
        flow = Flow(self.screen.style, min(columns, MAX_WIDTH))
        for line in mask_keys(make_harmless(text)).splitlines():
            self.screen.put(flow.lay((Piece(line, codes), Piece("\n"))))

    def open_paragraph(self, kind: str) -> None:
        """An empty line between words and lines, none between lines."""
        if self.paragraph and (kind != self.paragraph or kind == "text"):
            self.screen.put("\n")
        self.paragraph = kind

    def new_flow(self) -> Flow:
        columns = self.screen.columns - 1
        wide = min(columns, MAX_WIDTH) if self._wraps else UNWRAPPED
        return Flow(self.screen.style, wide, table_columns=columns, paint_link=self.paint_link)

    def _paint(self) -> None:
        self._frame = None
        self.flush()
        if self.show_waiting():
            self.plan_frame()

    def _show_waiting(self) -> bool:
        if status := self.waiting.render(self.screen.columns - 1):
            self.screen.show_status(status)
        return bool(status)
