"""What is shown was recorded first, and the records alone give back the session: whole, or cut at any of them."""

from collections import Counter
from math import isclose

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.cases import cases
from tests.properties.claims import find_misplaced, find_violation
from tests.properties.stage import MODEL, Played, Query, play_case, resume

from everturn.core.events import Continued, ResultEvent, Terminated
from everturn.core.records import QueryBegan, QueryEnded, Record, TransitionTaken
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

    [query] = resumed.queries
    assert isinstance(query.events[-1], ResultEvent)
    assert [violation for asked in query.asked if (violation := find_violation(asked))] == []
    assert find_misplaced(resumed.transcript) == []
    replay, _ = fold_lines("session", resumed.lines)
    assert (replay.messages, replay.unsettled) == (resumed.transcript, ())
    assert resumed.mishaps == []
