"""The bench on which scenarios run: a real engine, over real HTTP, on a scripted model server, in a real folder."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from tests.needs import (  # noqa: F401 - pytest finds its hooks here
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_runtest_setup,
    pytest_terminal_summary,
)
from tests.sandbox.kinds import KINDS

from everturn import Engine, Options, tool
from everturn.core.events import Event, ResultEvent
from everturn.core.record_codec import encode_record
from everturn.core.state import Reason
from everturn.modelserver import ModelServer, Received, script, when
from everturn.modelserver.scripts import When
from everturn.ports.tool import ToolContext
from everturn.sessions.places import session_file
from everturn.sessions.session_files import stream_told
from everturn.settings.setup import WrittenSettings

# A busy machine makes every strategy slow: that says nothing about the test.
settings.register_profile("test", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", derandomize=False, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("EVERTURN_EXAMPLES", "test"))
"""`make test` draws the same examples every time, so that a change is judged by what it changed; `make fuzz` draws new ones."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # The tests were started in the background of a script: the programs that they start would be deaf to Ctrl-C, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
    # The tests were started by make: a make that a test starts would take itself for a part of that one, and say more.
    os.environ.pop(name, None)

KEY = "sk-ant-api03-made-up-9fK2xQ7wLp4Tz8VbN3cR6yHd-key-for-tests"


class Run:
    """What one prompt brought."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events

    @property
    def result(self) -> ResultEvent:
        *_, last = self.events
        assert isinstance(last, ResultEvent), f"the last event is {last}"
        return last

    @property
    def reason(self) -> Reason:
        return self.result.reason

    @property
    def transitions(self) -> list[str]:
        return [event.transition for event in self.of("transition")]

    @property
    def kinds(self) -> list[str]:
        return [kind_of(event) for event in self.events]

    def of(self, *kinds: str) -> list[Any]:
        return [event for event in self.events if kind_of(event) in kinds]


def kind_of(event: Event) -> str:
    return str(event.__struct_config__.tag)


class Bench:
    """`bench.model(…)` says what is played, `await bench.run(…)` runs a prompt and gives back what came of it."""

    def __init__(self, server: ModelServer, folder: Path, home: Path) -> None:
        self.server = server
        self.folder = folder
        self.home = home
        self.env = {"ANTHROPIC_API_KEY": KEY, "EVERTURN_RETRY_SCALE": "0.001", "HOME": str(home)}
        self.engines: list[Engine] = []
        self.runs: list[Run] = []

    def model(self, *answers: Any, **settings: Any) -> None:
        self.server.play(script(*answers, **settings))

    @staticmethod
    def summary(*answers: Any, **settings: Any) -> When:
        """Answers to the call for a summary, whenever it comes."""
        return when(*(answers or ("What happened, in short.",)), last_user_contains="Write a summary", **settings)

    def options(self, **changes: Any) -> Options:
        fields = {"base_url": self.server.url, "cwd": self.folder, "home": self.home, "model": "claude-sonnet-5"}
        return Options.of(**(fields | changes))

    def engine(self, *, written: WrittenSettings = WrittenSettings(), **options: Any) -> Engine:  # noqa: B008 - frozen
        """`written`: what settings files would have said."""
        engine = Engine(self.options(**options), env=self.env, written=written)
        self.engines.append(engine)
        return engine

    async def run(self, prompt: str | list[dict[str, Any]] = "Do it.", **options: Any) -> Run:
        return await self.go_on(self.engine(**options), prompt)

    async def go_on(
        self,
        engine: Engine,
        prompt: str | list[dict[str, Any]] = "Go on.",
        *,
        on_event: Callable[[Event], None] | None = None,
    ) -> Run:
        events: list[Event] = []
        async with aclosing(engine.submit(prompt)) as stream:
            async for event in stream:
                events.append(event)
                if on_event is not None:
                    on_event(event)
        self.runs.append(Run(events))
        return self.runs[-1]

    @property
    def requests(self) -> list[Received]:
        return self.server.asked()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests]

    @property
    def sent(self) -> list[list[dict[str, Any]]]:
        """The messages of each request, without cache marks."""
        return [[without_marks(message) for message in body["messages"]] for body in self.bodies]

    def assert_settled(self, engine: Engine) -> None:
        """Every use in the transcript has exactly one result."""
        uses = [use.id for message in engine.transcript for use in message.uses]
        results = [result.tool_use_id for message in engine.transcript for result in message.results]
        assert sorted(uses) == sorted(results)

    def session_file(self, session_id: str) -> Path:
        return session_file(self.home, session_id, self.folder.resolve())

    def records(self, session_id: str) -> list[dict[str, Any]]:
        """Those in the session's file, each with its kind under `type`."""
        told = [told.record for told, _ in stream_told(self.session_file(session_id))]
        return [msgspec.json.decode(encode_record(record)) for record in told if record is not None]


@tool(name="Wait")
async def wait_for_tasks(context: ToolContext) -> str:
    """Waits until all that runs in the background has ended."""
    await asyncio.gather(*(task.wait() for task in context.tasks.running))
    return "It has ended."


def without_marks(message: dict[str, Any]) -> dict[str, Any]:
    blocks = [{key: value for key, value in block.items() if key != "cache_control"} for block in message["content"]]
    return {"role": message["role"], "content": blocks}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def sandbox(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings that switch a sandbox on: each kind in turn."""
    return request.param


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncGenerator[Bench]:
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    async with ModelServer() as server:
        made = Bench(server, folder, home)
        yield made
        for engine in made.engines:
            await engine.aclose()
        assert [request.refused for request in server.requests if request.refused] == made_refusals(made)


def made_refusals(bench: Bench) -> list[str]:
    """Requests that the server refused although nobody scripted that: there must be none."""
    return getattr(bench, "expected_refusals", [])
