"""Stage four: which results go stale, and what stands for them."""

import asyncio

from tests.context.transcripts import ScriptedAsk, answer, called, prompt, situation

from everturn.context.clear import LINE, WIDE, least_gain, plan_clearing, plan_forced_clearing
from everturn.context.pipeline import ContextPipeline
from everturn.context.view_index import ViewIndex
from everturn.core.messages import result_block, result_text
from everturn.core.records import ResultsCleared
from everturn.core.view import View
from everturn.ports.context import Change
from everturn.testing import CountingIds

LONG = "x" * 3_000
SEEN = answer("seen", "I see.")
"""All results before it were in a request."""


def reads(count, name="Read", first=0):
    return [part for n in range(first, first + count) for part in called(n, name, {"file_path": f"/p/{n}.py"}, LONG)]


def prepare(talk, made=None, **limits):
    chosen = {"window": 10_000, "clear_keeps": 2, "clear_kept": 1, "auto_compact": False, **limits}
    return asyncio.run(
        (made or ContextPipeline(ids=CountingIds("n"))).prepare(talk, situation(**chosen), ScriptedAsk())
    )


def texts(messages):
    return [result_text(result) for message in messages for result in message.results]


def test_all_but_the_latest_give_way_to_a_line_at_once():
    talk = (prompt("p"), *reads(8), SEEN)
    tokens = talk[2].blocks[0].tokens

    prepared = prepare(talk, clear_share=0.1)

    line = LINE.format(tokens=tokens)
    assert texts(prepared.messages) == [line] * 6 + [LONG, LONG]
    assert prepared.cleared == ResultsCleared(lines={f"t{n}": line for n in range(6)})
    before = sum(message.tokens for message in talk)
    after = before - 6 * (tokens - result_block("t0", line).tokens)
    assert prepared.changes == (Change(stage="microcompact", cause="stale", tokens_before=before, tokens_after=after),)
    assert [message.id for message in prepared.messages] == [message.id for message in talk]


def test_it_is_done_in_batches_and_a_call_is_never_decided_twice():
    made, talk = ContextPipeline(ids=CountingIds("n")), (prompt("p"), *reads(8))
    first = prepare(talk, made)
    view = first.messages
    batches = []
    for n in range(100, 130):
        for message in called(n, "Read", {"file_path": f"/p/{n}.py"}, LONG):
            view = view.plus(message)
        prepared = prepare(view, made)
        view = prepared.messages
        if prepared.cleared:
            batches.append(set(prepared.cleared.lines))
    assert 1 < len(batches) <= 15
    assert sum(map(len, batches)) == len(set.union(*batches))


def test_below_the_share_or_for_a_small_gain_nothing_is_cleared():
    assert prepare((prompt("p"), *reads(8)), window=100_000).cleared is None
    assert prepare((prompt("p"), *reads(8)), clear_gain=0.9).cleared is None
    assert prepare((prompt("p"), *reads(2)), window=3_000).cleared is None


def test_what_cannot_be_run_again_and_what_must_stay_is_left_alone():
    kept = [*called(90, "Edit", {"file_path": "/p/a"}, LONG), *called(91, "AskUserQuestion", {}, LONG)]
    failed = called(92, "Bash", {"command": "make"}, LONG, is_error=True)
    talk = (prompt("p"), *kept, *failed, *reads(8), SEEN)

    prepared = prepare(talk, clear_share=0.1)

    assert set(prepared.cleared.lines) == {f"t{n}" for n in range(6)}


def test_the_latest_stay_as_far_as_there_is_room_for_them_but_half_of_them_always():
    talk = (prompt("p"), *reads(8), SEEN)
    assert len(prepare(talk, clear_share=0.1, clear_keeps=4, clear_kept=0.32).cleared.lines) == 5
    assert len(prepare(talk, clear_share=0.1, clear_keeps=4, clear_kept=0).cleared.lines) == 6
    assert len(prepare(talk, clear_share=0.1, clear_keeps=3, clear_kept=0).cleared.lines) == 6


def test_of_as_many_before_the_latest_the_small_ones_stay():
    talk = (
        prompt("p"),
        *reads(9),
        *called(50, "Read", {"file_path": "/p/s.py"}, "x" * 2_000),
        *reads(3, first=60),
        SEEN,
    )
    chosen = {"clear_share": 0.01, "clear_gain": 0.01, "window": 60_000}
    for keeps, cleared in ((1, [*range(9), 50, 60, 61]), (2, [*range(9), 60])):
        assert list(prepare(talk, **chosen, clear_keeps=keeps).cleared.lines) == [f"t{n}" for n in cleared]


def test_it_stops_where_enough_is_freed_and_the_newest_stay_longest():
    talk = (prompt("p"), *reads(8), SEEN)
    for share, cleared in ((0.75, 1), (0.6, 3), (0.3, 6)):
        prepared = prepare(talk, clear_share=share, clear_gain=0, clear_worth=0)
        assert list(prepared.cleared.lines) == [f"t{n}" for n in range(cleared)]
        assert cleared == 6 or prepared.tokens <= share * 10_000
    assert list(prepare(talk, clear_share=0.7, clear_gain=0.25, clear_worth=0).cleared.lines) == ["t0", "t1", "t2"]


def test_what_no_request_has_carried_is_never_stale_and_is_beside_those_that_stay():
    talk = (prompt("p"), *reads(8))
    assert list(prepare(talk, clear_share=0.1).cleared.lines) == [f"t{n}" for n in range(5)]
    assert prepare((prompt("p"), *reads(1)), clear_keeps=0, clear_share=0, clear_gain=0, is_cold=True).cleared is None


def test_it_must_be_worth_what_stands_behind_it():
    behind = [part for n in range(50, 60) for part in called(n, "Edit", {"file_path": "/p/e"}, LONG)]
    talk = (prompt("p"), *reads(8), *behind)
    chosen = {"window": 20_000, "clear_share": 0.1, "clear_gain": 0}
    assert prepare(talk, **chosen, clear_worth=0.6).cleared is None
    assert len(prepare(talk, **chosen, clear_worth=0.4).cleared.lines) == 6


def test_while_the_cache_is_cold_any_gain_is_worth_it_but_not_while_there_is_room():
    talk = (prompt("p"), *reads(4), SEEN)
    assert prepare(talk, clear_gain=0.9).cleared is None
    assert set(prepare(talk, clear_gain=0.9, is_cold=True).cleared.lines) == {"t0", "t1"}
    assert prepare(talk, window=100_000, is_cold=True).cleared is None


def test_after_a_refusal_a_result_that_fills_a_quarter_of_the_window_goes_even_if_it_is_the_latest():
    sight = ViewIndex()
    view = View((prompt("p"), *called(1, "Read", {"file_path": "/p/1.py"}, "x" * 9_000)))
    sight.follow(view)
    assert plan_forced_clearing(sight, situation(window=10_000), held=()) == {}
    sight.follow(view.plus(SEEN))
    room = situation(window=10_000)
    assert plan_clearing(sight, 5_000, room, held=()) == {}
    assert set(plan_forced_clearing(sight, room, held=())) == {"t1"}
    assert plan_forced_clearing(sight, room, held=("t1",)) == {}


def test_in_a_very_wide_window_no_more_need_be_freed_at_once_than_in_a_wide_one():
    assert least_gain(situation(window=100_000, clear_gain=0.5)) == 50_000
    assert least_gain(situation(window=1_000_000, clear_gain=0.5)) == 0.5 * WIDE
