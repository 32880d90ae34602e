"""How tools run: beside the stream, beside each other, with a flood of output, and to their end."""

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator
from typing import Any

from bench.aims import Found, Scale, note
from bench.alone import Figures, forget_peak, peak_mb, run_alone
from bench.desk import Desk
from bench.figures import KILO, median
from everturn import Engine, Options, tool
from everturn.core.stream import StreamEvent, TextAdded
from everturn.ports.model import Request
from everturn.testing import ScriptedModel, call, calls, say
from everturn.tools.bash import bash_tool

GIGABYTE = 1_000_000_000
OBEYING, DEAF, MANY, NOTHINGS = 200, 10, 1_000, 30
LONG_MS = 600_000
OBEDIENT = (
    "echo on; sleep 1000",
    "sleep 1000 & setsid sleep 1000 & echo on; sleep 1000",
    "echo on; while :; do sleep 0.002; done",
)
STUBBORN = "trap '' TERM; (trap '' TERM; while :; do sleep 0.1; done) & echo on; while :; do sleep 0.1; done"


def measure(scale: Scale) -> Found:
    found: Found = {}
    for _ in range(scale.rounds):
        note(found, asyncio.run(measure_concurrency()))
    for number in range(scale.dear):
        note(found, run_alone(measure_flood, str(scale.of(GIGABYTE)), str(number)))
    return found | asyncio.run(measure_endings(scale))


class SlowModel(ScriptedModel):
    """Takes so long for the words of its first answer."""

    def __init__(self, *scenes: Any, words_s: float) -> None:
        super().__init__(*scenes)
        self._words_s = words_s

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        events = list(self._take(request))
        words = sum(isinstance(event, TextAdded) for event in events)
        wait_s, self._words_s = self._words_s / max(words, 1), 0.0
        due = asyncio.get_running_loop().time()
        for event in events:
            if wait_s and isinstance(event, TextAdded):
                due += wait_s
                await asyncio.sleep(due - asyncio.get_running_loop().time())
            yield event


@tool(reads_only=True)
async def look(seconds: float) -> str:
    """Looks for so long."""
    await asyncio.sleep(seconds)
    return "seen"


@tool
async def change(seconds: float) -> str:
    """Changes something for so long."""
    await asyncio.sleep(seconds)
    return "changed"


async def time_answer(part: Any, words_s: float = 0.0) -> float:
    """From the prompt to the end of the query, which answers the results with one word."""
    options = Options(
        builtin_tools=False, tools=[look, change], allowed_tools=["look", "change"], persist=False, max_turns=0
    )
    async with Engine(options, env={}, model=SlowModel(part, "Done.", words_s=words_s)) as engine:
        started = time.perf_counter()
        async for _ in engine.submit("Go."):
            pass
        return time.perf_counter() - started


async def measure_concurrency() -> Figures:
    def looks(count: int, seconds: float) -> Any:
        return calls(*[("look", {"seconds": seconds})] * count)

    writers = say(*[call("change", {"seconds": 1.0})] * 2, "I change two things, one by one.")
    one, ten = await time_answer(looks(1, 0.5)), await time_answer(looks(10, 0.5))
    return {
        "writers": await time_answer(writers, 2.0),
        "readers": await time_answer(looks(8, 0.5)),
        "equal": ten / one,
        "thousand": await time_answer(looks(MANY, 0.0)) / MANY * KILO,
    }


async def measure_flood(size: str, number: str) -> Figures:
    """Through us and into a file in turn; the other way round in every second round. Against a pipe, too: how fast a file takes it, the disk decides."""
    bash = bash_tool()
    command = f"yes 'the quick brown fox jumps over the lazy dog' | head -c {size}"
    with tempfile.TemporaryDirectory(prefix="everturn-bench-") as folder:
        desk = Desk(folder)
        nothing = [await desk.time(bash, command="true") for _ in range(NOTHINGS)]

        async def into_file() -> float:
            seconds = await desk.time(bash, command=f"{command} > out", timeout=LONG_MS)
            await desk.run(bash, command="rm out")
            return seconds

        file_s = await into_file() if int(number) % 2 == 0 else 0.0
        before = forget_peak()
        through_s = await desk.time(bash, command=command, timeout=LONG_MS)
        memory = peak_mb() - before
        file_s = file_s or await into_file()
        pipe_s = await desk.time(bash, command=f"{command} | cat >/dev/null", timeout=LONG_MS)
    return {
        "nothing": median(nothing) * KILO,
        "flood": through_s / file_s,
        "flood_pipe": through_s / pipe_s,
        "flood_memory": memory,
    }


async def measure_endings(scale: Scale) -> Found:
    with tempfile.TemporaryDirectory(prefix="everturn-bench-") as folder:
        commands = (OBEDIENT[number % len(OBEDIENT)] for number in range(scale.of(OBEYING)))
        obeyed = [await time_ending(folder, command) for command in commands]
        deaf = [await time_ending(folder, STUBBORN) for _ in range(scale.of(DEAF))]
        together = await asyncio.gather(*(time_ending(folder, STUBBORN) for _ in range(scale.of(DEAF))))
    return {"abort": obeyed, "abort_deaf": deaf, "abort_deaf_many": list(together)}


async def time_ending(folder: str, command: str) -> float:
    """Milliseconds: the call returns when it has seen that nobody is left."""
    desk = Desk(folder)
    running = asyncio.ensure_future(desk.run(bash_tool(), command=command, timeout=LONG_MS))
    while not desk.shown:  # noqa: ASYNC110 (the command says when it is there)
        await asyncio.sleep(0.005)
    desk.abort.abort()
    started = time.perf_counter()
    await running
    return (time.perf_counter() - started) * KILO
