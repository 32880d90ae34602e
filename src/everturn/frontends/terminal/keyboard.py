"""The terminal's other end: raw mode, the bytes that come in, and what decodes them."""

import asyncio
import os
import select
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from everturn.frontends.terminal.inputs import AnswerKind, Input, TerminalAnswer
from everturn.frontends.terminal.keys import FLUSH_S, PASTE_PATIENCE_S, KeyDecoder

PIECE = 65_536


class RawTerminal:
    """Keys come as they are pressed, Ctrl-C among them. Output is as before: a newline still begins a row."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._usual: list[Any] | None = None
        self._early = b""

    def take(self) -> None:
        with suppress(termios.error):
            usual = termios.tcgetattr(self._descriptor)
            if self._usual is None:
                self._usual = usual
            raw = termios.tcgetattr(self._descriptor)
            raw[0] &= ~(termios.ICRNL | termios.INLCR | termios.IXON | termios.BRKINT | termios.ISTRIP)
            raw[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
            raw[6][termios.VMIN], raw[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, raw)
            early = read_waiting(self._descriptor)
            self._early += early.replace(b"\n", b"\r") if usual[0] & termios.ICRNL else early

    def take_early(self) -> bytes:
        """What was typed before the terminal was ours, with Enter as it is since then; given once."""
        early, self._early = self._early, b""
        return early

    def release(self) -> None:
        """As it was before the first `take`."""
        if self._usual is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._usual)


def read_waiting(descriptor: int) -> bytes:
    """What is there already; never waits."""
    with suppress(OSError):
        ready, _, _ = select.select([descriptor], [], [], 0)
        return os.read(descriptor, PIECE) if ready else b""
    return b""


class KeyReader:
    """Reads while it is open, inside a running loop. What comes before somebody is there to receive it waits."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._early: list[Input] = []
        self._has_ended = False
        self._receive: Callable[[Input], None] = self._early.append
        self._end: Callable[[], None] | None = None
        self._decoder = KeyDecoder()
        self._timer: asyncio.TimerHandle | None = None
        self._is_open = False
        self._answered = asyncio.Event()

    async def wait_for_answer(self, patience_s: float) -> None:
        """Until the terminal has answered what it was asked, so that no shell behind us reads that as a command."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._answered.wait()

    def connect(self, receive: Callable[[Input], None], end: Callable[[], None]) -> None:
        """Each input goes to `receive`, those that waited first; the end of all input to `end`."""
        self._receive, self._end = receive, end
        self._hand_over(self._early)
        if self._has_ended:
            end()

    def open(self, early: bytes = b"") -> None:
        """`early`: what was typed before, as `RawTerminal.take_early` gives it."""
        if not self._is_open:
            self._is_open = True
            asyncio.get_running_loop().add_reader(self._descriptor, self._read)
            self._take(early)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            asyncio.get_running_loop().remove_reader(self._descriptor)
        self._stop_timer()

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, PIECE)
        except OSError:
            data = b""
        if not data:
            self.close()
            self._has_ended = True
            if self._end is not None:
                self._end()
            return
        self._take(data)

    def _take(self, data: bytes) -> None:
        self._stop_timer()
        self._hand_over(self._decoder.feed(data))
        if not self._is_open:
            return
        loop = asyncio.get_running_loop()
        if self._decoder.is_undecided:
            self._timer = loop.call_later(FLUSH_S, lambda: self._hand_over(self._decoder.flush()))
        elif self._decoder.is_pasting:
            self._timer = loop.call_later(PASTE_PATIENCE_S, lambda: self._hand_over(self._decoder.end_paste()))

    def _hand_over(self, inputs: list[Input]) -> None:
        for each in inputs:
            if isinstance(each, TerminalAnswer) and each.kind is AnswerKind.ATTRIBUTES:
                self._answered.set()
            self._receive(each)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
