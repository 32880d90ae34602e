"""Block by block, what was sent in one request of the main loop begins the next, unless the journal says why not."""

from itertools import pairwise

from hypothesis import given, settings
from tests.properties.cases import cases
from tests.properties.fakes import Asked
from tests.properties.stage import Played, play_case

from everturn.core.cache_ledger import UNEXPLAINED
from everturn.core.records import CacheBroken, ContextAltered, ModelChanged

Sent = list[tuple[str, bytes]]


def sent(asked: Asked) -> Sent:
    """Without cache marks: these are placed when the request is encoded."""
    request = asked.request
    before = [("tool", raw) for raw in request.tools] + [("system", text.encode()) for text in request.system]
    return before + [(wire.role, block.raw) for wire in request.messages for block in wire.blocks]


def find_breaks(played: Played) -> list[tuple[Sent, Sent]]:
    """Pairs of requests that differ without a record between them."""
    records = played.records
    asked = [each for query in played.queries for each in query.asked if each.is_main]
    broken = []
    for earlier, later in pairwise(asked):
        between = records[earlier.records : later.records]
        explained = any(isinstance(record, ContextAltered | ModelChanged) for record in between)
        first, second = sent(earlier), sent(later)
        if not explained and second[: len(first)] != first:
            broken.append((first, second))
    return broken


@given(cases)
@settings(max_examples=2_000, deadline=None)
def test_a_request_begins_with_the_one_before_it_unless_the_journal_says_why_not(case):
    assert find_breaks(play_case(case)) == []


def find_unexplained(played: Played) -> list[CacheBroken]:
    breaks = [record for record in played.records if isinstance(record, CacheBroken)]
    return [broken for broken in breaks if broken.cause == UNEXPLAINED]


@given(cases)
@settings(max_examples=300, deadline=None)
def test_the_ledger_finds_no_break_that_nobody_reported(case):
    assert find_unexplained(play_case(case)) == []
