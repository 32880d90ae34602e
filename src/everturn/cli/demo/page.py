"""What the demo writes on: the frontends' own screen, on a terminal or into a pipe, and prose laid out for its width."""

import shutil
from collections.abc import Callable, Mapping
from typing import TextIO

from everturn.frontends.ansi import DIM, Style, choose_style
from everturn.frontends.flow import Flow
from everturn.frontends.headless.sink import Sink
from everturn.frontends.markdown import Piece
from everturn.frontends.screen import Screen

MAX_COLUMNS = 101
"""One more than lines may take: a last column that is left free keeps terminals from wrapping."""
MIN_COLUMNS = 40
MIN_ROWS = 4
"""On a smaller terminal nothing is painted over."""
LABEL_WIDTH = 13
_ASCII = str.maketrans(
    {
        "●": "*",
        "·": "-",
        "✓": "+",
        "✗": "x",
        "→": ">",
        "↻": "~",
        "↶": "<",
        "│": "|",
        "─": "-",
        "—": "-",
        "∴": ":",
        "…": "...",
    }
)


class DemoScreen:
    """A screen whose reader may leave: `check` says so, since the screen itself is also written to between two events."""

    def __init__(self, sink: Sink, style: Style, size: Callable[[], tuple[int, int]], *, ascii_only: bool) -> None:
        self._sink = sink
        self._ascii_only = ascii_only
        self.screen = Screen(self._write, style, size)

    def check(self) -> None:
        """Raises what kept the output from being written: BrokenPipeError where nobody reads any more."""
        if self._sink.lost is not None:
            raise self._sink.lost

    def put(self, text: str = "", codes: str = "", *, head: str = "", wraps: bool = True) -> None:
        """A paragraph, broken between words; its `head` is dim, and what follows hangs behind it."""
        flow = Flow(self.screen.style, self.screen.columns - 1)
        heads = [Piece(head, DIM, wraps=False, hang=True)] if head else []
        self.screen.end_line()
        self.screen.put(flow.lay((*heads, Piece(text, codes, wraps=wraps), Piece("\n"))))
        self.check()

    def put_row(self, label: str, text: str, *, wraps: bool = True) -> None:
        self.put(text, head=f"  {label.ljust(LABEL_WIDTH)}", wraps=wraps)

    def put_line(self, text: str, codes: str = "") -> None:
        """Cut to the width."""
        self.screen.put_line(text, codes)
        self.check()

    def _write(self, text: str) -> None:
        if self._ascii_only:
            text = text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
        self._sink.write_text(text)


def open_page(out: TextIO, env: Mapping[str, str]) -> DemoScreen:
    """Plain text to a pipe, to a terminal that is dumb or tiny, and where NO_COLOR asks for it."""
    columns, rows = shutil.get_terminal_size() if out.isatty() else (MAX_COLUMNS, 1)
    style = choose_style(env)
    is_live = style.colour and style.control and out.isatty() and columns > MIN_COLUMNS and rows >= MIN_ROWS
    return DemoScreen(
        Sink(out.buffer),
        Style(colour=is_live, control=is_live),
        lambda: (max(MIN_COLUMNS, min(columns, MAX_COLUMNS)), rows),
        ascii_only=not _can_encode(out),
    )


def _can_encode(out: TextIO) -> bool:
    try:
        "●✓↻│∴".encode(out.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
