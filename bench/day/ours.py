"""Everturn at work for a day: the engine with its whole context pipeline, and the day's model in the place of the API's."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from bench.day.desk import MODEL, SMALL, SYSTEM, Desk, input_of
from bench.day.tools import make_tools
from bench.stage import StageError
from everturn import Engine, Options
from everturn.core.budget import Usage
from everturn.core.events import ContextChanged, ResultEvent
from everturn.core.stream import StreamEvent
from everturn.modelserver import Say, call, say
from everturn.ports.model import Request
from everturn.testing.answers import play

MAIN_OUTPUT = 8_000
"""By its cap a call of the main loop is told from one for a summary."""


class DayClock:
    """The day's own time."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def now(self) -> float:
        return 1_000_000.0 + self._desk.now

    def elapsed(self) -> float:
        return self._desk.now

    async def sleep(self, seconds: float) -> None:
        self._desk.now += seconds
        await asyncio.sleep(0)

    def jitter(self) -> float:
        return 0.0


class DayModel:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._calls = 0

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        await asyncio.sleep(0)
        if request.tools and request.max_tokens == MAIN_OUTPUT:
            said, calls, usage = self._desk.play(request)
            parts: list[Say | str] = [said, *(call(each.tool, input_of(each)) for each in calls)]
        else:
            text, usage = self._desk.summarise(request)
            parts = [text]
        self._calls += 10
        for event in play(
            say(*parts, usage=report(usage)),
            api_id=f"msg_{self._calls}",
            model=request.model,
            input_tokens=0,
            first_call=self._calls,
        ):
            yield event

    async def count_tokens(self, request: Request) -> int:
        return self._desk.count(request)

    async def aclose(self) -> None:
        pass


def report(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
    }


async def run_ours(desk: Desk, folder: Path, limits: dict[str, Any] | None = None) -> dict[str, int]:
    """How often each stage acted."""
    options = Options(
        model=MODEL,
        small_model=SMALL,
        system_prompt=SYSTEM[0],
        builtin_tools=False,
        tools=make_tools(desk.look),
        permission_mode="bypassPermissions",
        max_output_tokens=MAIN_OUTPUT,
        max_turns=0,
        limits={"max_repeated_calls": 0, **(limits or {})},
        cwd=folder,
        home=folder,
        journal_sync="off",
    )
    stages: dict[str, int] = {}
    async with Engine(options, env={}, model=DayModel(desk), clock=DayClock(desk)) as engine:
        for prompt in desk.prompts():
            async for event in engine.submit(prompt):
                if isinstance(event, ContextChanged):
                    stages[event.stage] = stages.get(event.stage, 0) + 1
                if isinstance(event, ResultEvent) and event.is_error:
                    raise StageError(f"the day broke off: {event.errors}")
    return stages
