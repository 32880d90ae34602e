"""A session file may take long to read: whoever wants to is told how far it has come, and nobody waits in silence."""

import time
from collections.abc import Callable
from contextvars import ContextVar

_FIRST_S = 2.0
_NEXT_S = 5.0
_tell: ContextVar[Callable[[str], None] | None] = ContextVar("tell", default=None)


def tell_slow_reading(tell: Callable[[str], None]) -> None:
    """From now on, in this context and those that begin in it, `tell` hears a line now and then while a file is read."""
    _tell.set(tell)


class Patience:
    """Over one file, or several, however often they are gone through."""

    def __init__(self, size: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._tell = _tell.get()
        self._now = now
        self._due_s = now() + _FIRST_S

    def note(self, done: int) -> None:
        """Bytes of the file that were read; more than there are where it is read a second time."""
        if self._tell is None or (now := self._now()) < self._due_s:
            return
        self._due_s = now + _NEXT_S
        percent = min(done * 100 // max(self._size, 1), 99)
        self._tell(f"Reading {self._size / 1e6:,.0f} MB of sessions: {percent} %")
