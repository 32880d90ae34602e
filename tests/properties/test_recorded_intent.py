"""What is shown was recorded first, and the records alone give back the session: whole, or cut at any of them."""

from collections import Counter
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.cases import Case, Knobs, Turn, cases
from tests.properties.claims import find_misplaced, find_violation
from tests.properties.scenes import Break, Say, Scene, Think, Use
from tests.properties.stage import MODEL, Played, Query, play_case, resume

from everturn.core.errors import FaultKind
from everturn.core.events import Continued, ResultEvent, Terminated
from everturn.core.records import QueryBegan, QueryEnded, Record, TransitionTaken
from everturn.core.state import Reason
from everturn.sessions.replay import fold_lines


def intents(records: list[Record]) -> list[tuple[str, int | str]]:
    """The ways to go on and to stop, as the journal has them."""
    found: list[tuple[str, int | str]] = []
    for record in records:
        match record:
            case TransitionTaken(transition=transition, turn=turn):
                found.append((transition, turn))
            case QueryEnded(reason=reason, error=error):
                found.append((reason, error))
    return found


def shown(query: Query) -> list[tuple[str, int | str]]:
    """The same, as the consumer saw them."""
    found: list[tuple[str, int | str]] = []
    for event in query.events:
        match event:
            case Continued(transition=transition, turn=turn):
                found.append((transition, turn))
            case Terminated(reason=reason, problem=problem):
                found.append((reason, problem.text if problem else ""))
    return found


def records_of(played: Played, index: int) -> list[Record]:
    ends = [query.first_record for query in played.queries[1:]] + [len(played.lines)]
    return played.records[played.queries[index].first_record : ends[index]]


def find_faults(resumed: Played) -> list[str]:
    """What is wrong with a session that went on: its request, its calls, its journal."""
    [query] = resumed.queries
    found = [violation.message for asked in query.asked if (violation := find_violation(asked))]
    found += find_misplaced(resumed.transcript) + resumed.mishaps
    replay, warnings = fold_lines("session", resumed.lines)
    if (replay.messages, replay.unsettled) != (resumed.transcript, ()):
        found.append("the journal tells another story")
    if not isinstance(query.events[-1], ResultEvent):
        found.append("there is no result")
    return [*found, *warnings]


@given(cases)
@settings(max_examples=2_000, deadline=None)
def test_transitions_and_reasons_are_the_same_in_events_and_journal_and_a_replay_is_the_session(case):
    played = play_case(case)

    for index, query in enumerate(played.queries):
        recorded = intents(records_of(played, index))
        assert shown(query) == (recorded[: len(shown(query))] if query.closed else recorded)
        assert query.late == []
    replay, warnings = fold_lines("session", played.lines)
    assert warnings == ()
    assert replay.messages == played.transcript
    assert (replay.model or MODEL) == played.model
    assert isclose(replay.usd, played.usd)
    assert replay.unsettled == ()
    assert Counter(type(record) for record in played.records)[QueryBegan] == len(played.queries)


@given(cases, st.floats(0, 1))
@settings(max_examples=2_000, deadline=None)
def test_a_session_cut_at_any_record_goes_on_with_a_valid_request(case, share):
    lines = play_case(case).lines
    cut = max(1, round(share * len(lines)))

    resumed = resume(case.knobs, lines[:cut])

    assert find_faults(resumed) == []


ROUND = Scene(blocks=(Think(), Say(), Use("Read", '{"ticks":2}'), Use("Write", '{"ticks":2}')), stop="tool_use")
TOO_LONG = Scene(breaks=Break(kind=FaultKind.TOO_LONG))
GONE = Scene(breaks=Break(kind=FaultKind.MODEL_NOT_FOUND))
RICH = {
    "tools": Case(turns=(Turn(script=(ROUND, ROUND)), Turn(script=(ROUND,)))),
    "compaction": Case(turns=(Turn(script=(ROUND, ROUND, TOO_LONG, ROUND)), Turn(script=(ROUND, TOO_LONG)))),
    "collapse": Case(turns=(Turn(script=(ROUND, ROUND)), Turn(script=(ROUND, TOO_LONG, ROUND), collapse=(0, 2)))),
    "fallback": Case(turns=(Turn(script=(ROUND, GONE, ROUND)), Turn(script=(ROUND,))), knobs=Knobs(fallbacks=1)),
    "cut answers": Case(turns=(Turn(script=(Scene(blocks=(Say(),), stop="max_tokens"),) * 3, stops=("block",)),)),
    "a picture": Case(turns=(Turn(script=(ROUND, Scene(breaks=Break(kind=FaultKind.MEDIA)), ROUND), picture=True),)),
}


@pytest.mark.parametrize("name", RICH)
def test_a_rich_session_can_be_cut_at_each_of_its_records(name):
    lines = play_case(RICH[name]).lines
    for cut in range(1, len(lines)):
        resumed = resume(RICH[name].knobs, lines[:cut])

        assert find_faults(resumed) == [], f"cut after record {cut}: {lines[cut - 1]!r}"
        assert resumed.queries[0].events[-1].reason is Reason.COMPLETED
