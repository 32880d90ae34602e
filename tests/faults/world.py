"""What a case is played in: a real folder, a real session file, a real engine, and tools that tell how often they ran."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

from tests.conftest import KEY, Run, kind_of
from tests.faults.corpus import Call

from everturn import Engine, Options, tool
from everturn.core.events import AnswerAdded, Event, UserAdded
from everturn.modelserver import ModelServer
from everturn.ports.tool import PatchHunk, Tool, ToolContext, ToolResult, Traits
from everturn.sessions.places import find_session_file
from everturn.tools.builtin import builtin_tools

PATIENCE_S = 120.0
"""No prompt takes longer, whatever the model does."""
SILENCE_S = 1.5
"""The idle limit of cases that fall silent: a machine that is busy with other things for a moment is not silent."""
README = "# The project\n"

OnEvent = Callable[[Event], Awaitable[None]]


class Counted(Tool):
    """A tool that writes down each run before it does its work."""

    def __init__(self, inner: Tool, diary: Path) -> None:
        self._inner = inner
        self._diary = diary
        self.name, self.description = inner.name, inner.description
        self.schema, self.result_limit = inner.schema, inner.result_limit
        self.deferred = inner.deferred

    def settle(self, input_: dict[str, Any], folder: str) -> dict[str, Any]:
        return self._inner.settle(input_, folder)

    def done(self, result: ToolResult) -> str:
        return self._inner.done(result)

    async def check(self, call: Any, context: ToolContext) -> Sequence[PatchHunk]:
        return await self._inner.check(call[1], context)

    def parse(self, input_: dict[str, Any]) -> Any:
        return Call(self.name, json.dumps(input_, sort_keys=True)), self._inner.parse(input_)

    def traits(self, call: Any) -> Traits:
        return self._inner.traits(call[1])

    def line(self, call: Any) -> str:
        return self._inner.line(call[1])

    async def run(self, call: Any, context: ToolContext) -> ToolResult:
        with self._diary.open("a") as diary:
            diary.write(json.dumps(call[0]) + "\n")
        return await self._inner.run(call[1], context)


@tool(name="Append")
async def append(file_path: str) -> str:
    """Adds a line to a file: a call whose second run would show."""
    with Path(file_path).open("a") as file:  # noqa: ASYNC230 (one line to a local file)
        file.write("appended\n")
    return "Appended."


class World:
    def __init__(self, root: Path, stack: AsyncExitStack) -> None:
        self.folder, self.home = root / "project", root / "home"
        self.folder.mkdir()
        (self.folder / "build").mkdir()
        self.readme = self.folder / "README.md"
        self.readme.write_text(README)
        self.env = {"ANTHROPIC_API_KEY": KEY, "EVERTURN_RETRY_SCALE": "0.001", "HOME": str(root)}
        self._stack = stack
        self._diary = root / "runs.jsonl"

    @property
    def key(self) -> str:
        return self.env["ANTHROPIC_API_KEY"]

    @property
    def runs(self) -> list[Call]:
        lines = self._diary.read_text().splitlines() if self._diary.exists() else []
        return [Call(*json.loads(line)) for line in lines]

    def forget_runs(self) -> None:
        self._diary.unlink(missing_ok=True)

    async def enter(self, server: ModelServer) -> ModelServer:
        return await self._stack.enter_async_context(server)

    def options(self, url: str, **changes: Any) -> dict[str, Any]:
        """As plain values, so that another process can take them, too."""
        fields = {"base_url": url, "cwd": str(self.folder), "home": str(self.home), "model": "claude-sonnet-5"}
        return fields | {"allowed_tools": ["Append", "Bash", "Write"]} | changes

    async def engine(self, url: str, **changes: Any) -> Engine:
        tools = [Counted(each, self._diary) for each in (*builtin_tools(), append)]
        engine = Engine(Options.of(**self.options(url, **changes), tools=tools), env=self.env)
        self._stack.push_async_callback(engine.aclose)
        return engine

    async def submit(self, engine: Engine, prompt: Any, on_event: OnEvent | None = None) -> Run:
        events: list[Event] = []
        async with asyncio.timeout(PATIENCE_S), aclosing(engine.submit(prompt)) as stream:
            async for event in stream:
                events.append(event)
                self._check_recorded(engine, event)
                if on_event is not None:
                    await on_event(event)
        return Run(events)

    def journal(self, session_id: str) -> bytes:
        path = find_session_file(self.home, session_id)
        assert path is not None
        return path.read_bytes()

    def _check_recorded(self, engine: Engine, event: Event) -> None:
        """What is shown as done is in the file already."""
        if isinstance(event, AnswerAdded | UserAdded):
            assert event.message.id.encode() in self.journal(engine.session_id), (
                f"{kind_of(event)} came before its record"
            )
