"""The bill: every charge is in it once, and its parts are what was charged, whatever the prices are today."""

from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.bill import Bill, Entry, Paid, fold_bill, split_charge
from everturn.core.budget import Prices, Usage, price_usage
from everturn.core.money import PICO, to_pico
from everturn.core.records import QueryBegan, QueryEnded, UsageCharged

PRICES = Prices(input=3, output=15, cache_write=3.75, cache_write_1h=6, cache_read=0.3)
FAST = Prices(input=6, output=30, cache_write=7.5, cache_write_1h=12, cache_read=0.6)
COUNT = st.integers(0, 10**7)
USAGES = st.builds(
    lambda hourly, brief, **others: Usage(cache_write=hourly + brief, cache_write_1h=hourly, **others),
    hourly=COUNT,
    brief=COUNT,
    input=COUNT,
    output=COUNT,
    cache_read=COUNT,
)
USAGE = Usage(input=1_000, output=200, cache_write=3_000, cache_read=40_000, cache_write_1h=1_000)


def charged(usage=USAGE, *, usd=None, purpose="main", model="a", turn=1, request_id=""):
    cost = price_usage(usage, PRICES) if usd is None else usd
    return UsageCharged(purpose=purpose, model=model, usage=usage, usd=cost, turn=turn, request_id=request_id)


def began(number):
    return QueryBegan(query_id=f"q{number}", at=0.0, source="main", model="a")


def ended(number):
    return QueryEnded(query_id=f"q{number}", reason="completed")


def test_a_charge_is_split_by_kind_and_the_cache_is_judged_against_plain_input():
    micro = PICO // 1_000_000
    assert split_charge(USAGE, price_usage(USAGE, PRICES), (PRICES, FAST)) == Paid(
        input=3_000 * micro,
        output=3_000 * micro,
        cache_write=(7_500 + 6_000) * micro,
        cache_read=12_000 * micro,
        saved=(120_000 - 12_000) * micro,
        premium=(13_500 - 9_000) * micro,
    )


def test_a_charge_at_fast_prices_is_recognised():
    paid = split_charge(USAGE, price_usage(USAGE, FAST), (PRICES, FAST))
    assert paid.exact
    assert paid.output == to_pico(0.006)


def test_where_prices_have_changed_the_sum_is_the_recorded_one():
    paid = split_charge(USAGE, 2 * price_usage(USAGE, PRICES), (PRICES,))
    assert not paid.exact
    assert paid.total == to_pico(2 * price_usage(USAGE, PRICES))
    assert paid.output == to_pico(0.006)


def test_without_prices_only_the_sum_is_known():
    assert split_charge(USAGE, 0.5, ()) == Paid(unsplit=PICO // 2, exact=False)
    assert split_charge(USAGE, 0.5, (Prices(),)) == Paid(unsplit=PICO // 2, exact=False)
    assert split_charge(USAGE, 0.0, (Prices(),)) == Paid()


@settings(max_examples=200, deadline=None)
@given(USAGES, st.floats(0, 1_000), st.sampled_from([(PRICES,), (PRICES, FAST), ()]))
def test_the_parts_are_always_what_was_charged(usage, usd, lists):
    for amount in (usd, price_usage(usage, PRICES)):
        assert split_charge(usage, amount, lists).total == to_pico(amount)


@settings(max_examples=100, deadline=None)
@given(USAGES)
def test_the_cache_is_worth_the_difference_to_plain_input(usage):
    paid = split_charge(usage, price_usage(usage, PRICES), (PRICES,))
    everything = Usage(input=usage.input + usage.cache_write + usage.cache_read, output=usage.output)
    plain = to_pico(price_usage(everything, PRICES))
    assert abs(plain - paid.total - paid.net_saved) <= 10_000


def test_charges_are_grouped_by_query_turn_purpose_and_model():
    records = [
        charged(turn=0),
        began(1),
        charged(),
        charged(),
        charged(purpose="summary", model="b"),
        charged(turn=2),
        ended(1),
        charged(purpose="summary"),
        began(2),
        charged(),
    ]

    bill = fold_bill(records, lambda _: (PRICES,))

    assert [
        (entry.query, entry.turn, entry.after, entry.purpose, entry.model, entry.calls) for entry in bill.entries
    ] == [
        (0, 0, False, "main", "a", 1),
        (1, 1, False, "main", "a", 2),
        (1, 1, False, "summary", "b", 1),
        (1, 2, False, "main", "a", 1),
        (1, 1, True, "summary", "a", 1),
        (2, 1, False, "main", "a", 1),
    ]
    assert {name: entry.calls for name, entry in bill.by_model.items()} == {"a": 6, "b": 1}
    assert {name: entry.calls for name, entry in bill.by_purpose.items()} == {"main": 5, "summary": 2}
    assert [entry.calls for entry in bill.by_turn] == [1, 3, 1, 1, 1]
    assert bill.total.paid.total == to_pico(7 * price_usage(USAGE, PRICES))


def test_a_charge_that_stands_twice_in_the_journal_counts_once():
    bill = fold_bill([charged(request_id="r"), charged(request_id="r"), charged(), charged()], lambda _: (PRICES,))
    assert bill.total.calls == 3


def test_the_bill_of_nothing_is_empty():
    bill = fold_bill([began(1), ended(1)], lambda _: ())
    assert bill == Bill()
    assert bill.total == Entry(calls=0)
