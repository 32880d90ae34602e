"""Runs a search program, bounded in time and in bytes; an abort ends it."""

import asyncio
import os
import resource
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortSignal
from everturn.ports.sandbox import Start
from everturn.tools.grep.holding import Hold

MAX_WAIT_S = 30.0
_READ = 1 << 20
_HANDED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR")
"""Of our environment: a search needs no keys."""
_PROBLEM = 10_000
_GLANCE_S = 0.3
"""Between two looks whether a program still works."""
_BEFORE_CPU, _CPU = b")", slice(11, 13)
"""Of a line in `/proc`: the name of the program ends in the first, and of the fields behind it these are its time."""
_MAX_MEMORY = 1024**3
"""Bytes: an ignore file may be a link to what never ends."""


Obstacle = Callable[[Callable[[], bool]], bool]
"""Looks for what a program would wait for without end; it stops when what it is given says that nobody wants to know any more."""


class UnusableError(ToolFault):
    """The program does not work as it is started here: a wrapper that wants more than a search may, or a pipe in its way."""


class ProgramOutput(msgspec.Struct, frozen=True, kw_only=True):
    data: bytes
    complete: bool
    """False: it was ended at a limit."""
    code: int
    problem: str
    """What it said on standard error."""


async def run_program(
    arguments: list[str],
    folder: str,
    abort: AbortSignal,
    *,
    most_bytes: int,
    max_wait_s: float = MAX_WAIT_S,
    given: bytes = b"",
    hold: Hold | None = None,
    needed: tuple[str, ...] = (),
    obstacle: Obstacle | None = None,
) -> ProgramOutput:
    """At a limit, what came so far is given back. `needed`: what the program reads besides what it searches.

    `obstacle` is asked when the program stands still. Raises `ToolFault` on abort, and `UnusableError` where the program cannot be
    started, or waits for something that will never come.
    """
    if abort.raised:
        raise ToolFault("The search was interrupted.")
    start = Start(
        arguments=arguments, environment={name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    )
    cell = None if hold is None else await hold(start, folder, arguments[0], needed)
    try:
        process = _start(cell.start if cell else start, folder, given=bool(given))
        if cell is not None:
            cell.note_started()
        return await _finish(
            process, abort, most_bytes=most_bytes, max_wait_s=max_wait_s, given=given, obstacle=obstacle
        )
    finally:
        if cell is not None:
            cell.close()


async def _finish(
    process: "subprocess.Popen[bytes]",
    abort: AbortSignal,
    *,
    most_bytes: int,
    max_wait_s: float,
    given: bytes,
    obstacle: Obstacle | None,
) -> ProgramOutput:
    over = threading.Event()
    reading = asyncio.ensure_future(asyncio.to_thread(_read, process, most_bytes, given))
    watching = asyncio.ensure_future(abort.wait())
    stuck = asyncio.ensure_future(_wait_until_stuck(process.pid, obstacle, over.is_set))
    try:
        await asyncio.wait({reading, watching, stuck}, timeout=max_wait_s, return_when=asyncio.FIRST_COMPLETED)
        ended, is_stuck = reading.done(), stuck.done()
    finally:
        over.set()
        watching.cancel()
        stuck.cancel()
        # The reading thread sees the end of the output, and ends too.
        process.kill()
    if abort.raised:
        raise ToolFault("The search was interrupted.")
    output = await reading
    if is_stuck and not ended:
        raise UnusableError("The search failed: a file in the folder, which is none, keeps the search program waiting.")
    return output if ended else msgspec.structs.replace(output, complete=False)


async def _wait_until_stuck(pid: int, obstacle: Obstacle | None, is_over: Callable[[], bool]) -> None:
    """Until the program stands still before an obstacle. It is looked for once, since that may take as long as the search."""
    spent = None
    while obstacle is not None:
        await asyncio.sleep(_GLANCE_S)
        now = await asyncio.to_thread(_find_time_spent, pid)
        if now == spent or now is None:
            break
        spent = now
    if obstacle is None or not await asyncio.to_thread(obstacle, is_over):
        await asyncio.Future()


def _find_time_spent(pid: int) -> list[bytes] | None:
    """None where the system does not tell. Of a program that another one starts for it nothing is told: it seems to stand still."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(_BEFORE_CPU)[2].split()[_CPU]
    except OSError:
        return None


def _start(start: Start, folder: str, *, given: bool) -> "subprocess.Popen[bytes]":
    started: list[subprocess.Popen[bytes]] = []

    def begin() -> int:
        process = subprocess.Popen(
            start.arguments,
            cwd=folder,
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=start.environment,
            pass_fds=[ours for ours, _ in start.descriptors],
        )
        started.append(process)
        return process.pid

    try:
        begin() if start.via is None else start.via(begin)
    except OSError as error:
        raise UnusableError(f"The search could not be started: {error.strerror or error}.") from None
    process = started[0]
    if hasattr(resource, "prlimit"):
        # It may have ended by now.
        with suppress(OSError):
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MAX_MEMORY, _MAX_MEMORY))
    return process


def _read(process: "subprocess.Popen[bytes]", most_bytes: int, given: bytes) -> ProgramOutput:
    with process:
        if process.stdin is not None:
            # It may have been ended by now.
            with suppress(BrokenPipeError):
                process.stdin.write(given)
            with suppress(BrokenPipeError):
                process.stdin.close()
        data = bytearray()
        stdout = process.stdout
        while stdout is not None and len(data) < most_bytes and (piece := stdout.read1(_READ)):  # type: ignore[attr-defined]
            data += piece
        complete = len(data) < most_bytes
        if not complete:
            process.kill()
        problem = process.stderr.read(_PROBLEM) if process.stderr else b""
    text = problem.decode("utf-8", "replace").strip()
    return ProgramOutput(data=bytes(data), complete=complete, code=process.returncode, problem=text)
