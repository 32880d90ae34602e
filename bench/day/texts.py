"""The words of a simulated day: text of any length that reads like work, and marks by which a result is known again."""

import re
from functools import lru_cache
from random import Random

from bench.day.work import Call

SHADES = 4_096
_WORDS = (
    "return the value if not found else None for each item in self._items: def load(path, *, limit=10) -> list[str]: "
    "raise ValueError(f'no such {name}') import re class Parser assert result == expected # see below FAILED passed in 0.31s "
    "src/app/models.py tests/test_io.py 'key': [1, 2, 3], with open(path) as file: lines = file.read().split() while True:"
)
_END = re.compile(rb"<end (\d+)>")


@lru_cache(maxsize=1)
def _ground() -> str:
    rng = Random(7)  # noqa: S311 (a simulation)
    words = _WORDS.split()
    lines = (" ".join(rng.choices(words, k=rng.randint(3, 14))) for _ in range(12_000))
    return "\n".join(lines)


def write(length: int, shade: int) -> str:
    """Another text for another shade."""
    start = shade * 97 % SHADES
    return _ground()[start : start + max(1, length)]


def write_result(call: Call) -> str:
    """Ends with its mark."""
    body = write(call.size, call.id)
    named = f"{call.names}:12: found\n" if call.names else ""
    return f"{named}{body}\n<end {call.id}>"


def find_results(raw: bytes, sizes: dict[int, int]) -> frozenset[int]:
    """Ids of the results that stand whole in a block: one that was cut in its middle is shorter than its text."""
    return frozenset(id_ for found in _END.findall(raw) if len(raw) >= sizes.get(id_ := int(found), 0))
