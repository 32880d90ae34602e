"""What is measured: plays that a loop runs through, and the figures that come of them."""

import os
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bench.stage import ROOT, Stage, StageError

LOOPS = ROOT / "bench" / "loops"
PROMPT = "Is all well?"
SESSIONS = 200
EARLY = slice(0, 9)
"""The ways from answer n to request n + 1 that lead to the turns 2 to 10."""
LATE = slice(389, 399)
"""Those that lead to the turns 391 to 400."""
KILO, MEGA = 1e3, 1024.0

Judged = Literal["ratio", "value", "growth"]
"""Against the SDK loop, by itself, or against the same loop's `of`."""


class Figure(NamedTuple):
    key: str
    title: str
    unit: str
    reach: float
    judged: Judged = "ratio"
    of: str = ""


class Loop(NamedTuple):
    """`one` takes a prompt and works through one session, `many` takes a number of them."""

    name: str
    one: list[str]
    many: list[str]


FIGURES = (
    Figure("start_http", "process start to first request, HTTP", "ms", 0.12),
    Figure("start_https", "process start to first request, HTTPS", "ms", 0.15),
    Figure("turn", "harness time per turn, shell tool, turns 2 to 10", "ms", 0.8),
    Figure("turn_400", "the same at turn 400 with 2 KB results", "ms", 0.3),
    Figure("first", "the same at the first call", "ms", 1.0),
    Figure("memory", "memory after 400 turns", "MB", 0.6),
    Figure("deltas", "CPU for 20,000 text deltas, text mode to a pipe", "ms", 0.2),
    Figure("many", f"{SESSIONS} sessions of 10 turns, in-process tool, wall", "ms", 0.2),
    Figure("version", "`--version`, user and system time", "ms", 40, "value"),
    Figure("turn_400", "turn 400 against own turns 2 to 10", "ms", 2, "growth", "turn_10"),
)


def own_program() -> list[str]:
    """The console program; where there is none, the library."""
    if find_spec("everturn.__main__") is None:
        return [sys.executable, str(LOOPS / "library.py")]
    return [sys.executable, "-m", "everturn", "--permission-mode", "bypassPermissions", "-p"]


def yardsticks() -> tuple[Loop, ...]:
    """The SDK loop first: the others are measured by it."""

    def program(name: str) -> list[str]:
        return [sys.executable, str(LOOPS / f"{name}.py")]

    return (
        Loop("sdk", program("floor_sdk"), program("many_sdk")),
        Loop("raw", program("floor_raw"), program("many_raw")),
        Loop("everturn", own_program(), program("many_library")),
    )


def play_shell(stage: Stage, loop: Loop) -> dict[str, float]:
    run = stage.run([*loop.one, PROMPT], "shell")
    return {
        "start_http": run.first_request_s * KILO,
        "turn": median(run.turns_s[EARLY]) * KILO,
        "first": run.turns_s[0] * KILO,
    }


def play_secure(stage: Stage, loop: Loop) -> dict[str, float]:
    return {"start_https": stage.run([*loop.one, PROMPT], "answer", secure=True).first_request_s * KILO}


def play_long(stage: Stage, loop: Loop) -> dict[str, float]:
    run = stage.run([*loop.one, PROMPT], "long")
    if len(run.turns_s) < LATE.stop:
        raise StageError(f"{loop.name} stopped after {len(run.turns_s)} turns: {run.output[:200]}")
    return {
        "turn_10": median(run.turns_s[EARLY]) * KILO,
        "turn_400": median(run.turns_s[LATE]) * KILO,
        "memory": run.peak_kb / MEGA,
    }


def play_deltas(stage: Stage, loop: Loop) -> dict[str, float]:
    """What 20,000 deltas cost beyond a short answer: start-up is another figure."""
    short = stage.run([*loop.one, PROMPT], "answer").cpu_s
    return {"deltas": (stage.run([*loop.one, PROMPT], "deltas").cpu_s - short) * KILO}


def play_many(stage: Stage, loop: Loop) -> dict[str, float]:
    return {"many": float(stage.run([*loop.many, str(SESSIONS)], "double").output) * KILO}


def play_version(stage: Stage, loop: Loop) -> dict[str, float]:
    """Of the program only; beside it an interpreter that does nothing."""
    if loop.name == "everturn" and "-m" in loop.one:
        return {"version": stage.run([sys.executable, "-m", "everturn", "--version"], "answer").cpu_s * KILO}
    if loop.name == "raw":
        return {"python": stage.run([sys.executable, "-c", "pass"], "answer").cpu_s * KILO}
    return {}


def play_tool(_: Stage, loop: Loop) -> dict[str, float]:
    """The shell's own time, which is in every turn: started in the leanest way, and awaited."""
    if loop.name != "raw":
        return {}
    shell = next(str(Path(folder) / "bash") for folder in os.get_exec_path() if (Path(folder) / "bash").exists())
    times = []
    for number in range(9):
        started = time.perf_counter()
        hushed = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        child = os.posix_spawn(shell, ["bash", "-c", f"echo {number}"], os.environ, file_actions=hushed)
        os.waitpid(child, 0)
        times.append(time.perf_counter() - started)
    return {"tool": median(times) * KILO}


Play = Callable[[Stage, Loop], dict[str, float]]
PLAYS: dict[str, Play] = {
    "shell": play_shell,
    "secure": play_secure,
    "version": play_version,
    "tool": play_tool,
    "deltas": play_deltas,
    "many": play_many,
    "long": play_long,
}


def in_turn(loops: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    """All of them, beginning with another one in each round."""
    first = number % len(loops)
    return (*loops[first:], *loops[:first])


def median(values: list[float]) -> float:
    return quartiles(values)[1]


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Lower, middle, upper; between two values the way is divided."""
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    return at(0.25), at(0.5), at(0.75)
