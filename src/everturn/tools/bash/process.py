"""One command's processes: started in a session of their own, read without ever blocking, and ended all together."""

import asyncio
import fcntl
import os
import signal
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from everturn.core.errors import ToolFault
from everturn.tools.bash.ending import end_members
from everturn.tools.bash.exit_watch import watch_exit
from everturn.tools.bash.members import find_members, send

if TYPE_CHECKING:
    from everturn.ports.sandbox import Start as ConfinedStart

_PIECE = 65_536
_LARGE_PIECE = 1_048_576
_FLOOD = 1_048_576
"""Bytes after which it pays to have a larger pipe."""
_LINGER_S = 0.05
"""After the shell's end: what it wrote is in the pipe already; who still holds the pipe is a daemon."""
_LONGEST_LINGER_S = 0.3


class Child:
    """A process of ours; `wait` reaps it, once."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def wait(self) -> int:
        """The exit code, negative when a signal ended it."""
        try:
            return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        except ChildProcessError:
            # The program around us reaps all children itself: the code is lost.
            return 0


class Group:
    """The shell leads it, so that its process id is the id of the group.

    `ended` holds the shell's exit code, negative when a signal ended it. By then all that it printed was handed over.
    """

    def __init__(
        self,
        arguments: list[str],
        *,
        environment: dict[str, str],
        mark: str,
        reports: tuple[int, int],
        take: Callable[[bytes], None],
        note_end: Callable[[], None],
        confined: "ConfinedStart | None" = None,
    ) -> None:
        """`reports`: a descriptor, and the number that it has in the child. `take` is given the output.

        `note_end` is called as soon as it has `ended`.

        `confined`: how a sandbox wants it to start, in place of `arguments` and `environment`.

        Raises `ToolFault` when it cannot start.
        """
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self._mark = mark
        self._seal = confined.seal if confined is not None else 0
        self._wrapped = confined is not None and confined.wrapped
        self._take = take
        self._note_end = note_end
        self._code: int | None = None
        self._silent = False
        self._piece = _PIECE
        self._taken = 0
        self._output, writer = os.pipe()
        os.set_blocking(self._output, False)
        try:
            pid = (
                spawn(arguments, environment, writer, reports)
                if confined is None
                else spawn_confined(confined, writer, reports)
            )
            self._child = Child(pid)
        except (OSError, ValueError) as error:
            os.close(self._output)
            raise ToolFault(f"The command could not be started: {error}") from None
        finally:
            os.close(writer)
        self._loop.add_reader(self._output, self._on_output)
        self._watch = watch_exit(self._child, self._loop, self._on_exit)

    async def end(self, grace_s: float) -> None:
        """SIGTERM to all, time to obey, SIGKILL to those who are left. Afterwards it has ended."""
        try:
            await end_members(self.find_members, grace_s)
        finally:
            # Also where nobody waits for it any more.
            self.kill()
        await asyncio.wait({self.ended})

    def find_members(self, known: Collection[int] = ()) -> list[int]:
        members = find_members(lambda marks: self._mark in marks, self._child.pid, known, self._seal)
        # A wrapper takes all with it at once when it ends, and ends by itself when they have: it is killed last.
        return [member for member in members if member != self._child.pid] if self._wrapped else members

    def kill_group(self) -> None:
        """In one step: nobody in it can start another process meanwhile."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)

    def kill(self) -> None:
        """At once, also those who left the group."""
        members = self.find_members()
        self.kill_group()
        for member in members:
            send(member, signal.SIGKILL)

    def close(self) -> None:
        """Ends the reading too: whoever holds the other end writes to nobody."""
        self._loop.remove_reader(self._output)
        os.close(self._output)
        self._watch.close()

    def _on_output(self) -> None:
        try:
            data = os.read(self._output, self._piece)
        except BlockingIOError:
            return
        if data:
            self._taken += len(data)
            if self._taken >= _FLOOD and self._piece == _PIECE:
                self._widen()
            self._take(data)
        else:
            self._loop.remove_reader(self._output)
            self._silent = True
            self._settle()

    def _widen(self) -> None:
        self._piece = _LARGE_PIECE
        with suppress(AttributeError, OSError):
            fcntl.fcntl(self._output, fcntl.F_SETPIPE_SZ, _LARGE_PIECE)

    def _on_exit(self, code: int) -> None:
        self._code = code
        if self._silent:
            self._settle()
        else:
            self._linger(self._taken, self._loop.time() + _LONGEST_LINGER_S)

    def _linger(self, taken: int, until: float) -> None:
        """What was in the pipe comes at once; a daemon that goes on printing does not keep us."""

        def look() -> None:
            if self._silent or self._taken == taken or self._loop.time() >= until:
                self._settle()
            else:
                self._linger(self._taken, until)

        self._loop.call_later(_LINGER_S, look)

    def _settle(self) -> None:
        if self._code is not None and not self.ended.done():
            self.ended.set_result(self._code)
            self._note_end()


def spawn_confined(start: "ConfinedStart", writer: int, reports: tuple[int, int]) -> int:
    from everturn.tools.bash.entering import run_after

    # Before: who has given up rights cannot list them any more.
    closed = _list_inherited()

    def begin() -> int:
        return spawn(start.arguments, dict(start.environment), writer, reports, start.descriptors, closed=closed)

    if start.via is not None:
        return start.via(begin)
    return begin() if start.enter is None else run_after(start.enter, begin, start.stay)


def _list_inherited() -> list[int]:
    """Descriptors that whoever started us has left open, and that every child would have, too. Walls ask who opens, not who has."""
    try:
        numbers = [int(name) for name in os.listdir("/dev/fd")]  # noqa: PTH208 - names are all we need
    except OSError:
        return []
    found: list[int] = []
    for number in numbers:
        # One of them was the listing itself.
        with suppress(OSError):
            if number > 2 and os.get_inheritable(number):  # noqa: PLR2004 - in, out and errors are set anew
                found.append(number)
    return found


def spawn(
    arguments: list[str],
    environment: dict[str, str],
    writer: int,
    reports: tuple[int, int],
    more: tuple[tuple[int, int], ...] = (),
    *,
    closed: Collection[int] = (),
) -> int:
    """In a session of its own, without a terminal and without input. Half the price of `subprocess`."""
    return os.posix_spawn(
        arguments[0],
        arguments,
        environment,
        file_actions=[
            *((os.POSIX_SPAWN_CLOSE, number) for number in closed),
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, writer, 1),
            (os.POSIX_SPAWN_DUP2, writer, 2),
            (os.POSIX_SPAWN_DUP2, *reports),
            *((os.POSIX_SPAWN_DUP2, *pair) for pair in more),
        ],
        setsid=True,
        # The interpreter ignores these; a program expects them as usual.
        setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
    )
