"""What the properties found once, as small cases that stay."""

import pytest
from tests.properties.cases import Case, Knobs, Point, Turn
from tests.properties.claims import (
    find_ghosts,
    find_loose_calls,
    find_miscounted_ends,
    find_misplaced,
    find_stray_effects,
    find_violation,
)
from tests.properties.scenes import GOOD, Break, Carry, Say, Scene, Think, Use
from tests.properties.stage import FALLBACKS, Played, play_case, resume
from tests.properties.test_stable_prefix import find_breaks

from everturn.core.errors import FaultKind
from everturn.core.events import CallBegan, CallEnded, ResultEvent, Retracted, Terminated
from everturn.core.messages import Kind, Message, Text, result_text
from everturn.core.records import CallIntended, MessageAdded
from everturn.core.state import Reason
from everturn.engine import wording
from everturn.sessions.replay import fold_lines


def faults_of(played: Played) -> list[str]:
    """Everything that is wrong, by all claims."""
    found = [*find_misplaced(played.transcript), *map(repr, find_breaks(played)), *played.mishaps]
    for query in played.queries:
        found += [violation.message for asked in query.asked if (violation := find_violation(asked))]
        found += query.tasks_left + find_ghosts(query)
        if not query.closed:
            found += find_loose_calls(query) + find_miscounted_ends(query)
            found += find_stray_effects(query, played.transcript)
    return found


def play(*scenes: Scene, point: Point | None = None, **knobs: object) -> Played:
    return play_case(Case(turns=(Turn(script=scenes, point=point),), knobs=Knobs(**knobs)))


def texts_of(transcript: tuple[Message, ...]) -> list[str]:
    """The results, in order."""
    return [result_text(result) for message in transcript for result in message.results]


def test_a_call_id_that_the_api_would_not_take_back_is_replaced():
    played = play(Scene(blocks=(Use("Read", id="odd id!"),)))

    assert faults_of(played) == []
    [use] = [use for message in played.transcript for use in message.uses]
    assert use.id.startswith("toolu_id")


@pytest.mark.parametrize("streaming_tools", [True, False])
def test_an_abort_between_an_answer_and_its_calls_still_ends_each_call_once(streaming_tools):
    played = play(Scene(blocks=(Use("Read"),)), point=Point(at="record", nth=4), streaming_tools=streaming_tools)

    assert faults_of(played) == []
    assert played.queries[0].events[-1].reason is Reason.ABORTED_STREAMING


def test_a_writer_that_was_done_when_the_query_was_aborted_keeps_its_result():
    played = play(Scene(blocks=(Use("Write"), Say())), point=Point(at="record", nth=6), pace=3)

    assert faults_of(played) == []
    assert texts_of(played.transcript) == ["Write is done."]


@pytest.mark.parametrize("kind", [FaultKind.SIGNATURE, FaultKind.PAIRING])
def test_what_a_repair_took_out_stays_out_in_the_next_query(kind):
    played = play(Scene(blocks=(Think(), Use("Read", id="toolu_1")), stop="tool_use"), Scene(breaks=Break(kind=kind)))

    assert faults_of(played) == []


def test_a_result_whose_pair_the_api_refused_stays_as_text_so_that_the_user_has_the_last_word():
    played = play(
        Scene(blocks=(Say(), Use("Read", id="toolu_1")), stop="tool_use"), Scene(breaks=Break(kind=FaultKind.PAIRING))
    )

    assert faults_of(played) == []
    last = played.queries[0].asked[-1].request.messages[-1]
    assert [block.view for block in last.blocks] == [Text(wording.unpaired_result("Read is done." * 60))]


def test_a_fallback_outlives_an_abort_in_the_same_call():
    gone = Scene(breaks=Break(kind=FaultKind.MODEL_NOT_FOUND))
    played = play(gone, GOOD, point=Point(at="stream", nth=1), fallbacks=1, pace=1)

    assert played.queries[0].events[-1].reason is Reason.ABORTED_STREAMING
    assert played.model == FALLBACKS[0] == fold_lines("session", played.lines)[0].model


