"""One process group: started, its output read without ever blocking, and ended whole."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from everturn.core.errors import ToolFault
from everturn.tools.bash.exit_watch import watch_exit

_PIECE = 65_536
_LINGER_S = 0.05
"""After the shell's end: what it wrote is in the pipe already; who still holds the pipe is a daemon."""
_POLL_S = 0.02


class Group:
    """A child in its own session. Its process id is the id of its group.

    `ended` holds the shell's exit code, negative when a signal ended it. By then all that it printed was handed over.
    """

    def __init__(
        self,
        arguments: list[str],
        *,
        folder: str,
        environment: dict[str, str],
        keep: int,
        take: Callable[[bytes], None],
    ) -> None:
        """`keep`: a descriptor that the child gets too. `take` is given the output. `ToolFault` when it cannot start."""
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self._take = take
        self._code: int | None = None
        self._silent = False
        self._output, writer = os.pipe()
        os.set_blocking(self._output, False)
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
            os.close(self._output)
            raise ToolFault(f"The command could not be started: {error}") from None
        finally:
            os.close(writer)
        self._loop.add_reader(self._output, self._on_output)
        self._watch = watch_exit(self._process, self._loop, self._on_exit)

    async def end(self, grace_s: float) -> None:
        """SIGTERM to the group, time to obey, SIGKILL to what is left of it. Afterwards it has ended."""
        self._signal(signal.SIGTERM)
        deadline = self._loop.time() + grace_s
        while self._alive() and self._loop.time() < deadline:  # noqa: ASYNC110 - nobody announces a group's end
            await asyncio.sleep(_POLL_S)
        self.kill()
        await asyncio.wait({self.ended})

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def close(self) -> None:
        """Ends the reading too: whoever holds the other end writes to nobody."""
        self._loop.remove_reader(self._output)
        os.close(self._output)
        self._watch.close()

    def _on_output(self) -> None:
        try:
            data = os.read(self._output, _PIECE)
        except BlockingIOError:
            return
        if data:
            self._take(data)
        else:
            self._loop.remove_reader(self._output)
            self._silent = True
            self._settle()

    def _on_exit(self, code: int) -> None:
        self._code = code
        if self._silent:
            self._settle()
        else:
            self._loop.call_later(_LINGER_S, self._settle)

    def _settle(self) -> None:
        if self._code is not None and not self.ended.done():
            self.ended.set_result(self._code)

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
