"""What people see of a command's output while it runs: all of it at first; of a flood, a piece now and then."""

import asyncio
import codecs
from collections.abc import Callable

_SHOWN_LIVE = 262_144
"""Bytes shown piece by piece; of what comes after, samples."""
_SAMPLE = 4_096
_SAMPLE_S = 0.1


class Progress:
    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._shown = 0
        self._next_s = 0.0

    def feed(self, data: bytes) -> None:
        if self._shown < _SHOWN_LIVE:
            self._shown += len(data)
            if text := self._decoder.decode(data):
                self._show(text)
            return
        now = asyncio.get_running_loop().time()
        if now >= self._next_s:
            self._next_s = now + _SAMPLE_S
            # From the beginning of a line on: what stands before it may be the rest of a sequence for the terminal.
            cut, newline, line = data[-_SAMPLE:].partition(b"\n")
            self._show((line if newline else cut).decode(errors="replace"))
