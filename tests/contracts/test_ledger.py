"""What every ledger promises, whether it is a session's own or a child of another's."""

import pytest

from everturn.core.budget import Usage
from everturn.core.events import ModelUsage
from everturn.core.limits import Limits
from everturn.core.state import Reason
from everturn.ports.ledger import Allowance, Ledger
from everturn.sessions.ledger import SessionLedger


def own() -> Ledger:
    return SessionLedger()


def child() -> Ledger:
    parent = SessionLedger()
    parent.begin_query(Limits(), 0.0)
    return parent.child("agent:one", Allowance(usd=100.0))


def grandchild() -> Ledger:
    return child().child("agent:two")


def closed_child() -> Ledger:
    made = child()
    made.close()
    return made


@pytest.fixture(params=[own, child, grandchild, closed_child], ids=lambda make: make.__name__)
def ledger(request) -> Ledger:
    return request.param()


def reason(ledger, elapsed_s=0.0):
    tripped = ledger.tripped(elapsed_s)
    return tripped and tripped[0]


def test_totals_are_of_the_session_and_usage_is_of_the_query(ledger):
    ledger.begin_query(Limits(), 0.0)
    ledger.charge("main", "a", Usage(input=10, output=2), 0.5)
    ledger.charge("summary", "b", Usage(input=100, output=50), 0.25)
    ledger.begin_query(Limits(), 0.0)
    ledger.charge("main", "a", Usage(output=3), 0.25)

    assert ledger.session_usd == 1.0
    assert (ledger.query_usage, ledger.query_output) == (Usage(output=3), 3)
    assert ledger.models == {
        "a": ModelUsage(usage=Usage(input=10, output=5), usd=0.75, calls=2),
        "b": ModelUsage(usage=Usage(input=100, output=50), usd=0.25, calls=1),
    }


def test_the_limits_of_a_query_count_whatever_the_purpose(ledger):
    ledger.begin_query(Limits(max_usd=1.0), 0.0)
    for purpose in ("main", "summary", "hook", "classifier"):
        assert ledger.tripped(0.0) is None
        ledger.charge(purpose, "a", Usage(), 0.25)
    assert reason(ledger) is Reason.MAX_BUDGET_USD


def test_before_the_first_query_nothing_trips_and_every_charge_is_kept(ledger):
    ledger.charge("hook", "a", Usage(input=1), 0.5)
    assert ledger.tripped(0.0) is None
    assert ledger.session_usd == 0.5


def test_a_child_spends_the_money_of_the_ledger_that_made_it(ledger):
    ledger.begin_query(Limits(max_usd=1.0), 0.0)
    below = ledger.child("agent:below", Allowance(usd=0.5))
    below.begin_query(Limits(), 0.0)
    below.charge("main", "a", Usage(input=7), 0.25)
    below.close()
    below.close()
    below.charge("main", "a", Usage(input=7), 0.75)

    assert ledger.session_usd == below.session_usd == 1.0
    assert ledger.models == below.models == {"a": ModelUsage(usage=Usage(input=14), usd=1.0, calls=2)}
    assert ledger.query_usage == Usage()
    assert reason(ledger) is Reason.MAX_BUDGET_USD


def test_what_a_call_under_way_has_received_counts_towards_limits_and_is_no_part_of_the_totals(ledger):
    told = []
    ledger.watch(reached=lambda: told.append(reason(ledger)), charged=lambda _: None)
    ledger.begin_query(Limits(max_usd=1.0, max_tokens_total=100), 0.0)
    ledger.note_received("one", Usage(input=40, output=1), 0.25)
    ledger.note_received("two", Usage(output=9), 0.5)
    ledger.note_received("one", Usage(input=40, output=30), 0.25)
    ledger.note_received("one", Usage(input=40, output=30), 0.5)

    assert told == [None, None, None, Reason.MAX_BUDGET_USD]
    assert (ledger.session_usd, ledger.query_usage, ledger.models) == (0.0, Usage(), {})

    ledger.settle_received("one")
    assert ledger.tripped(0.0) is None
    ledger.charge("main", "a", Usage(input=40, output=35), 0.25, request_id="one")
    assert ledger.tripped(0.0) is None
    assert ledger.session_usd == 0.25
    ledger.note_received("two", Usage(output=26), 0.5)
    assert reason(ledger) is Reason.MAX_TOKENS_TOTAL
    ledger.settle_received("two")
    ledger.settle_received("two")
    ledger.settle_received("never noted")
    assert ledger.tripped(0.0) is None


def test_a_call_that_outlives_its_query_takes_nothing_from_the_next(ledger):
    ledger.begin_query(Limits(max_usd=1.0), 0.0)
    ledger.note_received("late", Usage(output=1), 5.0)
    ledger.begin_query(Limits(max_usd=1.0), 0.0)
    assert ledger.tripped(0.0) is None
    ledger.note_received("late", Usage(output=2), 6.0)
    assert ledger.tripped(0.0) is None
    ledger.settle_received("late")
    ledger.charge("hook", "a", Usage(output=2), 0.5)
    assert ledger.tripped(0.0) is None
    assert ledger.session_usd == 0.5


def test_what_a_child_receives_counts_for_the_ledger_that_made_it(ledger):
    ledger.begin_query(Limits(max_usd=1.0), 0.0)
    below = ledger.child("agent:below")
    below.begin_query(Limits(), 0.0)
    below.note_received("one", Usage(output=1), 1.0)

    assert reason(ledger) is reason(below) is Reason.MAX_BUDGET_USD
    assert ledger.session_usd == below.session_usd == 0.0
    below.settle_received("one")
    assert ledger.tripped(0.0) is None


def test_time_left_is_that_of_the_query(ledger):
    ledger.begin_query(Limits(max_wall_s=30.0), 100.0)
    assert ledger.time_left(110.0) == 20.0
    assert ledger.tripped(129.0) is None
    assert reason(ledger, 130.0) is Reason.MAX_WALL_TIME


def test_calls_of_a_response_that_was_thrown_away_are_given_back(ledger):
    ledger.begin_query(Limits(max_tool_calls=2), 0.0)
    assert [ledger.claim_call(), ledger.claim_call(), ledger.claim_call()] == [True, True, False]
    ledger.release_calls(3)
    assert [ledger.claim_call(), ledger.claim_call()] == [True, True]
    assert ledger.tripped(0.0) is None
