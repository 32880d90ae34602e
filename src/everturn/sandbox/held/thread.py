"""A thread that has given up its rights for good: what it starts has them no more, and the program around it keeps them."""

import atexit
import ctypes
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from queue import SimpleQueue

import msgspec

from everturn.sandbox.calls import hide_from_peers
from everturn.sandbox.witness import find_witness, is_reached, kill_reachable

Begin = Callable[[], int]
"""Starts a process, and tells its id."""


_MAX_WAIT_S = 1.0


class _Order(msgspec.Struct):
    begin: Begin
    settled: threading.Event
    pid: int = 0
    failed: BaseException | None = None


class ConfinedThread:
    """Enters once and serves many: to give up rights anew for each command would cost more than the command's start."""

    def __init__(self, enter: Callable[[], None], *, alone: bool = False) -> None:
        """`alone`: where it has entered, signals reach nobody but what it has started. Raises `OSError`, and what `enter` raises."""
        self._enter, self._alone = enter, alone
        self.running = 0
        """Commands, by whoever starts them."""
        self._orders: SimpleQueue[_Order | None] = SimpleQueue()
        # Garbage may be collected, and this with it, while somebody has the lock.
        self._closing = threading.RLock()
        self._is_closed = False
        self._process = os.getpid()
        _load_unwinder()
        hide_from_peers()
        self._thread = threading.Thread(target=self._serve, name="everturn-held", daemon=True)
        self._thread.start()
        # The end of the program would cut it off in the middle.
        atexit.register(self.close)
        try:
            self.start(_plan_attempt(find_witness()) if alone else lambda: 0)
        except BaseException:
            self.close()
            raise

    @property
    def is_open(self) -> bool:
        """It can start something. In a copy of the program (`fork`) it cannot: threads are not copied."""
        return not self._is_closed and self._process == os.getpid() and self._thread.is_alive()

    def start(self, begin: Begin) -> int:
        """The process id. Raises what `begin` raises, and `OSError` where the thread has ended."""
        order = _Order(begin, threading.Event())
        # A copy of the program may have the lock as somebody held it.
        if self._process != os.getpid():
            raise _ended()
        with self._closing:
            # What is put behind the order to end is never looked at.
            if not self.is_open:
                raise _ended()
            self._orders.put(order)
        while not order.settled.wait(_MAX_WAIT_S):
            if not self._thread.is_alive():
                raise _ended()
        if order.failed is not None:
            raise order.failed
        return order.pid

    def end_all(self) -> None:
        """What it has started and what that has started, wherever it went: groups and parents can be left, these rules cannot.

        After `close` it does nothing.
        """
        if not self._alone or not self.is_open:
            return
        with suppress(OSError):
            witness = find_witness()
            self.start(lambda: kill_reachable(witness))

    def close(self) -> None:
        """What it has started goes on."""
        atexit.unregister(self.close)
        if self._process != os.getpid():
            return
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
            self._orders.put(None)
        # Garbage may be collected in any thread.
        if threading.current_thread() is not self._thread:
            self._thread.join(_MAX_WAIT_S)

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


def _plan_attempt(witness: int) -> Begin:
    def attempt() -> int:
        if is_reached(witness):
            raise OSError("its signals would reach other processes")
        return 0

    return attempt


def _ended() -> OSError:
    return OSError("the thread that starts such commands has ended")


@lru_cache(maxsize=1)
def _load_unwinder() -> None:
    """A thread that is ended from outside opens this library, which a bound one could not; so it is there already."""
    with suppress(OSError):
        ctypes.CDLL("libgcc_s.so.1")
