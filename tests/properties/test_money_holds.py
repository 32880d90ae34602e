"""Whatever breaks, and wherever somebody interferes: what was received is charged, once, between two bounds."""

from hypothesis import given, settings
from tests.properties.cases import cases
from tests.properties.fakes import Asked
from tests.properties.stage import Played, play_case

from everturn.core.budget import read_count
from everturn.core.records import UsageCharged
from everturn.core.stream import Added, BlockStarted, MessageChanged, MessageStarted, SignatureAdded
from everturn.sessions.replay import fold_lines


def bounds(asked: Asked) -> tuple[int, int]:
    """Output tokens of a call, at least and at most: the API's count, or what its pieces can have been."""
    reported = 0
    least, most = 0, 0
    for event in asked.events:
        match event:
            case SignatureAdded():
                pass
            case Added(text=text):
                least += len(text)
                most += len(text.encode())
            case BlockStarted(raw=raw):
                most += len(raw)
            case MessageStarted(report=report):
                reported = read_count(report.get("output_tokens"))
            case MessageChanged(report=report) if count := read_count(report.get("output_tokens")):
                return count, count
            case MessageChanged(report=report) if not report:
                # Nothing was said about usage, neither in the beginning nor in the end.
                return 0, 0
    return max(reported, least // 6), max(reported, most)


def charges(played: Played) -> list[UsageCharged]:
    return [record for record in played.records if isinstance(record, UsageCharged)]


@settings(max_examples=150)
@given(cases)
def test_what_was_received_is_charged_between_two_bounds(case):
    played = play_case(case)

    limits = [bounds(asked) for query in played.queries for asked in query.asked]
    output = sum(charge.usage.output for charge in charges(played))
    assert sum(least for least, _ in limits) <= output <= sum(most for _, most in limits)


@settings(max_examples=100)
@given(cases)
def test_every_call_is_charged_once_and_the_journal_knows_what_is_an_estimate(case):
    played = play_case(case)

    made = charges(played)
    assert len({charge.request_id for charge in made}) == len(made)
    assert abs(played.usd - sum(charge.usd for charge in made)) < 1e-9
    replay, _ = fold_lines("session", played.lines)
    assert replay.usage.estimated_output == sum(charge.usage.estimated_output for charge in made)
    assert all(charge.usage.estimated_output <= charge.usage.output for charge in made)
