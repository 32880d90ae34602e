"""One process group: started, its output read without ever blocking, and ended whole."""

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from everturn.core.errors import ToolFault

_PIECE = 65_536
_LINGER_S = 0.05
"""After the shell's end: what it wrote is in the pipe already; who still holds the pipe is a daemon."""
_POLL_S = 0.02


class Group:
    """A child in its own session. Its process id is the id of its group."""

    def __init__(self, arguments: list[str], folder: str, environment: dict[str, str], keep: int) -> None:
        """`keep`: a descriptor that the child gets too. Raises `ToolFault` when it cannot start."""
        self._loop = asyncio.get_running_loop()
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        try:
            self._process = subprocess.Popen(
                arguments,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                pass_fds=(keep,),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(reader)
            raise ToolFault(f"The command could not be started: {error}") from None
        finally:
            os.close(writer)
        self._output = reader
        self._exited: asyncio.Future[int] = self._loop.create_future()
        # A thread of our own: waiting in the shared pool would keep other tools from running.
        threading.Thread(target=self._await_exit, name="everturn-bash", daemon=True).start()

    async def read(self, take: Callable[[bytes], None]) -> int:
        """Hands over output until the shell has exited; gives its code, negative when a signal ended it."""
        ended = asyncio.Event()

        def on_output() -> None:
            if not self._take_piece(take):
                self._loop.remove_reader(self._output)
                ended.set()

        self._loop.add_reader(self._output, on_output)
        code = await asyncio.shield(self._exited)
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _LINGER_S)
        return code

    async def end(self, grace_s: float) -> None:
        """SIGTERM to the group, time to obey, SIGKILL to what is left of it."""
        self._signal(signal.SIGTERM)
        deadline = self._loop.time() + grace_s
        while self._alive() and self._loop.time() < deadline:  # noqa: ASYNC110 - nobody announces a group's end
            await asyncio.sleep(_POLL_S)
        self.kill()
        await asyncio.shield(self._exited)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def close(self) -> None:
        """Ends the reading too: whoever holds the other end writes to nobody."""
        self._loop.remove_reader(self._output)
        os.close(self._output)

    def _take_piece(self, take: Callable[[bytes], None]) -> bool:
        """False at the end of the output."""
        try:
            data = os.read(self._output, _PIECE)
        except BlockingIOError:
            return True
        if data:
            take(data)
        return bool(data)

    def _alive(self) -> bool:
        """Some member of the group is; the shell itself may be gone."""
        try:
            os.killpg(self._process.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return not _is_dead(self._process.pid)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _await_exit(self) -> None:
        code = self._process.wait()
        # The loop may be closed by now: then nobody waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._settle, code)

    def _settle(self, code: int) -> None:
        if not self._exited.done():
            self._exited.set_result(code)


def _is_dead(group: int) -> bool:
    """Only zombies are left of the group: where nobody reaps orphans they stay, and must not cost us the grace.

    False where there is no /proc to tell.
    """
    seen = False
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # pid (name) state parent group: the name may hold anything, so count from its end.
            state, _, member_of = status.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(member_of) == group:
                seen = True
                if state not in {"Z", "X"}:
                    return False
    return seen
