"""Whatever the model does, a query asks it a bounded number of times and ends exactly once."""

from functools import lru_cache

import msgspec
import pytest
from hypothesis import given, settings
from tests.properties.cases import Knobs, cases
from tests.properties.fakes import CALLS_TO_SPIRAL
from tests.properties.stage import Query, limits_of, play_case

from everturn.core.events import ResultEvent, Terminated
from everturn.core.messages import Kind
from everturn.core.schedule import Repair
from everturn.testing.explore import Exploration, explore


@lru_cache
def explored(*, max_turns: int, work_budget: int, escalate: bool, reactive_compact: bool) -> Exploration:
    return explore(
        limits_of(
            Knobs(max_turns=max_turns, work_budget=work_budget, escalate=escalate, reactive_compact=reactive_compact)
        )
    )


def most_calls(knobs: Knobs, tool_rounds: int) -> int:
    """K between two tool rounds, by the exhaustive walk; for each the tries and repairs on every model of the chain."""
    found = explored(
        max_turns=knobs.max_turns,
        work_budget=knobs.work_budget,
        escalate=knobs.escalate,
        reactive_compact=knobs.reactive_compact,
    )
    attempts = (knobs.tries + len(Repair)) * (knobs.fallbacks + 1)
    over_all_turns = found.k * (tool_rounds + 1)
    return attempts * (over_all_turns if found.total is None else min(found.total, over_all_turns))


def tool_rounds(query: Query) -> int:
    return sum(event.message.kind is Kind.RESULTS for event in query.events if hasattr(event, "message"))


def is_within_bounds(query: Query, knobs: Knobs) -> bool:
    """A walk with a work budget takes seconds. Nearly always the bound without one, which is lower, holds as well."""
    rounds, without = tool_rounds(query), msgspec.structs.replace(knobs, work_budget=0)
    return query.main_calls <= most_calls(without, rounds) or query.main_calls <= most_calls(knobs, rounds)


@pytest.mark.parametrize("max_turns", [0, 2])
def test_the_bound_without_a_work_budget_is_lower(max_turns):
    knobs = Knobs(max_turns=max_turns)

    assert most_calls(knobs, 3) < most_calls(msgspec.structs.replace(knobs, work_budget=2), 3)


@given(cases)
@settings(max_examples=2_000, deadline=None)
def test_a_query_asks_a_bounded_number_of_times_and_ends_exactly_once(case):
    for query in play_case(case).queries:
        assert len(query.asked) < CALLS_TO_SPIRAL
        assert is_within_bounds(query, case.knobs)
        ends = [event for event in query.events if isinstance(event, Terminated | ResultEvent)]
        if query.closed:
            assert ends == query.events[len(query.events) - len(ends) :]
            assert [type(event) for event in ends] in ([], [Terminated], [Terminated, ResultEvent])
        else:
            assert [type(event) for event in ends] == [Terminated, ResultEvent]
            assert ends == query.events[-2:]
            assert ends[0].reason == ends[1].reason
