"""Collapses: what may be replaced, when, and how it comes back."""

import asyncio

import msgspec
import pytest
from tests.context.transcripts import ScriptedAsk, answer, prompt, round_of, situation

from everturn.context.collapse import CollapseStore
from everturn.context.pipeline import ContextPipeline
from everturn.core.errors import OptionError
from everturn.core.messages import Kind, Message, text_block
from everturn.core.records import CollapseNoted
from everturn.ports.context import Change, Pipeline, Prepared
from everturn.testing import CountingIds

VIEW = (
    prompt("p1"),
    *round_of(1, size=1_500),
    *round_of(2, size=1_500),
    answer("a3", "Found it."),
    prompt("p2"),
    *round_of(4, size=1_500),
    answer("a5", "Done."),
)


@pytest.fixture
def pipeline():
    made = ContextPipeline(ids=CountingIds("c"))
    checked: Pipeline = made
    assert checked.staged == 0
    return made


def summary(id_, text):
    return Message(id=id_, role="user", kind=Kind.SUMMARY, blocks=(text_block(text),))


def ids(messages):
    return [message.id for message in messages]


def test_a_drain_replaces_whole_rounds_by_their_summary(pipeline):
    first = pipeline.collapses.stage("a1", "r2", "Looked at two files.")

    drained = pipeline.drain(VIEW)

    view = (VIEW[0], summary(first, "Looked at two files."), *VIEW[5:])
    before, after = (sum(message.tokens for message in messages) for messages in (VIEW, view))
    assert drained == Prepared(
        messages=view,
        collapses=(CollapseNoted(id=first, first="a1", last="r2", summary="Looked at two files.", state="committed"),),
        changes=(Change(stage="collapse", cause="too_long", tokens_before=before, tokens_after=after),),
        change_points=(VIEW[7].blocks[-1], VIEW[8].blocks[-1]),
        tokens=after,
    )
    assert pipeline.staged == 0


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("a1", "a2"),  # parts a use from its result
        ("r1", "a3"),  # begins in the middle of a round
        ("a3", "r4"),  # holds the last prompt
        ("p2", "r4"),  # the same
        ("a5", "a5"),  # the last round may not be finished
        ("a2", "r1"),  # runs backwards
        ("gone", "r1"),
        ("a1", "gone"),
    ],
)
def test_a_stretch_that_is_not_whole_stays_staged_and_does_not_count(pipeline, first, last):
    pipeline.collapses.stage(first, last, "short")

    drained = pipeline.drain(VIEW)

    assert (drained.messages, drained.collapses, drained.changes, pipeline.staged) == (VIEW, (), (), 1)


def test_a_stretch_with_an_open_call_is_not_replaced(pipeline):
    view = (prompt("p"), answer("a1", "x" * 600, ["t"]), prompt("q"), answer("a2"))
    pipeline.collapses.stage("a1", "a1", "short")
    assert pipeline.drain(view).messages == view


def test_a_summary_that_is_longer_than_its_stretch_is_not_committed(pipeline):
    pipeline.collapses.stage("a3", "a3", "very long " * 100)
    assert pipeline.drain(VIEW).collapses == ()


def test_an_empty_summary_is_refused(pipeline):
    with pytest.raises(OptionError, match="summary"):
        pipeline.collapses.stage("a1", "r1", "  ")


async def test_above_the_soft_limit_they_are_committed_one_at_a_time_oldest_first(pipeline):
    older = pipeline.collapses.stage("a1", "r1", "One.")
    newer = pipeline.collapses.stage("a2", "r2", "Two.")
    total = sum(message.tokens for message in VIEW)
    room = situation(window=total - 100, collapse_share=1.0, auto_compact=False)

    prepared = await pipeline.prepare(VIEW, room, ScriptedAsk())

    assert ids(prepared.messages) == ["p1", older, "a2", "r2", "a3", "p2", "a4", "r4", "a5"]
    assert [(note.id, note.state) for note in prepared.collapses] == [(newer, "staged"), (older, "committed")]
    assert [change.cause for change in prepared.changes] == ["soft_limit"]


CROWDED = {
    "window": 5_000,
    "clear_share": 0,
    "clear_gain": 0,
    "clear_keeps": 1,
    "collapse_share": 1,
    "auto_compact": False,
}


async def test_where_results_are_cleared_all_that_waits_is_committed_in_the_same_break(pipeline):
    older = pipeline.collapses.stage("a1", "r1", "One.")
    newer = pipeline.collapses.stage("a2", "r2", "Two.")

    prepared = await pipeline.prepare(VIEW, situation(**CROWDED), ScriptedAsk())

    assert ids(prepared.messages) == ["p1", older, newer, "a3", "p2", "a4", "r4", "a5"]
    assert [(change.stage, change.cause) for change in prepared.changes] == [
        ("microcompact", "stale"),
        ("collapse", "in_passing"),
    ]
    assert prepared.only_cleared


async def test_a_cold_cache_is_broken_anyway_unless_there_is_room(pipeline):
    id_ = pipeline.collapses.stage("a1", "r2", "Looked.")
    chosen = CROWDED | {"clear_gain": 1}
    warm = await pipeline.prepare(VIEW, situation(**chosen), ScriptedAsk())
    roomy = await pipeline.prepare(VIEW, situation(**chosen | {"clear_share": 1}, is_cold=True), ScriptedAsk())
    assert (warm.messages, roomy.messages) == (VIEW, VIEW)
    cold = await pipeline.prepare(VIEW, situation(**chosen, is_cold=True), ScriptedAsk())
    assert ids(cold.messages) == ["p1", id_, "a3", "p2", "a4", "r4", "a5"]


