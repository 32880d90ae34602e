"""The executor by itself: any plan of calls, any moment of interference; readers together, writers alone, in order."""

import asyncio
from collections import Counter
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.cases import Knobs, Turn
from tests.properties.stage import Stage
from tests.properties.tools import TRAITS, WITH_EFFECTS, StageTool

from everturn.core.events import CallBegan, CallEnded, CallProgressed, Event
from everturn.core.messages import Block, ToolResult, ToolUse
from everturn.engine.crew import Crew
from everturn.engine.executor import Executor
from everturn.engine.gate import Gate
from everturn.engine.recorder import Recorder
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tool import ToolContext
from everturn.ports.tool import ToolResult as Returned


class Planned(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    """One call: how many passes of the event loop it comes after the one before, how many it takes, how it ends."""

    tool: str
    gap: int = 0
    ticks: int = 0
    fails: bool = False
    listens: bool = False
    """Goes on until the abort, and then ends by itself."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    calls: tuple[Planned, ...]
    eager: bool = True
    places: int = 10
    interferes: str = ""
    """`abort` or `discard`, when so many passes have gone by since so many calls came."""
    after: int = 0
    came: int = 100


plans = st.builds(
    Plan,
    calls=st.lists(
        st.builds(
            Planned,
            st.sampled_from(("Read", "Read", "Stare", "Write", "Post", "Forbidden", "Unheard-of")),
            gap=st.sampled_from((0, 0, 1, 5)),
            ticks=st.sampled_from((0, 1, 4, 12)),
            fails=st.sampled_from((False, False, True)),
            listens=st.sampled_from((False, False, True)),
        ),
        max_size=7,
    ).map(tuple),
    eager=st.booleans(),
    places=st.sampled_from((1, 2, 10)),
    interferes=st.sampled_from(("", "", "abort", "discard")),
    after=st.integers(0, 15),
    came=st.sampled_from((0, 1, 2, 3, 5, 100, 100)),
)


class Diary(msgspec.Struct):
    """What happened, in order."""

    lines: list[tuple[str, str]] = []
    """`begin` or `end`, and the call's id."""
    events: list[Event] = []
    results: list[Block] | None = None
    """None = discarded."""
    finished: set[str] = set()
    """Calls that came to their own end."""
    aborted_at: int | None = None
    """So many had been added."""
    kept: bool | None = None
    """At the interference: whether the response must be kept, because of what has started."""
    began_before: frozenset[str] = frozenset()

    @property
    def began(self) -> list[str]:
        return [id_ for word, id_ in self.lines if word == "begin"]


class TimedTool(StageTool):
    def __init__(self, name: str, diary: Diary) -> None:
        super().__init__(name, lambda id_, _: diary.lines.append(("begin", id_)))
        self._diary = diary

    async def run(self, call: dict[str, Any], context: ToolContext) -> Returned:
        try:
            if call.get("listens"):
                self._note_run(context.tool_use_id, self.name)
                await context.abort.wait()
                returned = Returned(content="I heard.")
            else:
                returned = await super().run(call, context)
            self._diary.finished.add(context.tool_use_id)
        finally:
            self._diary.lines.append(("end", context.tool_use_id))
        return returned


def perform(plan: Plan) -> Diary:
    return asyncio.run(_perform(plan))


async def _perform(plan: Plan) -> Diary:
    diary, crew, signal = Diary(), Crew(), AbortSignal()
    executor = build_executor(plan, diary, crew, signal)
    discarded = False
    for number in range(len(plan.calls) + 1):
        if plan.interferes and number == min(plan.came, len(plan.calls)):
            await pass_by(plan.after)
            diary.kept, diary.began_before = executor.has_effects, frozenset(diary.began)
            discarded = plan.interferes == "discard" and not executor.has_effects
            if discarded:
                await executor.discard()
                break
            if plan.interferes == "abort":
                diary.aborted_at = number
                signal.abort()
        if number < len(plan.calls):
            await pass_by(plan.calls[number].gap)
            executor.add(use_of(plan, number))
    if not discarded:
        diary.results = await executor.finish()
    seen = len(diary.lines), len(diary.events)
    await pass_by(30)
    assert (len(diary.lines), len(diary.events)) == seen, "something went on after the end"
    await crew.end()
    return diary


def use_of(plan: Plan, number: int) -> ToolUse:
    call = plan.calls[number]
    listens = call.listens and plan.interferes == "abort"
    input_ = {"ticks": call.ticks, "outcome": "raise" if call.fails else "ok", "listens": listens}
    return ToolUse(id=f"call-{number}", name=call.tool, input=msgspec.Raw(msgspec.json.encode(input_)))


async def pass_by(times: int) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


def build_executor(plan: Plan, diary: Diary, crew: Crew, signal: AbortSignal) -> Executor:
    parts = Stage(Knobs(concurrency=plan.places)).parts
    recorder = Recorder(parts.deps, show=diary.events.append)
    parts.deps.hooks.begin(Turn())
    return Executor(
        deps=parts.deps,
        config=parts.config,
        recorder=recorder,
        gate=Gate(parts.deps, recorder, []),
        signal=signal,
        files=FileStates(),
        tools=tuple(TimedTool(name, diary) for name in TRAITS),
        crew=crew,
        eager=plan.eager,
    )


def waits_for(earlier: Planned, later: Planned) -> bool:
    """Only two calls that are safe beside others may overlap; one that cannot run at all is safe."""
    safe = {name for name, traits in TRAITS.items() if traits.concurrent} | {"Unheard-of"}
    return not (earlier.tool in safe and later.tool in safe)


@given(plans)
@settings(max_examples=2_000, deadline=None)
def test_calls_run_in_their_partition_and_each_has_exactly_one_result_in_order(plan):
    diary = perform(plan)
    ids = [f"call-{number}" for number in range(len(plan.calls))]

    running: set[str] = set()
    for word, id_ in diary.lines:
        running = running | {id_} if word == "begin" else running - {id_}
        assert len(running) <= plan.places
    places = {line: place for place, line in enumerate(diary.lines)}
    for later in range(len(ids)):
        for earlier in range(later):
            both = {ids[earlier], ids[later]} <= set(diary.began)
            if both and waits_for(plan.calls[earlier], plan.calls[later]):
                assert places["end", ids[earlier]] < places["begin", ids[later]]
    assert max(Counter(diary.began).values(), default=0) <= 1
    assert not {id_ for id_ in diary.began if plan.calls[ids.index(id_)].tool in {"Forbidden", "Unheard-of"}}

    assert_progress_is_between_its_ends(diary)
    if diary.kept is not None:
        # What must be kept is known before its effect can be there.
        started = {plan.calls[ids.index(id_)].tool for id_ in diary.began_before}
        assert diary.kept or not started & WITH_EFFECTS

    if diary.results is None:
        assert not {id_ for id_ in diary.began if plan.calls[ids.index(id_)].tool in WITH_EFFECTS}
        return
    views = [block.view for block in diary.results]
    assert [view.tool_use_id for view in views if isinstance(view, ToolResult)] == ids
    ends = [event.tool_use_id for event in diary.events if isinstance(event, CallEnded)]
    assert Counter(ends) == Counter(ids)
    assert {event.tool_use_id for event in diary.events if isinstance(event, CallBegan)} == set(diary.began)
    if diary.aborted_at is not None:
        assert not set(diary.began) - diary.began_before
        for number, call in enumerate(plan.calls):
            if ids[number] in diary.began and call.listens:
                assert not views[number].is_error
        assert all(view.is_error for view in views[diary.aborted_at :])
    else:
        for number, (call, view) in enumerate(zip(plan.calls, views, strict=True)):
            can_run = call.tool not in {"Forbidden", "Unheard-of"}
            assert (ids[number] in diary.began) is can_run
            assert (ids[number] in diary.finished) is (can_run and not call.fails)
            assert view.is_error is (call.fails or not can_run)


def assert_progress_is_between_its_ends(diary: Diary) -> None:
    running: set[str] = set()
    for event in diary.events:
        match event:
            case CallBegan(tool_use_id=id_):
                running.add(id_)
            case CallEnded(tool_use_id=id_):
                running.discard(id_)
            case CallProgressed(tool_use_id=id_):
                assert id_ in running


@given(st.integers(2, 10), st.booleans())
@settings(max_examples=50, deadline=None)
def test_readers_that_fit_into_the_places_all_run_at_once(count, eager):
    diary = perform(Plan(calls=(Planned("Read", ticks=12),) * count, eager=eager))

    assert [word for word, _ in diary.lines] == ["begin"] * count + ["end"] * count