def test_a_fallback_outlives_a_consumer_who_leaves():
    gone = Scene(breaks=Break(kind=FaultKind.MODEL_NOT_FOUND))
    played = play(gone, GOOD, point=Point(at="event", nth=4, do="close"), fallbacks=1)

    assert played.queries[0].closed
    assert played.model == FALLBACKS[0] == fold_lines("session", played.lines)[0].model


def test_a_refusal_takes_the_readers_that_it_started_with_it():
    played = play(Scene(blocks=(Use("Read", '{"ticks":40}'), Say()), stop="refusal"), pace=1)

    assert faults_of(played) == []
    [query, _] = played.queries
    assert [type(event) for event in query.events if isinstance(event, CallBegan | CallEnded | Retracted)] == [
        CallBegan,
        Retracted,
    ]


@pytest.mark.parametrize("doubtful", ["", '{"ticks":1'])
def test_a_call_without_readable_input_keeps_its_place_before_the_next(doubtful):
    played = play(Scene(blocks=(Use("Write", doubtful), Use("Post")), stop="tool_use"))

    assert faults_of(played) == []


def test_a_doubtful_call_before_a_writer_is_kept_with_it_when_the_stream_breaks():
    broken = Break(12, FaultKind.SERVER)
    played = play(Scene(blocks=(Use("Read", "[]"), Use("Write"), Say()), breaks=broken), pace=3)

    assert faults_of(played) == []
    assert played.queries[0].runs == [("toolu_2", "Write")]


@pytest.mark.parametrize("said", ["Well: \n", "Well:"])
def test_a_pause_in_a_text_is_followed_by_a_valid_request(said):
    paused = Scene(blocks=(Carry("server_tool_use"), Say(said), Think()), stop="pause_turn")

    assert faults_of(play(paused, paused, GOOD)) == []


def test_a_resumed_session_answers_open_calls_in_their_order():
    played = play(Scene(blocks=(Use("Read", '{"ticks":40}'), Use("Write"), Use("Write")), stop="tool_use"))
    at = next(n for n, record in enumerate(played.records) if isinstance(record, CallIntended))

    resumed = resume(Knobs(), played.lines[: at + 1])

    assert find_misplaced(resumed.transcript) == []
    interrupted = wording.tool_error(wording.CALL_INTERRUPTED)
    assert texts_of(resumed.transcript) == [interrupted, wording.unknown_outcome("Write", "{}"), interrupted]


def test_a_writer_that_ran_when_the_consumer_left_is_told_of_and_settled():
    scene = Scene(blocks=(Use("Write", '{"ticks":40}'), Say(), Say(), Say()))
    played = play(scene, point=Point(at="event", nth=9, do="close"), pace=3)

    assert played.queries[0].runs == [("toolu_1", "Write")]
    told = [message.text for message in played.transcript if message.kind is Kind.HIDDEN]
    assert told == [wording.lost_call("Write", '{"ticks":40}')]
    assert fold_lines("session", played.lines)[0].unsettled == ()


def test_a_session_that_was_cut_between_a_boundary_and_its_summary_sends_all_that_came_before():
    asks, too_long = Scene(blocks=(Use("Read"),)), Scene(breaks=Break(kind=FaultKind.TOO_LONG))
    played = play(asks, asks, too_long)
    kinds = [record.kind if isinstance(record, MessageAdded) else None for record in played.records]

    resumed = resume(Knobs(), played.lines[: kinds.index(Kind.BOUNDARY) + 1])

    [asked] = resumed.queries[0].asked
    assert [wire.role for wire in asked.request.messages] == ["user", "assistant", "user", "assistant", "user"]


def test_a_summary_that_is_still_under_way_says_nothing_after_the_terminal():
    asks = Scene(blocks=(Use("Read"),), stop="tool_use")
    played = play(asks, asks, summaries=True, max_turns=2)

    events = played.queries[0].events
    assert [type(event) for event in events[-2:]] == [Terminated, ResultEvent]
    assert events[-1].reason is Reason.MAX_TURNS
