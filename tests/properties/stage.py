"""The stage on which cases are played: a real engine and pipeline in a faked world."""

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
from tests.properties.cases import Case, Knobs, Point, Turn
from tests.properties.fakes import Asked, StageHooks, StageJournal, StageModel, UnchangedFiles, WordChecker
from tests.properties.tools import PIXEL, GatePolicy, StageTool

from everturn.context.pipeline import ContextPipeline
from everturn.context.rounds import round_starts
from everturn.core.events import Event
from everturn.core.limits import Limits
from everturn.core.messages import Message
from everturn.core.records import Record
from everturn.engine.deps import AgentContext, Config, Deps, EngineParts, Prompting
from everturn.engine.engine import Engine
from everturn.models.catalog import JsonCatalog
from everturn.ports.model import ThinkingConfig, ThinkingMode
from everturn.ports.store import Replay
from everturn.sessions.formats import decode_line
from everturn.sessions.ledger import SessionLedger
from everturn.sessions.live_file import LiveSessionFile
from everturn.testing import CountingIds, FakeClock

MODEL, *FALLBACKS = ("claude-sonnet-5", "claude-opus-4-8", "claude-sonnet-4-6")
LARGE = JsonCatalog()
TINY = JsonCatalog({"models": {model: {"window": 1_000, "max_output": 100} for model in (MODEL, *FALLBACKS)}})


class Query(msgspec.Struct):
    """What one prompt brought."""

    turn: Turn
    events: list[Event] = []
    asked: list[Asked] = []
    runs: list[tuple[str, str]] = []
    """Calls that really ran: id and tool."""
    closed: bool = False
    """The consumer left before the end."""
    first_record: int = 0
    late: list[str] = []
    """Events that were shown before their record was written."""
    tasks_left: list[str] = []

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def main_calls(self) -> int:
        return sum(asked.is_main for asked in self.asked)


class Played(msgspec.Struct):
    """A whole case."""

    knobs: Knobs
    queries: list[Query]
    lines: list[bytes]
    transcript: tuple[Message, ...]
    model: str
    usd: float
    mishaps: list[str]
    """Exceptions that nobody took, and tasks that never ended."""

    @property
    def records(self) -> list[Record]:
        return [record for line in self.lines if (record := decode_line(line).record) is not None]


