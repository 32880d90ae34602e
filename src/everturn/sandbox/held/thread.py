"""A thread that has given up its rights for good: what it starts has them no more, and the program around it keeps them."""

import atexit
import ctypes
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from queue import SimpleQueue

import msgspec

from everturn.sandbox.calls import hide_from_peers
from everturn.sandbox.witness import find_witness, is_reached

Begin = Callable[[], int]
"""Starts a process, and tells its id."""


_PATIENCE_S = 1.0


class _Order(msgspec.Struct):
    begin: Begin
    settled: threading.Event
    pid: int = 0
    failed: BaseException | None = None


class ConfinedThread:
    """Enters once and serves many: to give up rights anew for each command would cost more than the command's start."""

    def __init__(self, enter: Callable[[], None], *, alone: bool = False) -> None:
        """`alone`: where it has entered, signals reach nobody but what it has started. Raises what `enter` raises."""
        self._enter, self._alone = enter, alone
        self._witness = find_witness()
        self.running = 0
        """Commands, by whoever starts them."""
        self._orders: SimpleQueue[_Order | None] = SimpleQueue()
        _load_unwinder()
        hide_from_peers()
        self._thread = threading.Thread(target=self._serve, name="everturn-held", daemon=True)
        self._thread.start()
        # The end of the program would cut it off in the middle.
        atexit.register(self.close)
        try:
            self.start(lambda: 0)
        except BaseException:
            self.close()
            raise

    def start(self, begin: Begin) -> int:
        """The process id. Raises what `begin` raises."""
        order = _Order(begin, threading.Event())
        self._orders.put(order)
        order.settled.wait()
        if order.failed is not None:
            raise order.failed
        return order.pid

    def end_all(self) -> None:
        """What it has started and what that has started, wherever it went: groups and parents can be left, these rules cannot."""
        if self._alone:
            self.start(self._kill_reachable)

    def _kill_reachable(self) -> int:
        # Nobody may ever do this who is not bound.
        if self._witness is None or not is_reached(self._witness):
            os.kill(-1, signal.SIGKILL)
        return 0

    def close(self) -> None:
        """What it has started goes on."""
        atexit.unregister(self.close)
        self._orders.put(None)
        # Garbage may be collected in any thread.
        if threading.current_thread() is not self._thread:
            self._thread.join(_PATIENCE_S)

    def _serve(self) -> None:
        entered = False
        while (order := self._orders.get()) is not None:
            try:
                if not entered:
                    self._enter()
                    entered = True
                order.pid = order.begin()
            except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
                order.failed = error
            order.settled.set()


@lru_cache(maxsize=1)
def _load_unwinder() -> None:
    """A thread that is ended from outside opens this library, which a bound one could not; so it is there already."""
    with suppress(OSError):
        ctypes.CDLL("libgcc_s.so.1")
