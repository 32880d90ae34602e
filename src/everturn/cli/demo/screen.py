"""The screen: lines that stay, and below them, on a terminal, lines that are still being painted."""

import shutil
from collections.abc import Mapping, Sequence
from typing import TextIO

from everturn.cli.demo.lines import Line, cut, render_ansi, render_plain

_WIDEST = 100
_NARROWEST = 40
_LOWEST = 4
_ASCII = str.maketrans(
    {
        "●": "*",
        "○": "o",
        "✓": "+",
        "✗": "x",
        "→": ">",
        "↻": "~",
        "↶": "<",
        "│": "|",
        "─": "-",
        "·": "-",
        "…": "...",
    }
)


class Screen:
    """`keep` writes for good; `paint` shows what may still change, and replaces what it showed before."""

    def __init__(self, out: TextIO, *, live: bool, width: int, height: int) -> None:
        self.live = live
        self.width = width
        self.kept: list[Line] = []
        """Everything that stayed, for a picture of it."""
        self._out = out
        self._height = height
        self._painted = 0
        self._ascii = not _can_encode(out)

    def keep(self, *lines: Line) -> None:
        self.kept.extend(lines)
        if self.live:
            self._write(self._erase() + "".join(f"{render_ansi(one)}\n" for one in lines))
        else:
            self._write("".join(f"{render_plain(one)}\n" for one in lines))

    def paint(self, lines: Sequence[Line]) -> None:
        if not self.live:
            return
        # Lines that scrolled out of sight can no longer be replaced: show the newest that fit.
        shown = [render_ansi(cut(one, self.width)) for one in lines[-(self._height - 1) :]]
        before = self._erase()
        self._painted = len(shown)
        self._write(before + "".join(f"{text}\n" for text in shown))

    def _erase(self) -> str:
        painted, self._painted = self._painted, 0
        return f"\x1b[{painted}A\r\x1b[J" if painted else ""

    def _write(self, text: str) -> None:
        if not text:
            return
        if self._ascii:
            text = text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
        self._out.write(text)
        self._out.flush()


def open_screen(out: TextIO, env: Mapping[str, str]) -> Screen:
    """Plain text to a pipe, to a terminal that is dumb or tiny, and where NO_COLOR asks for it."""
    if not out.isatty():
        return Screen(out, live=False, width=_WIDEST, height=1)
    columns, rows = shutil.get_terminal_size()
    coloured = not env.get("NO_COLOR") and env.get("TERM", "dumb") not in {"", "dumb"}
    live = coloured and columns > _NARROWEST and rows >= _LOWEST
    # A last column that is left free keeps terminals from wrapping.
    return Screen(out, live=live, width=max(_NARROWEST, min(columns - 1, _WIDEST)), height=rows)


def _can_encode(out: TextIO) -> bool:
    """A stream in memory has no encoding, and takes everything."""
    try:
        "●✓↻│".encode(out.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
