"""What there is to do in a day: prompts, turns and calls, drawn once from fixed seeds, so that everybody does the same work.

Sizes are lognormal, told as median, sigma (of the logarithm) and the most that the tool itself gives:

| | share of calls | characters |
|---|---|---|
| Read | 36 % | 6,000, 1.0, at most 80,000 (a file is read in pages) |
| Bash | 26 % | 1,500, 1.5, at most 30,000; one in four runs a test, which fails two times in three before it passes |
| Grep | 18 % | 1,800, 1.1, at most 20,000; every other one finds the file that is read next |
| Edit | 20 % | input 900, 0.9, at most 12,000; result about 200 |

A turn says 160 characters (0.9, at most 4,000) and makes 1 call (78 %), 2 (14 %), 3 (6 %) or 5 (2 %). A query takes 20 turns
on average (geometric); its prompt has 300 characters (1.0, at most 6,000) and it ends with an answer of 600 (0.8, at most
6,000). A turn takes 8 s (0.5); between two queries the person takes 90 s (1.2, at most an hour), so that one pause in six
outlives a cache of five minutes.

One turn in two hundred begins a survey: 5 to 9 large files are read in one response, 16,000 characters each (0.4, at most
40,000); after each such round another follows half of the time. That is some ten of them a day.

One turn in seven leans on an earlier result, which lies 1 + Exp(15) results back. If it is no longer in sight, whole, it is
read again first, in a turn of its own that counts extra: forgetting has its price.
"""

from collections.abc import Iterator
from math import exp
from random import Random
from typing import NamedTuple

TURNS = 1_000
QUERY_TURNS = 20
LEANS, LEANS_BACK = 1 / 7, 15
CALLS = {1: 0.78, 2: 0.14, 3: 0.06, 5: 0.02}
TOOLS = {"Read": 0.36, "Bash": 0.26, "Grep": 0.18, "Edit": 0.20}
"""Each with its share."""
TESTS = 1 / 4
SURVEYS, SURVEYS_ON = 1 / 200, 1 / 2
SURVEYED = (5, 9)
"""Files that are read in one response, at least and at most."""
FOUND = 1 / 2


class Size(NamedTuple):
    median: float
    sigma: float
    most: float

    def draw(self, rng: Random) -> int:
        return int(min(self.most, self.median * exp(rng.gauss(0, self.sigma))))


RESULTS = {
    "Read": Size(6_000, 1.0, 80_000),
    "Bash": Size(1_500, 1.5, 30_000),
    "Grep": Size(1_800, 1.1, 20_000),
    "Edit": Size(200, 0.2, 400),
}
LARGE = Size(16_000, 0.4, 40_000)
EDITED = Size(900, 0.9, 12_000)
SAID, PROMPT, ANSWER = Size(160, 0.9, 4_000), Size(300, 1.0, 6_000), Size(600, 0.8, 6_000)
TURN_S, PAUSE_S = Size(8, 0.5, 120), Size(90, 1.2, 3_600)


class Call(NamedTuple):
    id: int
    tool: str
    target: str
    """File, command or pattern: no two calls have the same, but those that are made again."""
    size: int
    """Characters of the result."""
    edited: int = 0
    """Characters of an edit."""
    fails: bool = False
    names: str = ""
    """A file that the result must name."""


class Turn(NamedTuple):
    said: int
    calls: tuple[Call, ...]
    """None in the last turn of a query."""
    seconds: float
    leans: int | None = None
    """Id of a call whose result must be in sight."""


class Query(NamedTuple):
    prompt: int
    pause_s: float
    """Before it."""
    turns: tuple[Turn, ...]


def draw_day(seed: int, turns: int = TURNS) -> tuple[Query, ...]:
    rng = Random(seed)  # noqa: S311 (a simulation)
    return tuple(_draw_queries(rng, turns))


def _draw_queries(rng: Random, left: int) -> Iterator[Query]:
    hands = _Hands(rng)
    while left > 0:
        count = 1
        while count < left and rng.random() > 1 / QUERY_TURNS:
            count += 1
        left -= count
        turns = [hands.draw_turn() for _ in range(count - 1)]
        last = Turn(ANSWER.draw(rng), (), TURN_S.draw(rng))
        yield Query(PROMPT.draw(rng), PAUSE_S.draw(rng), (*turns, last))


class _Hands:
    """Numbers the calls, and remembers what a later one refers to."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._made = 0
        self._found = ""
        self._failing: list[str] = []
        self._surveys = False

    def draw_turn(self) -> Turn:
        rng = self._rng
        leans = None
        if rng.random() < LEANS and self._made:
            leans = self._made - 1 - int(rng.expovariate(1 / LEANS_BACK))
        calls = self._draw_survey() if self._is_surveying() else self._draw_calls()
        return Turn(SAID.draw(rng), calls, TURN_S.draw(rng), leans if leans is not None and leans >= 0 else None)

    def _is_surveying(self) -> bool:
        self._surveys = self._rng.random() < (SURVEYS_ON if self._surveys else SURVEYS)
        return self._surveys

    def _draw_survey(self) -> tuple[Call, ...]:
        first, self._made = self._made, self._made + self._rng.randint(*SURVEYED)
        return tuple(
            Call(id_, "Read", f"src/module_{id_}.py", LARGE.draw(self._rng)) for id_ in range(first, self._made)
        )

    def _draw_calls(self) -> tuple[Call, ...]:
        count = self._rng.choices(list(CALLS), list(CALLS.values()))[0]
        return tuple(self._draw_call() for _ in range(count))

    def _draw_call(self) -> Call:
        rng, id_ = self._rng, self._made
        self._made += 1
        tool = rng.choices(list(TOOLS), list(TOOLS.values()))[0]
        size = RESULTS[tool].draw(rng)
        match tool:
            case "Read":
                target, self._found = self._found or f"src/module_{id_}.py", ""
                return Call(id_, tool, target, size)
            case "Grep":
                self._found = f"src/module_{id_}.py" if rng.random() < FOUND else ""
                return Call(id_, tool, f"def name_{id_}", size, names=self._found)
            case "Edit":
                return Call(id_, tool, f"src/changed_{id_}.py", size, edited=EDITED.draw(rng))
            case _ if rng.random() < TESTS:
                return self._draw_test(id_, size)
            case _:
                return Call(id_, tool, f"git log --stat -n {id_}", size)

    def _draw_test(self, id_: int, size: int) -> Call:
        """A command that failed is run again until it passes."""
        rng = self._rng
        if not self._failing:
            self._failing.append(f"pytest -q tests/test_{id_}.py")
        fails = rng.random() < 2 / 3
        command = self._failing[-1] if fails else self._failing.pop()
        return Call(id_, "Bash", command, size, fails=fails)
