"""Where a golden scenario plays: a folder of its own, a scripted model server over real HTTP, a fixed clock and counted ids.

Everything that a redesign of the engine may have to adapt stands in `make_engine` and in `Stage.render`.
"""

import asyncio
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing
from itertools import count, groupby
from pathlib import Path
from typing import Any

import msgspec
from tests.conftest import KEY, kind_of
from tests.goldens.normalise import normalise

from everturn import Engine, Options, __version__
from everturn.core.events import CallProgressed, Event
from everturn.frontends.commands import COMMANDS
from everturn.frontends.headless.lines import encode_line
from everturn.frontends.headless.run import guess_card
from everturn.frontends.headless.stream_json import StreamJson
from everturn.frontends.headless.view import Introduction
from everturn.modelserver import ModelServer, Say, script, text, when
from everturn.modelserver.answers import Call, ServerCall
from everturn.modelserver.scripts import When
from everturn.settings.setup import WrittenSettings
from everturn.testing import CountingIds, FakeClock

NOON = 1_794_830_400.0
PLACE = "/tmp/everturn-golden-"
"""Every scenario has a folder whose path is equally long on every machine: tokens are estimated from lengths."""
MODEL = "claude-sonnet-5"


def make_engine(stage: "Stage", options: Options, written: WrittenSettings) -> Engine:
    """The one place where an engine is made."""
    return Engine(options, env=stage.env, clock=stage.clock, ids=stage.ids, written=written)


class StillClock(FakeClock):
    """Time passes only when a scenario calls `advance`: a sleep waits for that."""

    def __init__(self, *, now: float = NOON) -> None:
        super().__init__(now=now)
        self._moved = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        until = self.elapsed() + seconds
        while self.elapsed() < until:
            await self._moved.wait()

    def advance(self, seconds: float) -> None:
        super().advance(seconds)
        self._moved.set()
        self._moved = asyncio.Event()


