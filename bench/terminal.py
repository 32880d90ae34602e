"""What the interactive program costs at a real pseudo-terminal: until it can be used, for a key, for an answer, for a long session."""

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.frontends.terminal.stage import Stage

from bench.aims import Found, Scale, note
from bench.alone import Figures
from bench.figures import KILO
from bench.stage import PATIENCE_S, StageError, run_bounded
from bench.stage import Stage as Servers

DELTAS_A_SECOND = 100
KEYS, TURNS, EARLY, PIECES = 400, 1_000, 100, 20_000
ALPHABET = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
"""Letters that neither the model nor the tool writes: each is seen in what the program sends."""
UNASKED = ("--permission-mode", "bypassPermissions")
FLOOD = """\
import time
began = time.monotonic()
for number in range(10_000_000):
    print("output line", number)
    if number % 100 == 0:
        time.sleep(max(0, number / 10_000 - (time.monotonic() - began)))
"""
"""10,000 lines a second."""
ECHO = """\
import os, tty
tty.setraw(0)
os.write(1, b"ready")
while True:
    os.write(1, os.read(0, 100))
"""
"""What the machine itself needs for a key at that moment."""


def measure(scale: Scale) -> Found:
    found: Found = {}
    for _ in range(scale.rounds):
        note(found, asyncio.run(measure_start()))
    found |= asyncio.run(measure_keys(scale.of(KEYS)))
    for _ in range(scale.dear):
        note(found, asyncio.run(measure_answer(scale.of(PIECES))))
    note(found, asyncio.run(measure_session(scale.size < 1)))
    return found


async def measure_start() -> Figures:
    """Processor time of the program when its first bytes come, and when the prompt is edited as the keys after them say."""
    async with Stage() as stage:
        await stage.see(lambda stage: bool(stage.steps))
        painted = cpu_seconds(stage.process.pid)
        await stage.type("ж")
        await stage.press("ctrl-a")
        await stage.type("д")
        await stage.see("> дж")
        return {"first_paint": painted * KILO, "editing": cpu_seconds(stage.process.pid) * KILO}


async def measure_keys(count: int) -> Found:
    """Milliseconds from a key to the bytes that show it, while an answer streams and a command prints; beside it a bare echo."""
    words = " ".join(f"word{number % 1000:03d}" for number in range(count * 30))
    call = {"call": {"name": "Bash", "input": {"command": f"{sys.executable} -u -c '{FLOOD}'"}}}
    answer = {"blocks": [call, {"text": words}], "chunk": 8, "gap_ms": 1_000 / DELTAS_A_SECOND, "verbatim": True}
    async with (
        serve_model([answer, "The end."]) as url,
        Stage(*UNASKED, env={"ANTHROPIC_BASE_URL": url}, checks=False) as stage,
        Stage("-u", "-c", ECHO, program=(sys.executable,), checks=False) as bare,
    ):
        await bare.see("ready")
        await stage.type("go\n")
        await stage.sent(b"output line")
        await stage.sent(b"word")
        key, echo = await asyncio.gather(time_keys(stage, count), time_keys(bare, count))
    return {"key": key, "key_echo": echo}


async def time_keys(stage: Stage, count: int) -> list[float]:
    chance = random.Random(1)  # noqa: S311 - only the pace of typing
    took: list[float] = []
    while len(took) < count:
        for letter in ALPHABET:
            before, began = stage.written, time.perf_counter()
            await stage.type(letter)
            await stage.sent(letter.encode(), since=before)
            took.append((time.perf_counter() - began) * KILO)
            await asyncio.sleep(chance.uniform(0.005, 0.04))
        await stage.press("ctrl-u")
    return took[:count]


async def measure_answer(pieces: int) -> Figures:
    """Processor time for an answer of so many deltas, against that of text mode to a pipe; start-up is no part of either."""
    words = " ".join(f"word{number % 1000:03d}" for number in range(pieces))
    long = {"text": f"{words}\n\nThe end.", "chunk": 8, "verbatim": True}
    async with serve_model(["Short.", long]) as url, Stage(env={"ANTHROPIC_BASE_URL": url}) as stage:
        await stage.type("short\n")
        await stage.see("Short.")
        before = cpu_seconds(stage.process.pid)
        await stage.type("long\n")
        await stage.see("The end.")
        shown = cpu_seconds(stage.process.pid) - before
    async with serve_model(["Short.", long]) as url:
        short = await asyncio.to_thread(spend_headless, url)
        printed = await asyncio.to_thread(spend_headless, url) - short
    return {"answer": shown / printed, "answer_cpu": shown * KILO}


def spend_headless(url: str) -> float:
    """Processor seconds of the whole process."""
    with tempfile.TemporaryDirectory(prefix="everturn-bench-") as folder:
        env = {"PATH": os.environ["PATH"], "HOME": folder, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "made-up"}
        command = [sys.executable, "-m", "everturn", "-p", "go"]
        _, code, usage = run_bounded(command, Path(folder), env, PATIENCE_S)
    if code:
        raise StageError(f"everturn -p ended with {code}")
    return usage.ru_utime + usage.ru_stime


async def measure_session(small: bool) -> Figures:
    """Memory in a session of 1,000 turns, and how long it takes until the resumed session shows its last screen."""
    script, early = ("shell", 3) if small else ("thousand", EARLY)
    with Servers() as servers, tempfile.TemporaryDirectory(prefix="everturn-bench-") as place:
        env = {"ANTHROPIC_BASE_URL": servers.url(script)}
        async with Stage(*UNASKED, env=env, folder=Path(place)) as stage:
            await stage.type("go\n")
            await stage.sent(f"echo {early}".encode())
            before = resident_mb(stage.process.pid)
            await stage.see("All is well.", patience=600)
            after = resident_mb(stage.process.pid)
            await stage.leave()
        began = time.perf_counter()
        async with Stage("--continue", env=env, folder=Path(place)) as stage:
            await stage.see("All is well.")
            shown, spent = time.perf_counter() - began, cpu_seconds(stage.process.pid)
    return {"memory": after, "memory_growth": after / before, "resume": shown * KILO, "resume_cpu": spent * KILO}


@asynccontextmanager
async def serve_model(answers: list[Any]) -> AsyncGenerator[str]:
    """The base URL of a model server in a process of its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as script:
        json.dump(answers, script)
        script.flush()
        words = ("-m", "everturn.modelserver", "--script", script.name)
        server = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=asyncio.subprocess.PIPE)
        try:
            if server.stdout is None:
                raise StageError("the model server says nothing")
            yield (await server.stdout.readline()).decode().split()[-1]
        finally:
            server.terminate()
            await server.wait()


def cpu_seconds(process: int) -> float:
    """Of all its threads."""
    tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def resident_mb(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1_024
