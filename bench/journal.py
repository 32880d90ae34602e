"""Sessions: what journalling adds to a turn, what 10,000 turns weigh, how they are taken up again, and what the last costs."""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from bench.aims import Found, Scale, note
from bench.alone import Figures
from bench.figures import KILO, LOOPS, MEGA, median
from bench.stage import Needs, Stage
from bench.written import SAID, SHOWN, raw_text, write_session
from everturn import Engine, Options, tool
from everturn.ports.model import Request
from everturn.sessions.disk import LocalDisk
from everturn.sessions.places import session_file
from everturn.testing import Answer, FaultyDisk, ScriptedModel, calls, text

TURNS, SHORT, FLUSHES = 10_000, 200, 20
PATIENCE_S = 900.0
WRITERS = {
    "flushes": calls(("change", {"number": 1})),
    "flushes_three": calls(*(("change", {"number": number}) for number in (1, 2, 3))),
}


def measure(scale: Scale) -> Found:
    found: Found = {}
    with tempfile.TemporaryDirectory(prefix="everturn-bench-") as name, Stage() as stage:
        home = Path(name).resolve()
        for number in range(scale.rounds):
            short = home / f"{number}.jsonl"
            note(found, {"append": write_session(short, SHORT), "flush": time_flush(short)})
        for key, writers in WRITERS.items():
            note(found, {key: asyncio.run(count_flushes(home, writers))})
        turns = scale.of(TURNS)
        path = session_file(home, "long", home)
        write_session(path, turns)
        note(found, {"weight": path.stat().st_size / raw_text(turns)})
        for _ in range(scale.dear):
            note(found, resume(stage, home))
        note(found, run_marathon(stage, turns))
    return found


def time_flush(path: Path) -> float:
    """Milliseconds of one flush after a turn's text, as the median."""
    disk, taken = LocalDisk(), []
    handle = disk.open(path, create=False)
    for _ in range(FLUSHES):
        disk.write(handle, b" " * (SAID + SHOWN) + b"\n")
        began = time.perf_counter()
        disk.sync(handle)
        taken.append(time.perf_counter() - began)
    disk.close(handle)
    return median(taken) * KILO


@tool
async def change(number: int) -> str:
    """Changes something."""
    return str(number)


async def count_flushes(home: Path, writers: Answer) -> int:
    """The most that a turn waits for: the first of a session, which also forces the file's name to the disk, counts too."""
    disk, waits = FaultyDisk(LocalDisk()), [0]

    def note_waits() -> None:
        waits.append(disk.performed.count("sync") + disk.performed.count("sync_folder"))

    def noting(answer: Answer) -> Callable[[Request], Answer]:
        def scene(_: Request) -> Answer:
            note_waits()
            return answer

        return scene

    options = Options(builtin_tools=False, tools=[change], allowed_tools=["change"], cwd=home, home=home, max_turns=0)
    model = ScriptedModel(noting(writers), noting(writers), noting(text("Done.")))
    async with Engine(options, env={}, model=model, disk=disk) as engine:
        async for _ in engine.submit("Go."):
            pass
        note_waits()
    return max(after - before for before, after in pairwise(waits))


def resume(stage: Stage, home: Path) -> Figures:
    """The program, from its start to its first request; each time it adds a query to the session."""
    command = [sys.executable, "-m", "everturn", "--resume", "long", "-p", "Go on."]
    run = stage.run(command, "answer", needs=Needs(environment={"EVERTURN_HOME": str(home)}))
    return {"resume": run.first_request_s, "resume_memory": run.peak_kb / MEGA}


def run_marathon(stage: Stage, turns: int) -> Figures:
    command = [sys.executable, str(LOOPS / "marathon.py"), str(turns)]
    early, late = json.loads(stage.run(command, "marathon", patience_s=PATIENCE_S).output)
    return {"growth": late / early, "last_turn": late * KILO}
