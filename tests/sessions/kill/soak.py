"""`make soak`: ten thousand kills, or as many as are asked for or fit into some minutes, with a summary at the end."""

import argparse
import asyncio
import math
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.sessions.kill.killing import KINDS, Prepared, draw_any, draw_around, kill_at, list_points

from everturn.modelserver import ModelServer

OFTEN = 100


class Tally:
    def __init__(self, wanted: int, minutes: float) -> None:
        self.wanted = wanted
        self.most_s = minutes * 60 or math.inf
        self.done = self.killed = 0
        self.last: Counter[str] = Counter()
        self.cut: Counter[str] = Counter()
        self.faults: list[str] = []
        self.began = time.monotonic()

    @property
    def is_over(self) -> bool:
        return self.done >= self.wanted or time.monotonic() - self.began > self.most_s

    def say(self) -> None:
        passed = time.monotonic() - self.began
        print(f"{self.done:,} of {self.wanted:,} in {passed:,.0f} s, {len(self.faults)} faults", flush=True)  # noqa: T201


async def work(number: int, tally: Tally, root: Path) -> None:
    """Half of its kills are around a record, half at any call."""
    rng = random.Random()  # noqa: S311 (to look where nobody looked before)
    async with ModelServer() as server, Prepared() as prepared:
        kinds, points = await list_points(root / f"whole-{number}", server, prepared)
        anywhere = draw_any(points, rng)
        while not tally.is_over:
            tally.done += 1
            mine = tally.done
            point = next(draw_around(kinds, rng.choice(KINDS), rng) if mine % 2 else anywhere)
            folder = root / str(mine)
            verdict = await kill_at(folder, server, prepared, point)
            tally.killed += verdict.killed
            if verdict.killed:
                tally.last[verdict.last or "nothing"] += 1
                tally.cut[verdict.cut] += 1
            tally.faults += [f"{point}: {fault}" for fault in verdict.faults]
            if not verdict.faults:
                shutil.rmtree(folder)
            if mine % OFTEN == 0:
                tally.say()


async def soak(kills: int, workers: int, minutes: float) -> int:
    tally = Tally(kills, minutes)
    root = Path(tempfile.mkdtemp(prefix="everturn-soak-"))
    async with asyncio.TaskGroup() as group:
        for number in range(workers):
            group.create_task(work(number, tally, root))
    tally.say()
    print(f"{tally.killed:,} were killed; how often which record was the last, and was being written:")  # noqa: T201
    for kind in ("nothing", *KINDS):
        print(f"  {kind:12} {tally.last[kind]:6,} {tally.cut[kind]:6,}")  # noqa: T201
    for fault in tally.faults:
        print(fault)  # noqa: T201
    if not tally.faults:
        shutil.rmtree(root)
    return bool(tally.faults)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=0, help="0 = as long as it takes")
    arguments = parser.parse_args()
    sys.exit(asyncio.run(soak(arguments.kills, arguments.workers, arguments.minutes)))
