"""Time and ids that a test owns: a clock that jumps over every sleep, and ids that count."""

import asyncio


class FakeClock:
    """Sleeps take no time: they move the clock. `slept` lists them."""

    def __init__(self, *, now: float = 1_000_000.0, jitter: float = 0.0) -> None:
        self.slept: list[float] = []
        self._start = now
        self._passed = 0.0
        self._jitter = jitter

    def now(self) -> float:
        return self._start + self._passed

    def elapsed(self) -> float:
        return self._passed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)
        # Others get their turn, as they would in a real sleep.
        await asyncio.sleep(0)

    def jitter(self) -> float:
        return self._jitter

    def advance(self, seconds: float) -> None:
        self._passed += max(0.0, seconds)


class CountingIds:
    """Gives `id-1`, then `id-2`, and so on."""

    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"{self._prefix}-{self._count}"
