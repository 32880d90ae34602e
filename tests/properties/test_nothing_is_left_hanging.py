"""Whatever the model does and wherever somebody interferes: every call is answered once, and the next request is valid."""

from hypothesis import given, settings
from tests.properties.cases import cases
from tests.properties.claims import (
    find_ghosts,
    find_loose_calls,
    find_miscounted_ends,
    find_misplaced,
    find_stray_effects,
    find_violation,
)
from tests.properties.stage import play_case


@given(cases)
@settings(max_examples=2_000, deadline=None)
def test_every_call_is_answered_once_and_every_request_is_valid(case):
    played = play_case(case)

    assert find_misplaced(played.transcript) == []
    assert [
        violation for query in played.queries for asked in query.asked if (violation := find_violation(asked))
    ] == []
    assert played.mishaps == []
    for query in played.queries:
        assert query.tasks_left == []
        assert find_ghosts(query) == []
        if not query.closed:
            assert find_loose_calls(query) == []
            assert find_miscounted_ends(query) == []
            assert find_stray_effects(query, played.transcript) == []
