"""The demo from curtain to curtain: the scripted server, the real engine on it, and somebody who tells what happens."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import msgspec

from everturn.cli.demo.lines import Line, Span, Style, line, wrap
from everturn.cli.demo.narrator import Narrator
from everturn.cli.demo.repository import Repository, Tested, make_repository
from everturn.cli.demo.screen import Screen
from everturn.cli.demo.script import MODEL, OUTPUT_CAP, PROMPT, RUN_TESTS, demo_script
from everturn.cli.demo.summary import (
    Tally,
    heading,
    render_diff_section,
    render_row,
    render_summary,
    render_tests_section,
)
from everturn.compose.library import Engine
from everturn.modelserver import ModelServer
from everturn.settings.options import Options

_MOST_TURNS = 12
_RETRY_S = 0.6
"""The first wait between attempts; elsewhere it is longer, and nobody watches."""
_TICK_S = 0.1


class Played(msgspec.Struct, frozen=True, kw_only=True):
    tally: Tally
    requests: int
    refused: int


def run_show(folder: Path, screen: Screen, *, fast: bool) -> Tested:
    """Raises OSError where the folder cannot be written or no port is free."""
    project = folder / "renewals"
    project.mkdir()
    repository = make_repository(project)
    screen.keep(*render_opening(repository, screen.width))
    played = asyncio.run(play(repository, folder / "home", screen, fast=fast))
    tested = repository.run_tests()
    screen.keep(*render_closing(repository, played, tested, screen.width))
    return tested


async def play(repository: Repository, home: Path, screen: Screen, *, fast: bool) -> Played:
    tally = Tally()
    narrator = Narrator(screen, shorten=lambda text: shorten(text, repository.folder), cap=OUTPUT_CAP)
    async with ModelServer(demo_script(), time_scale=0.0 if fast else 1.0) as server:
        screen.keep(*render_row("model", f"{MODEL}, played by a script at {server.url}", screen.width), ())
        screen.keep(*wrap(PROMPT, screen.width, Style.STRONG, first=Span("> ", Style.FLOW), rest="  "))
        options = demo_options(repository.folder, home, server.url, fast=fast)
        # An environment of its own: no key, proxy or setting of the person takes part.
        async with (
            Engine(options, env={}) as engine,
            ticking(narrator, screen),
            aclosing(engine.submit(PROMPT)) as events,
        ):
            async for event in events:
                tally.note(event)
                narrator.tell(event)
        asked = server.asked()
    return Played(tally=tally, requests=len(asked), refused=sum(one.refused is not None for one in asked))


def demo_options(folder: Path, home: Path, url: str, *, fast: bool) -> Options:
    return Options(
        model=MODEL,
        base_url=url,
        api_key=f"demo-{os.urandom(16).hex()}",
        cwd=folder,
        home=home,
        permission_mode="acceptEdits",
        allowed_tools=["Bash"],
        max_turns=_MOST_TURNS,
        limits={"output_cap": OUTPUT_CAP, "backoff_first_s": _RETRY_S, "retry_scale": 0.0 if fast else 1.0},
    )


@asynccontextmanager
async def ticking(narrator: Narrator, screen: Screen) -> AsyncIterator[None]:
    """The clock of running calls goes on while nothing else happens."""

    async def tick() -> None:
        while True:
            await asyncio.sleep(_TICK_S)
            narrator.refresh()

    task = asyncio.create_task(tick()) if screen.live else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def shorten(text: str, folder: Path) -> str:
    """Without what only this machine is interested in: where the folder and the interpreter are."""
    interpreter, _, _ = RUN_TESTS.rpartition(" -m ")
    return text.replace(f"{folder}/", "").replace(str(folder), ".").replace(interpreter, "python")


def render_opening(repository: Repository, width: int) -> list[Line]:
    history = "under git" if repository.git else "git is not here, so it goes without"
    return [
        *heading("Everturn demo: the loop repairs a repository, the model is scripted", width),
        *wrap(
            "The loop, the HTTP requests, the tools, the files and the tests are real. Only the model is scripted: "
            "its words were written beforehand. No key, no network, no cost. On the way it meets an overload, a broken "
            "connection and an answer that is cut off.",
            width,
        ),
        (),
        # A path stays in one piece, to be copied.
        line(Span("  repository   ", Style.FAINT), f"{repository.folder} ({history})"),
        *render_row("may", "read and edit files in that folder, run commands", width),
    ]


def render_closing(repository: Repository, played: Played, tested: Tested, width: int) -> list[Line]:
    summary: list[Line] = []
    if (result := played.tally.result) is not None:
        rows = render_summary(played.tally, result, width, requests=played.requests, refused=played.refused)
        summary = [(), *heading("Summary", width), *rows]
    return [
        *render_diff_section(repository.diff(), width, by_git=repository.git is not None),
        *render_tests_section(tested, width),
        *summary,
        (),
        *wrap(
            "The model was scripted, so nothing was charged. With a key the same loop works in your repository: "
            'set ANTHROPIC_API_KEY, then everturn -p "what you want".',
            width,
            Style.FAINT,
        ),
    ]
