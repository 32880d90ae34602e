"""The process of a server: its pipes read and written without ever blocking, its errors kept for a diagnosis, its end seen to."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Protocol

from everturn.mcp.host import GRACE_S
from everturn.workspace.descendants import end_members, find_members
from everturn.workspace.exit_watch import watch_exit

_PIECE = 262_144
"""Bytes that are read before others get their turn."""
KEPT_ERRORS = 8_192
"""Bytes of what it wrote to its standard error last."""
MAX_UNSENT = 64_000_000
"""Bytes that wait for a server that does not read."""
_CLOSING_S = 2.0
"""From the end of its input, which asks a server to end, to SIGTERM."""
_LINGER_S = 0.05
"""After its end: what it wrote is in the pipe already."""


class Listener(Protocol):
    def note_output(self, data: bytes) -> None: ...

    def note_end(self, code: int) -> None:
        """It has ended, and all that it wrote was handed over. Negative: by that signal."""
        ...


class ServerProcess:
    """Leads a group of its own, so that Ctrl-C of a terminal is not meant for it."""

    def __init__(
        self, command: list[str], environment: dict[str, str], folder: str, mark: str, listener: Listener
    ) -> None:
        """`mark`: what its descendants are known by; `environment` holds it. Raises `OSError` and `ValueError` when it cannot start."""
        self._loop = asyncio.get_running_loop()
        self._mark = mark
        self._listener = listener
        self._code: int | None = None
        self._unsent = bytearray()
        self._errors = bytearray()
        self._process, self._input, self._output, self._error = _begin(command, environment, folder)
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self._loop.add_reader(self._output, self._on_output)
        self._loop.add_reader(self._error, self._on_error)
        self._watch = watch_exit(self._process, self._loop, self._on_exit)

    @property
    def errors(self) -> str:
        """What it wrote last to its standard error."""
        return self._errors.decode("utf-8", "replace")

    def write(self, line: bytes) -> bool:
        """False: it has gone, or so much waits for it already that this was not taken."""
        if self._input < 0 or len(self._unsent) + len(line) > MAX_UNSENT:
            return False
        if self._unsent:
            self._unsent += line
            return True
        try:
            sent = os.write(self._input, line)
        except BlockingIOError:
            sent = 0
        except OSError:
            # It has closed its input: it is about to end, and its end is noticed.
            self._close_input()
            return False
        if sent < len(line):
            self._unsent += line[sent:]
            self._loop.add_writer(self._input, self._on_writable)
        return True

    async def end(self) -> None:
        """The end of its input, time to obey, SIGTERM to all that it started, time, SIGKILL."""
        self._close_input()
        try:
            if not self.ended.done():
                await asyncio.wait({self.ended}, timeout=_CLOSING_S)
            await end_members(self._find, GRACE_S)
        finally:
            # Also where nobody waits for it any more.
            self._kill()
        await asyncio.wait({self.ended}, timeout=GRACE_S)
        self._close_output()
        self._watch.close()

    def _find(self, known: Collection[int]) -> list[int]:
        return find_members(lambda marks: self._mark in marks, self._process.pid, known)

    def _kill(self) -> None:
        if self._code is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _on_output(self) -> None:
        data = _read(self._output, _PIECE)
        if data:
            self._listener.note_output(data)
        elif data is not None:
            self._loop.remove_reader(self._output)

    def _on_error(self) -> None:
        data = _read(self._error, _PIECE)
        if data:
            self._errors += data
            del self._errors[:-KEPT_ERRORS]
        elif data is not None:
            self._loop.remove_reader(self._error)

    def _on_writable(self) -> None:
        try:
            del self._unsent[: os.write(self._input, self._unsent[:_PIECE])]
        except BlockingIOError:
            return
        except OSError:
            self._close_input()
            return
        if not self._unsent:
            self._loop.remove_writer(self._input)

    def _on_exit(self, code: int) -> None:
        self._code = code
        self._loop.call_later(_LINGER_S, self._settle)

    def _settle(self) -> None:
        if self._code is None or self.ended.done():
            return
        self._drain(self._output, self._on_output)
        self._drain(self._error, self._on_error)
        self._close_input()
        self._close_output()
        self.ended.set_result(self._code)
        self._listener.note_end(self._code)

    def _drain(self, descriptor: int, read: Callable[[], None]) -> None:
        """What its children write after its end is nobody's."""
        for _ in range(16):
            if descriptor < 0:
                return
            read()

    def _close_input(self) -> None:
        if self._input >= 0:
            self._loop.remove_writer(self._input)
            os.close(self._input)
            self._input = -1
            self._unsent.clear()

    def _close_output(self) -> None:
        for descriptor in (self._output, self._error):
            if descriptor >= 0:
                self._loop.remove_reader(descriptor)
                os.close(descriptor)
        self._output = self._error = -1


def _begin(
    command: list[str], environment: dict[str, str], folder: str
) -> tuple["subprocess.Popen[bytes]", int, int, int]:
    """The process, and our ends of its three pipes."""
    theirs_in, ours_in = os.pipe()
    ours_out, theirs_out = os.pipe()
    ours_error, theirs_error = os.pipe()
    ours = (ours_in, ours_out, ours_error)
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder or None,
            stdin=theirs_in,
            stdout=theirs_out,
            stderr=theirs_error,
            start_new_session=True,
        )
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in (theirs_in, theirs_out, theirs_error):
            os.close(descriptor)
    for descriptor in ours:
        os.set_blocking(descriptor, False)
    return process, *ours


def _read(descriptor: int, most: int) -> bytes | None:
    """None: nothing has come yet; empty: nothing will."""
    if descriptor < 0:
        return None
    try:
        return os.read(descriptor, most)
    except BlockingIOError:
        return None
    except OSError:
        return b""
