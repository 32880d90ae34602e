"""One command's processes: started in a session of their own, read without ever blocking, their exit noticed, and ended all together."""

import asyncio
import fcntl
import os
import signal
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from everturn.tools.bash.shell_report import DESCRIPTOR
from everturn.workspace.descendants import end_members, find_members, send
from everturn.workspace.exit_watch import watch_exit

if TYPE_CHECKING:
    from everturn.ports.sandbox import Start as ConfinedStart

_PIECE = 65_536
_LARGE_PIECE = 1_048_576
_FLOOD = 1_048_576
"""Bytes after which it pays to have a larger pipe."""
_LINGER_S = 0.05
"""After the shell's end: what it wrote is in the pipe already; who still holds the pipe is a daemon."""
_MAX_LINGER_S = 0.3


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


class Begun(NamedTuple):
    """A shell that runs."""

    pid: int
    output: int
    """The descriptor that what it prints is read from, without ever blocking."""
    report: int
    """The same of what it tells at its end."""


class ProcessGroup:
    """The shell leads it, so that its process id is the id of the group.

    `ended` holds the shell's exit code, negative when a signal ended it. By then all that it printed was handed over.
    """

    def __init__(
        self,
        begun: Begun,
        *,
        mark: str,
        take: Callable[[bytes], None],
        note_end: Callable[[], None],
        confined: "ConfinedStart | None" = None,
    ) -> None:
        """`take` is given the output. `note_end` is called as soon as it has `ended`. `confined`: how a sandbox has started it."""
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
        self._output = begun.output
        self._child = Child(begun.pid)
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
            self._linger(self._taken, self._loop.time() + _MAX_LINGER_S)

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


def begin_process(
    arguments: list[str],
    environment: dict[str, str],
    confined: "ConfinedStart | None" = None,
    descriptors: tuple[tuple[int, int], ...] = (),
) -> Begun:
    """`confined`: how a sandbox wants it to start, in place of `arguments` and `environment`. `descriptors`: see `ConfinedStart`.

    Raises `OSError` and `ValueError` when it cannot start.
    """
    opened: list[int] = []
    # Over a pipe of its own it tells, so that no output and no exit code is touched.
    for _ in ("output", "report"):
        opened += os.pipe()
    output, writer, report, told = opened
    try:
        os.set_blocking(output, False)
        os.set_blocking(report, False)
        if confined is None:
            pid = spawn(arguments, environment, writer, (told, DESCRIPTOR), descriptors)
        else:
            pid = spawn_confined(confined, writer, (told, DESCRIPTOR))
    except BaseException:
        os.close(output)
        os.close(report)
        raise
    finally:
        os.close(writer)
        os.close(told)
    return Begun(pid, output, report)


def spawn_confined(start: "ConfinedStart", writer: int, reports: tuple[int, int]) -> int:
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


def run_after(enter: Callable[[], None], begin: Callable[[], int], stay: Callable[[], object] | None = None) -> int:
    """`begin` is called where `enter` was. Raises what they raise. `stay` is not waited for."""
    began: list[int] = []
    failed: list[BaseException] = []
    settled = threading.Event()

    def run() -> None:
        try:
            enter()
            began.append(begin())
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
            failed.append(error)
        settled.set()
        if began and stay is not None:
            stay()

    threading.Thread(target=run, name="everturn-confined", daemon=True).start()
    settled.wait()
    if failed:
        raise failed[0]
    return began[0]
