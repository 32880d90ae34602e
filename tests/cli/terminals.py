"""A person at a real pseudo-terminal: reads what is shown, presses keys when it is their turn."""

import asyncio
import fcntl
import os
import pty
import re
import struct
import termios
from contextlib import asynccontextmanager

TURN = "\n> "
"""Keys count from here on."""
PATIENCE_S = 120.0
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    def __init__(self, descriptor: int, process: asyncio.subprocess.Process) -> None:
        self._descriptor = descriptor
        self.process = process
        self.raw = ""
        self._seen = 0
        self._came = asyncio.Event()
        self._closed = False
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    @property
    def shown(self) -> str:
        """All so far, without colours and carriage returns."""
        return _COLOURS.sub("", self.raw).replace("\r", "")

    async def until(self, text: str) -> str:
        """What was shown since the last time, up to this text."""
        while (at := self.shown.find(text, self._seen)) < 0:
            assert not self._closed, self.shown
            await self._wait_for_more(text)
        since, self._seen = self.shown[self._seen : at + len(text)], at + len(text)
        return since

    async def turn(self) -> str:
        return await self.until(TURN)

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    async def end(self) -> int:
        code = await self.process.wait()
        while not self._closed:
            self._came.clear()
            await self._came.wait()
        return code

    async def _wait_for_more(self, text: str) -> None:
        self._came.clear()
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._came.wait()
        except TimeoutError:
            raise AssertionError(f"{text!r} did not come after:\n{self.shown}") from None

    def is_usual(self) -> bool:
        """Lines are edited and echoed by the terminal itself, as a shell expects it."""
        return bool(termios.tcgetattr(self._descriptor)[3] & (termios.ICANON | termios.ECHO))

    def modes(self) -> list:
        return termios.tcgetattr(self._descriptor)

    def make_usual(self) -> None:
        """As a shell leaves it that had it in between."""
        modes = termios.tcgetattr(self._descriptor)
        modes[3] |= termios.ICANON | termios.ECHO
        termios.tcsetattr(self._descriptor, termios.TCSANOW, modes)

    def close(self) -> None:
        if not self._closed:
            asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)

    def _read(self) -> None:
        try:
            piece = os.read(self._descriptor, 65_536)
        except OSError:
            # Linux ends a terminal that nobody holds open any more with an error.
            piece = b""
        if piece:
            self.raw += piece.decode("utf-8", "replace")
        else:
            self._closed = True
            asyncio.get_running_loop().remove_reader(self._descriptor)
        self._came.set()


@asynccontextmanager
async def at_terminal(program, *words, columns=80, rows=24, env=None, out=True, stdin=None):
    """The program in front of a terminal that is its own. `out` False: standard output goes nowhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    pipes = {
        "stdin": theirs if stdin is None else stdin,
        "stdout": theirs if out else asyncio.subprocess.DEVNULL,
        "stderr": theirs,
    }
    async with program.started(
        *words,
        env={"TERM": "xterm-256color", **(env or {})},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0),
        **pipes,
    ) as process:
        terminal = Terminal(ours, process)
        try:
            # Held open by us, it can still be looked at when the program has ended.
            yield terminal
            os.close(theirs)
            theirs = -1
            await terminal.end()
        finally:
            if theirs >= 0:
                os.close(theirs)
            terminal.close()
