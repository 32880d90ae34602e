"""Time of the processor, as the machine would have taken it on which the figures of the tests were found."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

YARD_S = 0.000_9
"""What `walk_a_yard` takes there."""
ROUNDS = 5


class Spent:
    """Known when the block that it was measured over has ended."""

    seconds: float


def walk_a_yard() -> int:
    """Some of everything that Python does all day."""
    seen: dict[str, int] = {}
    for number in range(5_000):
        word = str(number % 97)
        seen[word] = seen.get(word, 0) + len(word)
    return len(sorted(seen))


def slowness() -> float:
    """How many times slower this machine is, at this moment; never less than once."""
    best = min(_time_a_yard() for _ in range(ROUNDS))
    return max(1.0, best / YARD_S)


@contextmanager
def measured() -> Iterator[Spent]:
    """The machine is measured before and after: others may come and go."""
    spent, before, began = Spent(), slowness(), time.process_time()
    yield spent
    took = time.process_time() - began
    spent.seconds = took / max(before, slowness())


def _time_a_yard() -> float:
    began = time.process_time()
    walk_a_yard()
    return time.process_time() - began
