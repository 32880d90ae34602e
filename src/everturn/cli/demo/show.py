"""The demo from curtain to curtain: the scripted server, the real engine on it, and somebody who tells what happens."""

import asyncio
import os
from contextlib import aclosing
from pathlib import Path

import msgspec

from everturn.cli.demo.narrator import Narrator
from everturn.cli.demo.page import DemoScreen
from everturn.cli.demo.repository import DemoRepository, DemoTests, make_repository
from everturn.cli.demo.script import GOAL, MODEL, OUTPUT_CAP, PROMPT, RUN_TESTS, demo_script
from everturn.cli.demo.summary import DemoTally, put_diff, put_summary, put_tests
from everturn.compose.engine import Engine
from everturn.frontends.ansi import BOLD, DIM
from everturn.modelserver import ModelServer
from everturn.settings.options import Options

_MAX_TURNS = 12
_RETRY_S = 0.6
"""The first wait between attempts; elsewhere it is longer, and nobody watches."""


class DemoOutcome(msgspec.Struct, frozen=True, kw_only=True):
    tally: DemoTally
    requests: int
    refused: int


def run_show(folder: Path, page: DemoScreen, *, fast: bool) -> DemoTests:
    """Raises OSError where the folder cannot be written, no port is free, or nobody reads any more."""
    project = folder / "renewals"
    project.mkdir()
    repository = make_repository(project)
    put_opening(page, repository)
    played = asyncio.run(play(repository, folder / "home", page, fast=fast))
    tested = repository.run_tests()
    put_closing(page, repository, played, tested)
    return tested


async def play(repository: DemoRepository, home: Path, page: DemoScreen, *, fast: bool) -> DemoOutcome:
    tally = DemoTally()
    narrator = Narrator(page, shorten=lambda text: shorten(text, repository.folder), cap=OUTPUT_CAP)
    async with ModelServer(demo_script(), time_scale=0.0 if fast else 1.0) as server:
        page.put_row("model", f"{MODEL}, played by a script at {server.url}")
        page.put_line("")
        page.put(PROMPT, BOLD, head="> ")
        page.put_line("")
        options = demo_options(repository.folder, home, server.url, fast=fast)
        # An environment of its own: no key, proxy or setting of the person takes part.
        async with Engine(options, env={}) as engine, aclosing(engine.submit(PROMPT)) as events:
            try:
                async for event in events:
                    tally.note(event)
                    narrator.tell(event)
                    page.check()
            finally:
                narrator.close()
        asked = server.asked()
    return DemoOutcome(tally=tally, requests=len(asked), refused=sum(one.refused is not None for one in asked))


def demo_options(folder: Path, home: Path, url: str, *, fast: bool) -> Options:
    return Options(
        model=MODEL,
        base_url=url,
        api_key=f"demo-{os.urandom(16).hex()}",
        cwd=folder,
        home=home,
        permission_mode="acceptEdits",
        goal=GOAL,
        verify=RUN_TESTS,
        allowed_tools=["Bash"],
        max_turns=_MAX_TURNS,
        limits={"output_cap": OUTPUT_CAP, "backoff_first_s": _RETRY_S, "retry_scale": 0.0 if fast else 1.0},
    )


def shorten(text: str, folder: Path) -> str:
    """Without what only this machine is interested in: where the folder and the interpreter are."""
    interpreter, _, _ = RUN_TESTS.rpartition(" -m ")
    return text.replace(f"{folder}/", "").replace(str(folder), ".").replace(interpreter, "python")


def put_opening(page: DemoScreen, repository: DemoRepository) -> None:
    history = "under git" if repository.git else "git was not found, so the demo does without"
    page.put("Everturn demo: the loop repairs a repository, the model is scripted", BOLD)
    page.put(
        "The loop, the HTTP requests, the tools, the files and the tests are real. Only the model is scripted: "
        "its words were written beforehand. No key, no network, no cost. On the way it meets an overload, a broken "
        "connection, an answer that is cut off, and a model that says too soon that it is done: a goal is set, so the tests decide."
    )
    page.put_line("")
    # A path stays in one piece, to be copied.
    page.put_row("repository", f"{repository.folder} ({history})", wraps=False)
    page.put_row("goal", f"{GOAL} Verified by: python -m unittest")
    page.put_row("may", "read and edit files in that folder, run commands")


def put_closing(page: DemoScreen, repository: DemoRepository, played: DemoOutcome, tested: DemoTests) -> None:
    put_diff(page, repository.diff(), by_git=repository.git is not None)
    put_tests(page, tested)
    if (result := played.tally.result) is not None:
        put_summary(page, played.tally, result, requests=played.requests, refused=played.refused)
    page.put_line("")
    page.put(
        "The model was scripted, so nothing was charged. With a key the same loop works in your repository: "
        'set ANTHROPIC_API_KEY, then everturn -p "what you want".',
        DIM,
    )
