"""Programs beside the session, such as hooks: they get their input, both outputs are read, and they are ended with everything that they started."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Collection
from contextlib import suppress

from everturn.ports.hooks import Finished, Program
from everturn.workspace.descendants import MARK, end_members, find_members, kill_members
from everturn.workspace.exit_watch import watch_exit
from everturn.workspace.watcher import Watcher

_PIECE = 65_536
_LINGER_S = 0.05
"""After the program's end: what it wrote is in the pipe already; who still holds the pipe is a daemon."""
_MAX_LINGER_S = 0.3
_GRACE_S = 1.0
"""From SIGTERM to SIGKILL."""


class LocalPrograms:
    """`ports.hooks.Programs`. One for a session."""

    def __init__(self) -> None:
        self._session = f"programs-{os.urandom(8).hex()}"
        self._watcher = Watcher(self._session)
        self._started = 0
        self._endings: set[asyncio.Task[None]] = set()

    async def run(self, program: Program) -> Finished:
        # Before the first one: whenever we are killed, somebody is there to end what it started.
        self._watcher.start()
        self._started += 1
        mark = f"{self._session}.{self._started}"
        running = _Running(program, mark)
        try:
            return await running.finished
        except asyncio.CancelledError:
            self._end(running, mark)
            raise
        finally:
            running.close()

    async def aclose(self) -> None:
        if self._endings:
            await asyncio.wait(self._endings)
        if self._started:
            await end_members(lambda known: _find(f"{self._session}.", known), _GRACE_S)
            kill_members(lambda known: _find(f"{self._session}.", known))
            self._watcher.close()

    def _end(self, running: "_Running", mark: str) -> None:
        """Nobody waits for it: whoever was interrupted goes on at once."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(running.pid, signal.SIGTERM)
        task = asyncio.create_task(end_members(lambda known: _find(mark, known, running.pid), _GRACE_S))
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)


def _find(mark: str, known: Collection[int], group: int = 0) -> list[int]:
    def marked(marks: list[str]) -> bool:
        return any(each == mark or (mark.endswith(".") and each.startswith(mark)) for each in marks)

    return find_members(marked, group, known)


class _Running:
    """`finished` is set when the program has ended and what it wrote was read."""

    def __init__(self, program: Program, mark: str) -> None:
        """Raises `OSError` where it cannot start."""
        outer = program.environment.get(MARK)
        environment = {**program.environment, MARK: f"{outer}:{mark}" if outer else mark}
        self._loop = asyncio.get_running_loop()
        self.finished: asyncio.Future[Finished] = self._loop.create_future()
        self._process = subprocess.Popen(
            program.arguments,
            cwd=program.folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self.pid = self._process.pid
        self._most = program.most_bytes
        self._kept = {self._fileno(self._process.stdout): bytearray(), self._fileno(self._process.stderr): bytearray()}
        self._output, self._errors = self._kept
        self._open = set(self._kept)
        self._taken = 0
        self._cut = False
        self._code: int | None = None
        self._left = memoryview(program.input)
        self._writing = self._fileno(self._process.stdin)
        for descriptor in self._kept:
            os.set_blocking(descriptor, False)
            self._loop.add_reader(descriptor, self._on_output, descriptor)
        os.set_blocking(self._writing, False)
        self._loop.add_writer(self._writing, self._on_room)
        self._watch = watch_exit(self._process, self._loop, self._on_exit)

    @staticmethod
    def _fileno(stream: "subprocess._FILE") -> int:
        # All three are pipes.
        assert stream is not None  # noqa: S101
        assert not isinstance(stream, int)  # noqa: S101
        return stream.fileno()

    def close(self) -> None:
        """Who still holds the other ends writes to nobody."""
        for descriptor in tuple(self._open):
            self._loop.remove_reader(descriptor)
        self._open.clear()
        self._end_input()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._watch.close()

    def _on_room(self) -> None:
        try:
            written = os.write(self._writing, self._left[:_PIECE])
        except BlockingIOError:
            return
        except OSError:
            # It does not want to read it.
            self._end_input()
            return
        self._left = self._left[written:]
        if not self._left:
            self._end_input()

    def _end_input(self) -> None:
        if self._writing >= 0:
            self._loop.remove_writer(self._writing)
            self._writing = -1
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _on_output(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return
        kept = self._kept[descriptor]
        self._taken += len(data)
        room = self._most - len(kept)
        self._cut = self._cut or len(data) > room
        kept += data[:room]
        if not data:
            self._loop.remove_reader(descriptor)
            self._open.discard(descriptor)
            self._settle(done=not self._open)

    def _on_exit(self, code: int) -> None:
        self._code = code
        if self._open:
            self._linger(self._taken, self._loop.time() + _MAX_LINGER_S)
        else:
            self._settle(done=True)

    def _linger(self, taken: int, until: float) -> None:
        def look() -> None:
            if not self._open or self._taken == taken or self._loop.time() >= until:
                self._settle(done=True)
            else:
                self._linger(self._taken, until)

        self._loop.call_later(_LINGER_S, look)

    def _settle(self, *, done: bool) -> None:
        if done and self._code is not None and not self.finished.done():
            output, errors = bytes(self._kept[self._output]), bytes(self._kept[self._errors])
            self.finished.set_result(Finished(code=self._code, output=output, errors=errors, cut=self._cut))