async def test_in_passing_nothing_that_is_in_use_is_touched(pipeline):
    pipeline.collapses.stage("a2", "r2", "Two.")
    chosen = CROWDED | {"clear_keeps": 2, "clear_kept": 1, "clear_worth": 0}
    prepared = await pipeline.prepare(VIEW, situation(**chosen), ScriptedAsk())
    assert ([change.stage for change in prepared.changes], ids(prepared.messages)) == (["microcompact"], ids(VIEW))


async def test_below_the_soft_limit_nothing_is_committed_but_the_staging_is_told_once(pipeline):
    pipeline.collapses.stage("a1", "r1", "One.")
    first = await pipeline.prepare(VIEW, situation(), ScriptedAsk())
    second = await pipeline.prepare(first.messages, situation(), ScriptedAsk())
    assert (first.messages, first.changes, [note.state for note in first.collapses]) == (VIEW, (), ["staged"])
    assert second.collapses == ()


async def test_a_drain_does_not_swallow_the_news_of_what_stays_staged(pipeline):
    pipeline.collapses.stage("a1", "a2", "cannot be committed")
    assert pipeline.drain(VIEW).collapses == ()
    prepared = await pipeline.prepare(VIEW, situation(), ScriptedAsk())
    assert [note.state for note in prepared.collapses] == ["staged"]


async def test_the_whole_history_and_the_view_of_last_time_project_to_the_same(pipeline):
    pipeline.collapses.stage("a1", "r2", "Looked.")
    sent = pipeline.drain(VIEW).messages
    later = (*round_of(6), answer("a7"))
    whole = await pipeline.prepare((*VIEW, *later), situation(), ScriptedAsk())
    carried = await pipeline.prepare((*sent, *later), situation(), ScriptedAsk())
    assert whole.messages == carried.messages == (*sent, *later)
    assert whole.changes == ()


async def test_an_undone_collapse_gives_the_messages_back(pipeline):
    inner = pipeline.collapses.stage("a1", "r1", "One.")
    outer = pipeline.collapses.stage("p1", "r2", "Both.")
    sent = pipeline.drain(VIEW).messages
    assert ids(sent)[:2] == [outer, "a3"]

    assert pipeline.collapses.undo(outer)
    assert ids((await pipeline.prepare(sent, situation(), ScriptedAsk())).messages)[:3] == ["p1", inner, "a2"]
    assert pipeline.collapses.undo(inner)
    assert (await pipeline.prepare(sent, situation(), ScriptedAsk())).messages == VIEW
    assert not pipeline.collapses.undo(inner)
    assert not pipeline.collapses.undo("unknown")


async def test_a_restored_store_projects_what_was_committed(pipeline):
    pipeline.collapses.stage("a1", "r1", "One.")
    notes = pipeline.drain(VIEW).collapses
    staged = msgspec.structs.replace(notes[0], id="c-9", first="a2", last="r2", state="staged")
    again = ContextPipeline(ids=CountingIds(), collapses=CollapseStore(CountingIds()))
    again.restore((*notes, staged))

    prepared = await again.prepare(VIEW, situation(), ScriptedAsk())

    assert (ids(prepared.messages)[:3], prepared.collapses, again.staged) == (["p1", notes[0].id, "a2"], (), 1)


def test_a_stretch_of_several_prompts_may_go_but_not_the_last(pipeline):
    view = (prompt("p1"), answer("a1", "x" * 900), prompt("p2"), answer("a2"), prompt("p3"), answer("a3"))
    pipeline.collapses.stage("p1", "a2", "Two questions.")
    assert ids(pipeline.drain(view).messages) == ["c-1", "p3", "a3"]


async def test_a_preparation_that_is_cut_short_is_told_by_the_next_one(pipeline):
    older = pipeline.collapses.stage("a1", "r1", "One.")
    newer = pipeline.collapses.stage("a2", "a2", "cannot be committed")
    small = situation(window=200, compact_share=0.5, collapse_share=0.5)

    class Cut:
        async def ask(self, question):
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await pipeline.prepare(VIEW, small, Cut())
    prepared = await pipeline.prepare(VIEW, small, ScriptedAsk())

    assert {note.id: note.state for note in prepared.collapses} == {older: "committed", newer: "staged"}
    assert [change.stage for change in prepared.changes] == ["collapse", "compact"]


async def test_undoing_what_was_sent_is_a_change_and_the_old_count_no_longer_holds(pipeline):
    id_ = pipeline.collapses.stage("a1", "r2", "Looked.")
    sent = pipeline.drain(VIEW).messages
    pipeline.collapses.undo(id_)

    prepared = await pipeline.prepare(sent, situation(meter=(10, len(sent))), ScriptedAsk())

    whole = sum(message.tokens for message in VIEW)
    assert prepared.tokens == whole
    assert [(change.stage, change.cause, change.tokens_after) for change in prepared.changes] == [
        ("collapse", "undone", whole)
    ]