class Stage:
    """`stage.plays(…)` says what the model answers, `await stage.ask(engine, prompt)` runs a prompt."""

    def __init__(self, server: ModelServer) -> None:
        self.token = secrets.token_hex(6)
        """What differs from run to run in the path of the folder."""
        self.root = Path(PLACE + self.token)
        self.folder, self.home, self.temporary = (self.root / name for name in ("project", "home", "tmp"))
        for folder in (self.folder, self.home, self.temporary):
            folder.mkdir(parents=True)
        self.server = server
        self.env = {"ANTHROPIC_API_KEY": KEY, "HOME": str(self.home), "TMPDIR": str(self.temporary)}
        self.clock, self.ids = FakeClock(now=NOON), CountingIds()
        self.engines: list[Engine] = []
        self.partial = False
        """Whether stream-json tells every delta."""
        self.joins_output = False
        """Whether pieces of output that come one after the other are told as one: how a command's output comes in is the system's matter."""
        self.in_real_world = False
        """Whether a process of its own took part, whose clock and ids are not ours."""
        self._answers, self._whens = count(1), 0
        self._line_ids = CountingIds("line")
        self._renderers: dict[int, StreamJson] = {}
        self._lines: list[bytes] = []
        self._kinds: list[str] = []

    # What the world is like.

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        os.utime(path, (NOON, NOON))
        return path

    def read(self, name: str, **more: Any) -> Say:
        return say_call("Read", {"file_path": str(self.folder / name), **more})

    def plays(self, *answers: Any, **settings: Any) -> None:
        """What the model answers from now on. Messages and calls have ids by their order, whatever the request was."""
        self.server.play(script(*map(self._take, answers), **{"chunk": 1_000, **settings}))

    @staticmethod
    def summary(*answers: Any, **settings: Any) -> When:
        """Answers to the call for a summary."""
        return when(*(answers or ("What happened, in short.",)), last_user_contains="Write a summary", **settings)

    def _take(self, part: Any) -> Any:
        if not isinstance(part, When):
            return self._number(part, self._answers, "")
        self._whens += 1
        numbers, name = count(1), f"aside{self._whens}_"
        return msgspec.structs.replace(
            part, answers=tuple(self._number(answer, numbers, name) for answer in part.answers)
        )

    @staticmethod
    def _number(part: Any, numbers: Iterator[int], name: str) -> Callable[[Any], Any]:
        def answer(ask: Any) -> Any:
            made = text(part) if isinstance(part, str) else part(ask) if callable(part) else part
            return number_answer(made, f"{name}{next(numbers)}") if isinstance(made, Say) else made

        return answer

    # What happens.

    def options(self, **changes: Any) -> Options:
        """Little is sent by default, so that a golden shows what its scenario is about."""
        fields: dict[str, Any] = {
            "base_url": self.server.url,
            "cwd": self.folder,
            "home": self.home,
            "model": MODEL,
            "system_prompt": "You are tried out.",
            "environment": False,
            "builtin_tools": False,
            "streaming_tools": False,
            "journal_sync": "off",
        }
        return Options.of(**(fields | changes))

    def engine(self, *, written: WrittenSettings = WrittenSettings(), **options: Any) -> Engine:  # noqa: B008 - frozen
        engine = make_engine(self, self.options(**options), written)
        self.engines.append(engine)
        return engine

    async def ask(
        self, engine: Engine, prompt: Any = "Do it.", *, on_event: Callable[[Event], object] | None = None
    ) -> list[Event]:
        return await self.take(engine, engine.submit(prompt), on_event=on_event)

    async def go_on(self, engine: Engine) -> list[Event]:
        return await self.take(engine, engine.resume_query())

    async def compact(self, engine: Engine, instructions: str = "") -> list[Event]:
        return await self.take(engine, engine.compact(instructions))

    async def take(
        self, engine: Engine, stream: Any, *, on_event: Callable[[Event], object] | None = None
    ) -> list[Event]:
        """Every event, rendered. The stream is closed where `on_event` gives `LEAVE`."""
        events: list[Event] = []
        async with aclosing(stream) as opened:
            async for event in opened:
                if self.joins_output and events and (joined := join_output(events[-1], event)):
                    events[-1] = joined
                else:
                    events.append(event)
                if on_event is not None and on_event(event) is LEAVE:
                    break
        for event in events:
            self.render(engine, event)
        self._kinds.append(" ".join(kind for kind, _ in groupby(map(kind_of, events))))
        return events

    async def reopen(self, engine: Engine, **options: Any) -> Engine:
        await engine.aclose()
        return self.engine(resume=engine.session_id, **options)

    async def clear(self, engine: Engine) -> Engine:
        """The engine to go on with, in a new and empty conversation."""
        return engine.clear()

    async def run_program(self, *words: str) -> None:
        """`everturn` in a process of its own, which draws its ids and looks at the real clock."""
        self.in_real_world = True
        env = {**self.env, "ANTHROPIC_BASE_URL": self.server.url, "EVERTURN_HOME": str(self.home), "TZ": "UTC"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "everturn", *words),
            cwd=self.folder,
            env={**env, "PATH": os.environ["PATH"]},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()
        self._lines.append(said)

    def cut_journal(self, engine: Engine, after: str) -> None:
        """Takes away what is behind the first line that holds these words."""
        file = self.session_file(engine.session_id)
        kept = file.read_bytes().splitlines(keepends=True)
        place = next(number for number, line in enumerate(kept) if after.encode() in line)
        file.write_bytes(b"".join(kept[: place + 1]))

    def session_file(self, session_id: str) -> Path:
        [file] = self.home.glob(f"projects/*/{session_id}.jsonl")
        return file

    # What came of it.

    def render(self, engine: Engine, event: Event) -> None:
        """As lines of stream-json. The view of the program is passed by: it releases blocks by the real clock."""
        if id(engine) not in self._renderers:
            made = self._renderers[id(engine)] = StreamJson(
                session_id=engine.session_id,
                new_id=self._line_ids.new,
                elapsed=self.clock.elapsed,
                card_of=guess_card,
                partial=self.partial,
                replay_prompts=True,
            )
            introduction = Introduction(
                version=__version__, folder=str(self.folder), tools=tuple(engine.told_before[1]), api_key_source="test"
            )
            init = made.render_init(
                introduction,
                model=engine.model,
                permission_mode=engine.permission_mode,
                commands=tuple(command.name for command in COMMANDS),
            )
            self._lines.append(encode_line(init))
        self._lines += [encode_line(line) for line in self._renderers[id(engine)].render_event(event)]

    async def close(self) -> None:
        for engine in self.engines:
            await engine.aclose()

    def remove(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def collect(self) -> dict[str, bytes]:
        """The texts of the golden by the names of their files."""
        requests = [
            msgspec.json.encode(
                {"method": one.method, "path": one.path, "refused": one.refused, "headers": one.headers}
            )
            + b"\n"
            + one.raw
            + b"\n"
            for one in self.server.requests
        ]
        journals = {
            "journal.jsonl" if number == 0 else f"journal-{number + 1}.jsonl": path.read_bytes()
            for number, path in enumerate(self._session_files())
        }
        found = {
            **journals,
            "events.jsonl": b"".join(self._lines),
            "requests.jsonl": b"".join(requests),
            "kinds.txt": "".join(f"{line}\n" for line in self._kinds).encode(),
        }
        bodies = [one.body for one in self.server.requests]
        return normalise(found, token=self.token, bodies=bodies, in_real_world=self.in_real_world)

    def _session_files(self) -> list[Path]:
        """In the order in which they began."""
        return sorted(self.home.glob("projects/*/*.jsonl"), key=lambda path: (len(path.stem), path.stem))


LEAVE = object()
"""What a listener gives to stop listening in the midst of a query."""


def join_output(before: Event, event: Event) -> Event | None:
    if not isinstance(before, CallProgressed) or not isinstance(event, CallProgressed):
        return None
    if before.tool_use_id != event.tool_use_id:
        return None
    return CallProgressed(tool_use_id=event.tool_use_id, text=before.text + event.text)


def say_call(name: str, input_: Any) -> Say:
    return Say(blocks=(Call(name=name, input=input_),))


def number_answer(say: Say, number: str) -> Say:
    blocks = tuple(
        msgspec.structs.replace(block, id=f"toolu_{number}_{place}")
        if isinstance(block, Call | ServerCall) and block.id is None
        else block
        for place, block in enumerate(say.blocks, 1)
    )
    return msgspec.structs.replace(say, id=say.id or f"msg_{number}", blocks=blocks)
