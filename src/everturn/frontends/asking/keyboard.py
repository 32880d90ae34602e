"""Keys of a terminal: single keys without echo, or a line with the line editing of the terminal itself."""

import asyncio
import os
import signal
import termios
import tty
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

_PIECE = 1_024
END = ""
"""In place of a key: nobody is at the terminal any more."""


class Keyboard:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._usual: list[int | list[bytes | int]] | None = None
        self._is_edited = False

    @contextmanager
    def held(self, redraw: Callable[[], None]) -> Generator[None]:
        """Keys come as they are pressed, without echo; Ctrl-C still interrupts. Afterwards all is as it was.

        `redraw` is called when the program goes on that was stopped (Ctrl-Z): a shell has written below our words.
        """
        loop = asyncio.get_running_loop()
        with suppress(termios.error):
            self._usual = termios.tcgetattr(self._descriptor)
        self._take()

        def take_up() -> None:
            # A shell that got the terminal in between has left it in its own state.
            if not self._is_edited:
                self._take()
            redraw()

        # Only the main thread hears of it.
        with suppress(ValueError, RuntimeError):
            loop.add_signal_handler(signal.SIGCONT, take_up)
        try:
            yield
        finally:
            with suppress(ValueError, RuntimeError):
                loop.remove_signal_handler(signal.SIGCONT)
            self._release()
            self._usual = None

    def drop_typed(self) -> None:
        """What was typed before a question was seen is no answer to it."""
        with suppress(termios.error):
            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    async def read_key(self) -> str:
        """`END` at the end. What comes in one piece, such as a paste or an arrow key, is given in one piece."""
        return (await self._read()).decode("utf-8", "replace")

    @contextmanager
    def edited(self) -> Generator[None]:
        """Lines come whole, edited and echoed by the terminal itself."""
        self._release()
        self._is_edited = True
        try:
            yield
        finally:
            self._is_edited = False
            self._take()

    async def read_line(self) -> str | None:
        """While `edited`: without its end. None at the end of the input."""
        line = b""
        while not line.endswith(b"\n"):
            piece = await self._read()
            if not piece:
                return line.decode("utf-8", "replace") if line else None
            line += piece
        return line.decode("utf-8", "replace").rstrip("\r\n")

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._descriptor, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._descriptor)
        try:
            return os.read(self._descriptor, _PIECE)
        except OSError:
            return b""

    def _take(self) -> None:
        with suppress(termios.error):
            tty.setcbreak(self._descriptor, termios.TCSADRAIN)

    def _release(self) -> None:
        if self._usual is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._usual)
