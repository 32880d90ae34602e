"""Usage, prices and the judgement of a work budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.budget import (
    Prices,
    Usage,
    WorkBudget,
    WorkVerdict,
    decode_nested,
    decode_usage,
    judge_work,
    merge_reports,
    price_usage,
)

PRICES = Prices(input=3.0, output=15.0, cache_write=3.75, cache_write_1h=6.0, cache_read=0.3)
COUNTS = st.integers(0, 10**9)
USAGES = st.builds(
    lambda hourly, more, **rest: Usage(cache_write=hourly + more, cache_write_1h=hourly, **rest),
    hourly=COUNTS,
    more=COUNTS,
    input=COUNTS,
    output=COUNTS,
    cache_read=COUNTS,
)


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(), 0.0),
        (Usage(input=1_000_000), 3.0),
        (Usage(output=1_000_000), 15.0),
        (Usage(cache_read=1_000_000), 0.3),
        (Usage(cache_write=1_000_000), 3.75),
        (Usage(cache_write=1_000_000, cache_write_1h=1_000_000), 6.0),
        (Usage(cache_write=1_000_000, cache_write_1h=400_000), 0.6 * 3.75 + 0.4 * 6.0),
    ],
)
def test_each_counter_has_its_price(usage: Usage, usd: float):
    assert price_usage(usage, PRICES) == pytest.approx(usd)


@given(one=USAGES, other=USAGES)
def test_the_price_of_two_calls_is_the_sum_of_their_prices(one: Usage, other: Usage):
    together = price_usage(one + other, PRICES)

    assert together == pytest.approx(price_usage(one, PRICES) + price_usage(other, PRICES))
    assert together >= 0
    assert (one + other).total == one.total + other.total == (one + other).context


def test_a_report_is_read_with_its_four_counters():
    report = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_creation_input_tokens": 30,
        "cache_read_input_tokens": 4,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "service_tier": "standard",
    }

    assert decode_usage(report) == Usage(input=1, output=2, cache_write=30, cache_read=4, cache_write_1h=20)


@pytest.mark.parametrize("report", [None, 7, "usage", [], {}, {"input_tokens": None}, {"cache_creation": 5}])
def test_a_report_that_says_nothing_counts_as_nothing(report):
    assert decode_usage(report) == Usage()


@pytest.mark.parametrize("count", [-5, "12", None, True, [], {}, float("nan"), float("inf"), -float("inf")])
def test_a_counter_that_is_no_count_counts_as_nothing(count):
    assert decode_usage({"input_tokens": count, "output_tokens": 3}) == Usage(output=3)


def test_a_fraction_of_a_token_is_cut_off():
    assert decode_usage({"input_tokens": 2.9}) == Usage(input=2)


def test_hourly_writes_that_the_sum_leaves_out_are_still_billed():
    assert decode_usage({"cache_creation": {"ephemeral_1h_input_tokens": 9}}) == Usage(cache_write=9, cache_write_1h=9)


def test_a_later_report_replaces_the_counters_that_it_names():
    earlier = {"input_tokens": 10, "output_tokens": 1}

    assert merge_reports(earlier, {"output_tokens": 25, "input_tokens": None}) == {
        "input_tokens": 10,
        "output_tokens": 25,
    }
    assert merge_reports(earlier, "nonsense") == earlier


def test_nested_calls_are_read_with_their_models():
    report = {
        "iterations": [
            {"type": "compaction", "input_tokens": 100, "output_tokens": 5},
            {"model": "small", "input_tokens": 7},
            {"model": 3, "output_tokens": 1},
            "nonsense",
        ]
    }

    assert decode_nested(report) == (
        (None, Usage(input=100, output=5)),
        ("small", Usage(input=7)),
        (None, Usage(output=1)),
    )


@pytest.mark.parametrize("report", [None, [], {}, {"iterations": None}, {"iterations": {}}, {"iterations": []}])
def test_a_report_without_nested_calls_has_none(report):
    assert decode_nested(report) == ()


def judge(work: WorkBudget, spent: int, budget: int = 10_000) -> WorkVerdict:
    return judge_work(work, spent=spent, budget=budget, threshold=0.9, min_gain=500, min_continuations=3)


@pytest.mark.parametrize(
    ("spent", "budget", "go_on", "percent"),
    [
        (0, 1_000, True, 0),
        (899, 1_000, True, 89),
        (900, 1_000, False, 90),
        (1_000, 1_000, False, 100),
        (5_000, 1_000, False, 100),
    ],
)
def test_work_goes_on_strictly_under_the_threshold(spent: int, budget: int, go_on: bool, percent: int):
    assert judge(WorkBudget(), spent, budget) == WorkVerdict(
        go_on=go_on,
        diminishing=False,
        percent=percent,
        work=WorkBudget(continuations=int(go_on), last_gain=spent, total=spent),
    )


@pytest.mark.parametrize(
    ("continuations", "last_gain", "gain", "diminishing"),
    [
        (3, 499, 499, True),
        (3, 0, 0, True),
        (4, 0, 0, True),
        (2, 0, 0, False),
        (3, 500, 0, False),
        (3, 0, 500, False),
    ],
)
def test_returns_diminish_after_three_continuations_and_two_small_gains(
    continuations: int, last_gain: int, gain: int, diminishing: bool
):
    verdict = judge(WorkBudget(continuations=continuations, last_gain=last_gain, total=1_000), 1_000 + gain)

    assert verdict == WorkVerdict(
        go_on=not diminishing,
        diminishing=diminishing,
        percent=(1_000 + gain) // 100,
        work=WorkBudget(continuations=continuations + (not diminishing), last_gain=gain, total=1_000 + gain),
    )


@given(st.lists(st.integers(0, 1_000), max_size=200))
def test_no_series_of_gains_goes_on_for_ever(gains: list[int]):
    """At least every other continuation brings 500 tokens, so 9,000 are reached within about twice 18 checks."""
    work, spent, checks = WorkBudget(), 0, 0
    for gain in gains:
        spent += gain
        verdict = judge(work, spent)
        if not verdict.go_on:
            break
        work, checks = verdict.work, checks + 1

    assert checks <= 3 + 2 * 18
