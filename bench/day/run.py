"""Works through the same days three times and says what each way cost."""

import asyncio
import tempfile
from pathlib import Path

from bench.aims import Found, Scale, note
from bench.alone import Figures
from bench.day.desk import Desk
from bench.day.ours import run_ours
from bench.day.plain import WINDOW, run_plain
from bench.day.preparing import LONG, compare
from bench.day.work import TURNS, draw_day

SEEDS = (1, 2, 3)
PREPARED = 5
"""Times that preparing is compared."""


def measure(scale: Scale) -> Found:
    found: Found = {}
    for _ in range(min(scale.rounds, PREPARED)):
        note(found, {"prepare": compare(long=scale.of(LONG))})
    for seed in SEEDS[: max(1, min(len(SEEDS), scale.dear))]:
        note(found, run_day(seed, scale.of(TURNS)))
    return found


def run_day(seed: int, turns: int) -> Figures:
    day = draw_day(seed, turns)
    endless, simple, ours = Desk(day), Desk(day), Desk(day)
    run_plain(endless, window=None)
    run_plain(simple, window=WINDOW)
    with tempfile.TemporaryDirectory(prefix="everturn-bench-") as name:
        asyncio.run(run_ours(ours, Path(name).resolve()))
    figures: Figures = {}
    for key, desk in (("endless", endless), ("simple", simple), ("ours", ours)):
        tally = desk.tally
        figures |= {
            f"{key}_usd": tally.usd,
            f"{key}_share": 100 * tally.share,
            f"{key}_compactions": float(tally.compactions),
            f"{key}_collapses": float(tally.collapses),
            f"{key}_again": float(tally.again),
        }
    return figures | {"missed": 100 * (1 - ours.tally.share), "cost": ours.tally.usd / simple.tally.usd}