class Stage:
    """One engine and its world. `lines` = the journal of the session to resume."""

    def __init__(self, knobs: Knobs, lines: tuple[bytes, ...] = ()) -> None:
        self.knobs = knobs
        self.query = Query(Turn())
        self.queries: list[Query] = []
        self.journal = StageJournal(self.happened)
        self.journal.lines.extend(lines)
        self._counts: dict[str, int] = {}
        # A resumed session goes on counting where nobody was before.
        ids = CountingIds(f"id{len(lines)}")
        self.pipeline = ContextPipeline(ids=ids)
        self.model, self.hooks = StageModel(self), StageHooks()
        replay = self.journal.replay() if lines else None
        self.catalog = TINY if knobs.tiny else LARGE
        self.parts = EngineParts(
            deps=Deps(
                model=self.model,
                catalog=self.catalog,
                pipeline=self.pipeline,
                journal=self.journal,
                ledger=build_ledger(replay),
                policy=GatePolicy(),
                hooks=self.hooks,
                files=UnchangedFiles(),
                clock=FakeClock(),
                ids=ids,
                checker=WordChecker() if knobs.strict else None,
            ),
            config=Config(
                session_id="session",
                folder="/project",
                limits=limits_of(knobs),
                streaming_tools=knobs.streaming_tools,
                tool_summaries=knobs.summaries,
                small_model="claude-haiku-4-5",
            ),
            prompting=Prompting(system=lambda _: ("Be good.",)),
            agent=AgentContext(
                model=MODEL,
                tools=tuple(StageTool(name, self.note_run) for name in ("Read", "Stare", "Write", "Post", "Forbidden")),
                fallbacks=tuple(FALLBACKS[: knobs.fallbacks]),
                thinking=ThinkingConfig(mode=ThinkingMode.ADAPTIVE) if knobs.thinking else None,
            ),
            replay=replay,
            session_file=LiveSessionFile(self.journal, Path("/project")),
            renew=self._renew,
        )
        self.engine = Engine(parts=self.parts)

    def _renew(self) -> EngineParts:
        raise RuntimeError("no case clears the conversation")

    async def run(self, turn: Turn) -> Query:
        """Stops where the turn says so; sees to it that a query that hangs fails instead."""
        query = self.query = Query(turn, first_record=len(self.journal.lines))
        self.queries.append(query)
        self._counts = {}
        self.model.begin(turn)
        self.hooks.begin(turn)
        if turn.collapse is not None:
            self._stage_collapse(turn.collapse)
        prompt = [{"type": "text", "text": "Look at this."}, PIXEL] if turn.picture else "Do it."
        async with asyncio.timeout(300), aclosing(self.engine.submit(prompt)) as events:
            async for event in events:
                query.events.append(event)
                if not self.journal.tells_of(event):
                    query.late.append(repr(event))
                self.happened("event")
                if query.closed:
                    break
        for _ in range(3):
            await asyncio.sleep(0)
        query.tasks_left = [repr(task) for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        return query

    def happened(self, at: str) -> None:
        self._counts[at] = self._counts.get(at, 0) + 1
        point = self.query.turn.point
        if point is not None and (at, self._counts[at]) == (point.at, point.nth):
            self._interfere(point)

    def note_run(self, id_: str, tool: str) -> None:
        self.query.runs.append((id_, tool))
        self.happened("run")

    def _interfere(self, point: Point) -> None:
        match point.do:
            case "abort":
                self.engine.abort(point.cause)
            case "enqueue":
                self.engine.enqueue("And mind the gap.")
            case "collapse":
                self._stage_collapse((1, -1))
            case "close":
                self.query.closed = True

    def _stage_collapse(self, rounds: tuple[int, int]) -> None:
        """From the beginning of one round up to the beginning of another, which may make no sense at all."""
        transcript = self.engine.transcript
        if starts := round_starts(transcript):
            first, end = (starts[index % len(starts)] for index in rounds)
            self.pipeline.collapses.stage(transcript[first].id, transcript[end - 1].id, "Earlier work.")


def limits_of(knobs: Knobs) -> Limits:
    """The counters beside the knobs are small, so that short scripts use them up."""
    shared = {name: getattr(knobs, name) for name in Limits.__struct_fields__ if name in Knobs.__struct_fields__}
    return Limits(
        **shared,
        tool_concurrency=knobs.concurrency,
        work_min_gain=2,
        output_recoveries=1,
        stop_hook_blocks=1,
        pauses=1,
        structured_retries=1,
        overloads_before_fallback=2,
        abort_grace_s=0.0,
        summary_output=100,
        summary_tries=2,
        compact_failures=2,
        **({"clear_share": 0.0, "clear_gain": 0.0, "clear_keeps": 0} if knobs.clears else {}),
        **({"message_results": 1, "result_preview": 1} if knobs.spills else {}),
    )


def build_ledger(replay: Replay | None) -> SessionLedger:
    return SessionLedger(usd=replay.usd, usage=replay.usage, models=replay.models) if replay else SessionLedger()


def play_case(case: Case) -> Played:
    """All its turns and the plain one after them, in an event loop of its own."""
    return run_watched(case.knobs, (), (*case.turns, Turn()))


def resume(knobs: Knobs, lines: list[bytes]) -> Played:
    """A plain prompt in a session that was left with these records."""
    return run_watched(knobs, tuple(lines), (Turn(),))


def run_watched(knobs: Knobs, lines: tuple[bytes, ...], turns: tuple[Turn, ...]) -> Played:
    """Every task is kept in sight: none may be left at work, or with an exception that nobody took."""
    tasks: list[asyncio.Task[Any]] = []

    def make_task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
        tasks.append(asyncio.Task(work, loop=loop, **options))
        return tasks[-1]

    with asyncio.Runner() as runner:
        runner.get_loop().set_task_factory(make_task)
        played = runner.run(_run_turns(knobs, lines, turns))
        played.mishaps += [repr(task) for task in tasks if not task.done() or task._log_traceback]
    return played


async def _run_turns(knobs: Knobs, lines: tuple[bytes, ...], turns: tuple[Turn, ...]) -> Played:
    mishaps: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: mishaps.append(repr(context)))
    stage = Stage(knobs, lines)
    async with stage.engine as engine:
        for turn in turns:
            await stage.run(turn)
        return Played(
            knobs=knobs,
            queries=stage.queries,
            lines=list(stage.journal.lines),
            transcript=engine.transcript,
            model=engine.model,
            usd=engine.total_usd,
            mishaps=mishaps,
        )
