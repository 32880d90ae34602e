"""The account: totals of the session, limits of the query."""

import pytest

from everturn.core.budget import Usage
from everturn.core.events import ModelUsage
from everturn.core.limits import Limits
from everturn.core.outcomes import Problem
from everturn.core.state import Reason
from everturn.ports.ledger import Ledger
from everturn.sessions.ledger import SessionLedger


def begun(started_s=0.0, **limits) -> SessionLedger:
    ledger = SessionLedger()
    checked: Ledger = ledger
    checked.begin_query(Limits(**limits), started_s)
    return ledger


def reason(ledger, elapsed_s=0.0):
    tripped = ledger.tripped(elapsed_s)
    return tripped and tripped[0]


def test_totals_are_of_the_session_and_usage_is_of_the_query():
    ledger = SessionLedger(
        usd=1.0, usage=Usage(input=5), models={"a": ModelUsage(usage=Usage(input=5), usd=1.0, calls=1)}
    )
    ledger.begin_query(Limits(), 0.0)
    ledger.charge("main", "a", Usage(input=10, output=2), 0.5)
    ledger.charge("summary", "b", Usage(input=100, output=50), 0.25)
    ledger.begin_query(Limits(), 0.0)
    ledger.charge("main", "a", Usage(output=3), 0.25)

    assert ledger.session_usd == 2.0
    assert ledger.session_usage == Usage(input=115, output=55)
    assert (ledger.query_usage, ledger.query_output) == (Usage(output=3), 3)
    assert ledger.models == {
        "a": ModelUsage(usage=Usage(input=15, output=5), usd=1.75, calls=3),
        "b": ModelUsage(usage=Usage(input=100, output=50), usd=0.25, calls=1),
    }


def test_without_limits_nothing_trips():
    ledger = begun(max_repeated_calls=0)
    ledger.charge("main", "a", Usage(input=10**9), 10**6)
    for _ in range(1_000):
        ledger.note_call("Read", b"{}", b"same")
    assert ledger.tripped(10**9) is None


def test_the_cost_trips_at_its_limit_whoever_spent_it():
    ledger = begun(max_usd=1.0)
    ledger.charge("main", "a", Usage(), 0.75)
    assert ledger.tripped(0.0) is None
    ledger.charge("summary", "b", Usage(), 0.25)
    assert ledger.tripped(0.0) == (
        Reason.MAX_BUDGET_USD,
        Problem(text="Reached the limit of 1 USD: the query cost 1.0000 USD.", kind="max_budget_usd", by_api=False),
    )


def test_the_cost_of_earlier_queries_does_not_count_towards_the_limit():
    ledger = SessionLedger(usd=100.0)
    ledger.begin_query(Limits(max_usd=1.0), 0.0)
    assert ledger.tripped(0.0) is None


def test_tokens_trip_above_their_limit_and_all_four_counters_count():
    ledger = begun(max_tokens_total=10)
    ledger.charge("summary", "a", Usage(input=1, output=2, cache_write=3, cache_read=4), 0.0)
    assert ledger.tripped(0.0) is None
    ledger.charge("main", "a", Usage(output=1), 0.0)
    assert reason(ledger) is Reason.MAX_TOKENS_TOTAL


def test_as_many_calls_run_as_the_limit_says_and_the_next_one_reaches_it():
    ledger = begun(max_tool_calls=2)
    assert [ledger.claim_call(), ledger.claim_call()] == [True, True]
    assert ledger.tripped(0.0) is None
    assert not ledger.claim_call()
    assert reason(ledger) is Reason.MAX_TOOL_CALLS


def test_time_is_counted_from_the_beginning_of_the_query():
    ledger = begun(started_s=100.0, max_wall_s=30.0)
    assert ledger.tripped(129.9) is None
    assert reason(ledger, 130.0) is Reason.MAX_WALL_TIME


@pytest.mark.parametrize("other", [("Grep", b"{}", b"r"), ("Read", b"{ }", b"r"), ("Read", b"{}", b"R")])
def test_identical_calls_count_only_in_a_row(other):
    ledger = begun(max_repeated_calls=3)
    same = ("Read", b"{}", b"r")
    for made in (same, same, other, same, same):
        ledger.note_call(*made)
        assert ledger.tripped(0.0) is None
    ledger.note_call(*same)
    assert reason(ledger) is Reason.REPEATED_CALLS


def test_one_structured_failure_more_than_there_are_retries_trips():
    ledger = begun(structured_retries=1)
    ledger.note_structured_failure()
    assert ledger.tripped(0.0) is None
    ledger.note_structured_failure()
    assert reason(ledger) is Reason.STRUCTURED_OUTPUT_RETRIES


def test_the_first_limit_in_the_order_of_reasons_is_the_one_told():
    ledger = begun(
        max_usd=1.0, max_tokens_total=1, max_tool_calls=1, max_wall_s=1.0, max_repeated_calls=1, structured_retries=0
    )
    order = []
    ledger.note_structured_failure()
    order.append(reason(ledger))
    ledger.note_call("Read", b"", b"")
    order.append(reason(ledger))
    order.append(reason(ledger, 5.0))
    ledger.claim_call()
    ledger.claim_call()
    order.append(reason(ledger, 5.0))
    ledger.charge("main", "a", Usage(input=2), 0.0)
    order.append(reason(ledger, 5.0))
    ledger.charge("main", "a", Usage(), 1.0)
    order.append(reason(ledger, 5.0))
    assert order == [
        Reason.STRUCTURED_OUTPUT_RETRIES,
        Reason.REPEATED_CALLS,
        Reason.MAX_WALL_TIME,
        Reason.MAX_TOOL_CALLS,
        Reason.MAX_TOKENS_TOTAL,
        Reason.MAX_BUDGET_USD,
    ]


def test_each_text_names_the_limit_and_the_figure():
    ledger = begun(max_wall_s=30.0)
    _, problem = ledger.tripped(31.25)
    assert problem == Problem(
        text="Reached the limit of 30 seconds: the query took 31.2.", kind="max_wall_time", by_api=False
    )
    ledger = begun(max_tokens_total=1_000)
    ledger.charge("main", "a", Usage(input=1_500), 0.0)
    assert ledger.tripped(0.0)[1].text == "Reached the limit of 1,000 tokens: the query used 1,500."


def test_a_new_query_starts_with_clean_limits():
    ledger = begun(max_usd=1.0, max_tool_calls=1)
    ledger.charge("main", "a", Usage(), 5.0)
    ledger.note_call("Read", b"", b"")
    ledger.begin_query(Limits(max_usd=1.0, max_tool_calls=1), 50.0)
    assert ledger.tripped(50.0) is None
