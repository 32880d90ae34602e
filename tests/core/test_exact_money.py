"""Amounts of money as JSON shows them: every digit is one of the price's, none comes from adding."""

from hypothesis import given
from hypothesis import strategies as st

from everturn.core.budget import Prices, Usage, price_usage
from everturn.core.money import add_usd


def test_amounts_are_added_without_a_rest():
    assert add_usd((0.1, 0.2)) == 0.3
    assert add_usd([0.0005984, 0.0006234]) == 0.0012218
    assert add_usd(()) == 0


def test_a_response_costs_what_a_calculator_says():
    prices = Prices(input=3.0, output=15.0, cache_write=3.75, cache_write_1h=6.0, cache_read=0.3)

    assert price_usage(Usage(input=7, output=11, cache_write=13, cache_read=17), prices) == 0.00023985


@given(st.lists(st.integers(0, 10**10), max_size=30))
def test_the_order_of_adding_does_not_matter(nanos):
    amounts = [each / 10**9 for each in nanos]

    assert add_usd(amounts) == add_usd(reversed(amounts)) == sum(nanos) / 10**9
