"""Real ends of real pipes and terminals, and a screen that shows what a person would see."""

import fcntl
import os
import pty
import re
import struct
import termios
import threading
from typing import Any, BinaryIO

from everturn.frontends.headless.run import run_headless


class Reader:
    """Reads a descriptor to its end in a thread, so that a writer never waits for the test."""

    def __init__(self, read_end: int, write_end: int) -> None:
        self._read_end = read_end
        self.file: BinaryIO = os.fdopen(write_end, "wb")
        self._pieces: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while piece := os.read(self._read_end, 65_536):
                self._pieces.append(piece)
        except OSError:
            pass  # a terminal whose other end is closed

    def so_far(self) -> bytes:
        return b"".join(self._pieces)

    def close(self) -> bytes:
        self.file.close()
        self._thread.join(timeout=60)
        os.close(self._read_end)
        return self.so_far()


def open_pipe() -> Reader:
    return Reader(*os.pipe())


def open_terminal(columns: int = 80, rows: int = 24) -> Reader:
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return Reader(leader, follower)


async def run_piped(engine: Any, prompt: Any = "Do it.", **options: Any) -> tuple[int, str, str]:
    """Exit code, standard output and standard error; strict about UTF-8."""
    out, err = open_pipe(), open_pipe()
    code = await run_headless(engine, prompt, out=out.file, err=err.file, **options)
    return code, out.close().decode(), err.close().decode()


async def run_on_terminal(
    engine: Any,
    prompt: Any = "Do it.",
    *,
    columns: int = 80,
    rows: int = 24,
    env: dict[str, str] | None = None,
    terminal: Reader | None = None,
    **options: Any,
) -> tuple[int, str]:
    """Exit code and everything that was written to the terminal: a new one, or one that somebody looks at meanwhile."""
    terminal, err = terminal or open_terminal(columns, rows), open_pipe()
    code = await run_headless(
        engine,
        prompt,
        out=terminal.file,
        err=err.file,
        is_terminal=True,
        env={"TERM": "xterm-256color"} if env is None else env,
        **options,
    )
    complaints = err.close().decode()
    # Only one JSON object leaves no room for them on the terminal itself.
    assert complaints == "" or options.get("output_format") == "json"
    return code, terminal.close().decode() + complaints


def screen_of(written: str, columns: int = 80, rows: int = 24) -> list[str]:
    """The lines that stand on the screen in the end, those scrolled away included."""
    lines, row, column = [""], 0, 0
    for sequence, mark in re.findall(r"(\x1b\[[0-9;]*[A-Za-z])|(.)", written, re.DOTALL):
        if sequence.endswith("A"):
            row = max(row - int(sequence[2:-1] or 1), len(lines) - rows, 0)
        elif sequence.endswith("J"):
            lines[row] = lines[row][:column]
            del lines[row + 1 :]
        elif sequence.endswith("K"):
            lines[row] = ""
        elif mark == "\r":
            column = 0
        elif mark == "\n" or (mark and column == columns):
            row, column = row + 1, 0 if mark == "\n" else column
            lines += [""] * (row + 1 - len(lines))
        if mark and mark not in "\r\n":
            column = 0 if column == columns else column
            lines[row] = lines[row][:column].ljust(column) + mark + lines[row][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


def colours_of(written: str) -> set[str]:
    return set(re.findall(r"\x1b\[([0-9;]+)m", written)) - {"0"}
