"""Clock and random numbers, so that tests can replace both."""

from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def elapsed(self) -> float:
        """Seconds on a clock that never jumps."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def jitter(self) -> float:
        """A fraction in [0, 1)."""
        ...


class Ids(Protocol):
    def new(self) -> str:
        """Unique for ever; letters, digits and dashes."""
        ...
