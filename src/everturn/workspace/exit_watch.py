"""Notices that a process of ours has ended, and reaps it: by a descriptor where the system has them, by a thread elsewhere."""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

Told = Callable[[int], object]
"""Called in the loop with the exit code, once."""


class Waited(Protocol):
    """A child of ours. `wait` reaps it and gives its exit code."""

    @property
    def pid(self) -> int: ...

    def wait(self) -> int: ...


class ExitWatch(Protocol):
    """Whatever happens, the child is reaped: closed early, a watch tells nobody and goes on waiting."""

    def close(self) -> None: ...


def watch_exit(process: Waited, loop: asyncio.AbstractEventLoop, told: Told) -> ExitWatch:
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        # macOS; an old kernel, a sandbox that forbids the call, or no descriptor left.
        return ThreadWatch(process, loop, told)
    return DescriptorWatch(process, loop, told, descriptor)


class DescriptorWatch:
    """Costs a tenth of a thread, and needs none of the loop's peers to let go of the interpreter."""

    def __init__(self, process: Waited, loop: asyncio.AbstractEventLoop, told: Told, descriptor: int) -> None:
        self._process = process
        self._loop = loop
        self._told = told
        self._descriptor = descriptor
        loop.add_reader(descriptor, self._on_exit)

    def close(self) -> None:
        if self._descriptor >= 0:
            self._let_go()
            start_waiting(self._process.wait)

    def _on_exit(self) -> None:
        self._let_go()
        self._told(self._process.wait())

    def _let_go(self) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1


class ThreadWatch:
    def __init__(self, process: Waited, loop: asyncio.AbstractEventLoop, told: Told) -> None:
        self._process = process
        self._loop = loop
        self._told: Told | None = told
        start_waiting(self._wait)

    def close(self) -> None:
        self._told = None

    def _wait(self) -> None:
        code = self._process.wait()
        # The loop may be closed by now: then nobody waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._tell, code)

    def _tell(self, code: int) -> None:
        if self._told is not None:
            self._told(code)


def start_waiting(wait: Callable[[], object]) -> None:
    """In a thread of its own: in the shared pool it would keep other tools from running."""
    threading.Thread(target=wait, name="everturn-exit", daemon=True).start()
