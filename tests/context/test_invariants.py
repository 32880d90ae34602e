"""What holds after any stage, whatever was said before."""

import asyncio

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.context.transcripts import (
    ScriptedAsk,
    answer,
    called,
    note,
    parted_pairs,
    prompt,
    round_of,
    situation,
    transcripts,
)

from everturn.context.accounting import estimate_messages
from everturn.context.fact_tracker import FactTracker
from everturn.context.pipeline import ContextPipeline
from everturn.context.rounds import last_prompt, round_starts
from everturn.context.view_index import ViewIndex
from everturn.core.commands import SENT_MEANWHILE
from everturn.core.denials import DENIED
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.messages import Kind, Thinking, result_text
from everturn.core.notes import Notes
from everturn.core.transcript import Abilities, normalise, view_of
from everturn.core.view import View
from everturn.testing import CountingIds

SLACK = 200
"""A line is estimated before it is written."""
WINDOWS = st.sampled_from([300, 1_000, 3_000, 10_000, 50_000])


@st.composite
def staged(draw, pipeline, talk):
    """Collapses over random stretches: some of whole rounds, some that cut through everything."""
    starts = round_starts(talk)
    for _ in range(draw(st.integers(0, 4))):
        if len(starts) > 1 and draw(st.booleans()):
            first, end = sorted(draw(st.lists(st.sampled_from(starts), min_size=2, max_size=2, unique=True)))
            stretch = talk[first].id, talk[end - 1].id
        else:
            stretch = draw(st.sampled_from(talk)).id, draw(st.sampled_from(talk)).id
        pipeline.collapses.stage(*stretch, "s" * draw(st.sampled_from([3, 300])))


