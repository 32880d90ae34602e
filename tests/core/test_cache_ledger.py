"""What the cache lost, why, and what it cost; and the story that a journal tells of it."""

import pytest

from everturn.core.budget import Prices, Usage
from everturn.core.cache_ledger import (
    Break,
    CacheContents,
    CacheStory,
    ChargedCall,
    Circumstances,
    fold_cache_contents,
    fold_story,
    judge_break,
)
from everturn.core.prefix import Departure, Segment, Sent
from everturn.core.records import CacheBroken, ContextAltered, QueryBegan, Rewound, UsageCharged

PRICES = Prices(input=3.0, output=15.0, cache_write=3.75, cache_write_1h=6.0, cache_read=0.3)
MESSAGES = Departure(segment=Segment.MESSAGES, kept=4)
REBUILT = Usage(input=10, cache_read=2_000, cache_write=8_000)
SENT = Sent(7, "a", "b", "c", "", "d", 3, 1)


def circumstances(departure=None, *, expected=9_000, expired=False, reported=()) -> Circumstances:
    return Circumstances(departure=departure, expected=expected, is_expired=expired, reported=reported)


def test_a_request_that_reads_all_that_was_left_for_it_breaks_nothing():
    usage = Usage(input=10, cache_read=9_000, cache_write=500)

    assert judge_break(circumstances(), usage, PRICES) is None


@pytest.mark.parametrize(
    ("before", "segment", "cause"),
    [
        (circumstances(MESSAGES, reported=("compact",)), Segment.MESSAGES, "compact"),
        (
            circumstances(MESSAGES, reported=("microcompact", "collapse", "microcompact")),
            Segment.MESSAGES,
            "microcompact, collapse",
        ),
        (circumstances(MESSAGES), Segment.MESSAGES, "unexplained"),
        (circumstances(MESSAGES, reported=("compact",), expired=True), Segment.MESSAGES, "expired"),
        (circumstances(MESSAGES, expired=True), Segment.MESSAGES, "unexplained"),
        (circumstances(expired=True), Segment.NOTHING, "expired"),
        (circumstances(), Segment.NOTHING, "unexplained"),
        (circumstances(reported=("microcompact",)), Segment.NOTHING, "microcompact"),
        (
            circumstances(
                Departure(segment=Segment.SETTINGS, named=("model", "effort")), reported=("signatures",), expected=9_000
            ),
            Segment.SETTINGS,
            "model, effort",
        ),
    ],
)
def test_a_break_has_the_cause_that_was_reported_or_none(before, segment, cause):
    found = judge_break(before, REBUILT, PRICES)

    assert found is not None
    assert (found.segment, found.cause, found.tokens) == (segment, cause, 7_000)


def test_what_was_lost_costs_what_writing_it_again_costs_beyond_reading_it():
    found = judge_break(circumstances(MESSAGES, reported=("compact",)), REBUILT, PRICES)

    assert found == Break(
        segment=Segment.MESSAGES, cause="compact", kept=4, tokens=7_000, usd=pytest.approx(7_000 * 3.45 / 1e6)
    )


def test_what_is_no_longer_sent_is_not_lost():
    usage = Usage(input=0, cache_read=1_000, cache_write=500)

    found = judge_break(circumstances(MESSAGES, expected=100_000, reported=("compact",)), usage, PRICES)

    assert found is not None
    assert found.tokens == 500


def test_an_api_without_a_cache_loses_nothing():
    assert judge_break(circumstances(), Usage(input=50_000), PRICES) is None


def test_tokens_that_were_neither_read_nor_written_cost_plain_input():
    found = judge_break(circumstances(expected=1_000), Usage(input=900, cache_write=100), PRICES)

    assert found is not None
    assert found.usd == pytest.approx((100 * 3.45 + 900 * 2.7) / 1e6)


def charged(id_: str, turn: int, **counters: int) -> UsageCharged:
    return UsageCharged(
        purpose="main", model="m", usage=Usage(**counters), usd=0.1, turn=turn, request_id=id_, sent=SENT
    )


def test_a_journal_tells_each_call_once_with_its_breaks():
    broken = CacheBroken(segment="messages", cause="compact", tokens=5, usd=0.2, turn=2, request_id="b")
    began = QueryBegan(query_id="q", at=1.0, source="main", model="m")
    records = [began, charged("a", 1, cache_write=9), charged("b", 2, cache_read=3, input=3), broken]

    story = fold_story([*records, *records[1:]])

    first = ChargedCall(query=1, turn=1, purpose="main", model="m", usage=Usage(cache_write=9), request_id="a")
    second = ChargedCall(
        query=1, turn=2, purpose="main", model="m", usage=Usage(cache_read=3, input=3), request_id="b", breaks=(broken,)
    )
    assert story == CacheStory(calls=(first, second))
    assert second.share == 1 / 2
    assert story.by_cause == {"compact": (broken,)}


def test_a_resumed_session_knows_what_the_cache_holds_and_what_was_changed_since():
    cache_contents = None
    for record in (
        charged("a", 1, cache_write=9, cache_read=1),
        ContextAltered(stage="compact", cause="auto"),
        ContextAltered(stage="tool_results", cause="too_large"),
        Rewound(to="m1"),
    ):
        cache_contents = fold_cache_contents(cache_contents, record)

    assert cache_contents == CacheContents(sent=SENT, tokens=10, reported=("compact", "rewind"))
    assert fold_cache_contents(cache_contents, charged("b", 2, cache_read=10)) == CacheContents(sent=SENT, tokens=10)


def test_a_change_before_the_first_request_explains_nothing():
    assert fold_cache_contents(None, ContextAltered(stage="compact", cause="auto")) is None