def check_view(view, talk):
    assert parted_pairs(view) == set()
    sent = normalise(view, Abilities(model="m"))
    assert [wire.role for wire in sent] == ["user", "assistant"] * (len(sent) // 2) + ["user"] * (len(sent) % 2)
    assert talk[last_prompt(talk)] in view


LIMITS = st.fixed_dictionaries(
    {
        "snip_tokens": st.sampled_from([0, 0, 200, 2_000]),
        "clear_share": st.sampled_from([0.0, 0.5]),
        "clear_gain": st.sampled_from([0.0, 0.1]),
        "clear_worth": st.sampled_from([0.0, 0.5]),
        "clear_keeps": st.sampled_from([0, 1, 8]),
        "clear_kept": st.sampled_from([0.0, 0.08, 1.0]),
        "is_cold": st.booleans(),
        "auto_compact": st.booleans(),
    }
)


def resumed(pipeline, talk, prepared):
    """Another process that knows only what the first one recorded."""
    again = ContextPipeline(ids=CountingIds("r"))
    cleared = prepared.cleared.lines if prepared.cleared else {}
    told = {note.id: note for note in prepared.collapses}
    transcript = (*talk, *prepared.added)
    again.restore(tuple(told.values()), cleared=cleared, messages=transcript, facts=prepared.facts)
    return again.project(view_of(transcript))


def sight_of(messages):
    sight = ViewIndex()
    sight.follow(View(messages))
    return sight


def thoughts_in_progress(messages):
    """Of the trajectory that the last prompt began."""
    begin = last_prompt(messages) or 0
    return [block.raw for message in messages[begin:] for block in message.blocks if isinstance(block.view, Thinking)]


@given(transcripts(), st.data(), WINDOWS, LIMITS)
@settings(max_examples=300, deadline=None)
def test_no_stage_breaks_what_is_sent_and_the_transcript_tells_the_same(talk, data, window, limits):
    pipeline = ContextPipeline(ids=CountingIds("n"))
    data.draw(staged(pipeline, talk))
    room = situation(window=window, fixed=data.draw(st.sampled_from([0, 200])), **limits)

    first = asyncio.run(pipeline.prepare(talk, room, ScriptedAsk("Short.")))
    check_view(first.messages, talk)
    assert resumed(pipeline, talk, first) == first.messages
    again = asyncio.run(
        pipeline.prepare(first.messages, msgspec.structs.replace(room, tracking=first.tracking), ScriptedAsk("Short."))
    )
    assert (again.messages, again.added, again.collapses, again.cleared, again.changes) == (
        first.messages,
        (),
        (),
        None,
        (),
    )
    assert pipeline.project(view_of((*talk, *first.added))) == first.messages
    assert bool(first.changes) == (first.messages != talk)
    sent, received = thoughts_in_progress(first.messages), thoughts_in_progress(talk)
    assert sent == (received[len(received) - len(sent) :] if first.compacted else received)


@given(transcripts(max_acts=20), WINDOWS, LIMITS)
@settings(max_examples=200, deadline=None)
def test_a_warm_cache_is_broken_only_for_what_is_worth_it_and_never_for_the_latest_results(talk, window, limits):
    pipeline = ContextPipeline(ids=CountingIds("n"))
    room = situation(window=window, **limits | {"snip_tokens": 0, "auto_compact": False, "is_cold": False})
    prepared = asyncio.run(pipeline.prepare(talk, room, ScriptedAsk()))
    if prepared.cleared is None:
        return
    view = prepared.messages
    first = next(at for at, message in enumerate(view) if message != talk[at])
    freed = estimate_messages(talk) - estimate_messages(view)
    assert freed >= max(limits["clear_worth"] * estimate_messages(view[first:]), limits["clear_gain"] * window) - SLACK
    shown = [each.use.id for each in sight_of(talk).shown]
    latest = shown[len(shown) - -(-limits["clear_keeps"] // 2) :] if limits["clear_keeps"] else []
    assert prepared.cleared.lines.keys().isdisjoint(latest)


@given(transcripts(), WINDOWS, st.sampled_from(["too_long", "manual"]))
@settings(max_examples=100, deadline=None)
def test_the_view_after_a_compaction_is_the_view_of_the_transcript(talk, window, cause):
    pipeline = ContextPipeline(ids=CountingIds("n"))
    prepared = asyncio.run(pipeline.compact(talk, situation(window=window), ScriptedAsk("Short."), cause=cause))
    assert prepared.messages == view_of((*talk, *prepared.added))
    assert prepared.compacted == bool(prepared.added)
    check_view(prepared.messages, talk)


@given(transcripts(), WINDOWS, st.sampled_from([FaultKind.TOO_LONG, FaultKind.SERVER]))
@settings(max_examples=200, deadline=None)
def test_a_refusal_that_nobody_can_sum_up_is_met_by_lighter_means_that_a_resumed_session_knows(talk, window, kind):
    pipeline, ask = ContextPipeline(ids=CountingIds("n")), ScriptedAsk(ModelFault(kind, "no"))
    prepared = asyncio.run(pipeline.compact(talk, situation(window=window), ask, cause="too_long"))
    check_view(prepared.messages, talk)
    assert resumed(pipeline, talk, prepared) == prepared.messages
    assert prepared.compacted == bool(prepared.changes)
    assert prepared.tracking.failures == 1


@given(transcripts(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_drain_breaks_nothing_and_can_be_undone(talk, data):
    pipeline = ContextPipeline(ids=CountingIds("n"))
    data.draw(staged(pipeline, talk))
    drained = pipeline.drain(talk)
    check_view(drained.messages, talk)
    assert pipeline.drain(drained.messages).collapses == ()
    for collapse in pipeline.collapses.committed:
        pipeline.collapses.undo(collapse.id)
    assert pipeline.collapses.project(drained.messages) == talk


@given(transcripts())
@settings(max_examples=100, deadline=None)
def test_cutting_where_a_round_starts_parts_no_pair(talk):
    for start in round_starts(talk):
        assert parted_pairs(talk[start:]) == set()


TELLING = ["prompt", "meanwhile", "change", "fail", "pass", "question", "refusal", "task", "search", "say"]
MEANS = st.one_of(
    st.tuples(st.just("snip"), st.sampled_from([100, 1_000, 3_000])),
    st.tuples(st.just("drain"), st.tuples(st.integers(0, 30), st.integers(0, 30))),
    st.tuples(st.just("compact"), st.sampled_from(["auto", "manual", "too_long"])),
    st.tuples(st.just("clear"), st.none()),
    st.tuples(st.just("resume"), st.none()),
)
STEPS = st.lists(
    st.tuples(st.lists(st.sampled_from(TELLING), min_size=1, max_size=4), st.booleans(), MEANS), min_size=2, max_size=6
)
"""Something is said and done, perhaps the next prompt comes, and the conversation is made smaller."""


def tell(kind, number):
    """One act of a talk, with words that stand nowhere else."""
    word = f"needle-{kind}-{number}"
    match kind:
        case "prompt":
            return (prompt(f"p{number}", f"{word} " * 30), answer(f"z{number}", "Yes. " * 100))
        case "meanwhile":
            return (*round_of(number, size=600), note(f"n{number}", Kind.ATTACHMENT, f"{SENT_MEANWHILE} {word}"))
        case "change":
            return called(number, "Edit", {"file_path": f"/p/{word}.py", "new_string": "x" * 300})
        case "fail":
            return called(number, "Bash", {"command": f"run {number % 3}"}, f"{word} " + "x" * 300, is_error=True)
        case "pass":
            return called(number, "Bash", {"command": f"run {number % 3}"}, "x" * 900)
        case "question":
            return called(number, "AskUserQuestion", {"q": "x" * 300}, word)
        case "refusal":
            return called(number, "ExitPlanMode", {"plan": "x" * 300}, f"{DENIED} {word}", is_error=True)
        case "task":
            return called(number, "TodoWrite", {"todos": [], "pad": "x" * 300})
        case "search":
            return called(number, "Grep", {"pattern": "x"}, "x" * 3_000)
    return (answer(f"z{number}", "Some words. " * 60), note(f"h{number}", Kind.HIDDEN))


class Session:
    """What the engine does with a pipeline: a transcript that stays whole, and a view that is carried on."""

    def __init__(self, notes):
        self.transcript = [prompt("p", "needle-first")]
        self.view = tuple(self.transcript)
        self.pipeline = ContextPipeline(ids=CountingIds("n"))
        self._notes = notes
        self._told = {}
        self._cleared = {}
        self._facts = None
        self._count = 0

    def take(self, step, how):
        match step:
            case "talk":
                for kind in how:
                    self._count += 1
                    said = tell(kind, self._count)
                    self.transcript += said
                    self.view = (*self.view, *said)
            case "drain":
                first, last = (self.transcript[min(at, len(self.transcript) - 1)].id for at in sorted(how))
                self.pipeline.collapses.stage(first, last, "In short.")
                self._keep(self.pipeline.drain(self.view))
            case "compact":
                self._keep(
                    asyncio.run(self.pipeline.compact(self.view, self._room(), ScriptedAsk("Short."), cause=how))
                )
            case "snip":
                self._prepare(snip_tokens=how)
            case "clear":
                self._prepare(clear_share=0, clear_gain=0, clear_worth=0, clear_keeps=0)
            case "resume":
                self.pipeline = ContextPipeline(ids=CountingIds(f"r{len(self.transcript)}"))
                notes = tuple(self._told.values())
                self.pipeline.restore(notes, cleared=self._cleared, messages=self.transcript, facts=self._facts)
                self.view = tuple(self.pipeline.project(view_of(self.transcript)))

    def _room(self, **limits):
        return situation(notes=self._notes, collapse_share=1, **{"clear_share": 1, **limits})

    def _prepare(self, **limits):
        self._keep(asyncio.run(self.pipeline.prepare(self.view, self._room(**limits), ScriptedAsk("Short."))))

    def _keep(self, prepared):
        self.transcript += prepared.added
        self.view = tuple(prepared.messages)
        self._told |= {note.id: note for note in prepared.collapses}
        self._cleared |= prepared.cleared.lines if prepared.cleared else {}
        self._facts = prepared.facts or self._facts


@given(STEPS)
@settings(max_examples=250, deadline=None)
def test_whatever_the_stages_do_and_in_whatever_order_no_fact_is_out_of_sight(steps):
    notes = Notes(pins=("needle-pin",))
    session = Session(notes)
    for kinds, ends, means in steps:
        session.take("talk", [*kinds, "prompt"] if ends else kinds)
        session.take(*means)
    known = FactTracker()
    known.take(session.transcript)
    facts = known.facts
    seen = "\n".join(
        part
        for message in session.view
        for part in (
            message.text,
            *map(result_text, message.results),
            *(bytes(use.input).decode() for use in message.uses),
        )
    )
    must = [*(said.text for said in (*facts.words, *facts.answers)), *facts.changed_files]
    must += [words for each in facts.failing for words in (each.command, each.error)]
    must.append(session.transcript[last_prompt(session.transcript)].text)
    assert [words for words in must if words not in seen] == []
