"""Whole shares and rounded tables that add up."""

from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.money import PICO, round_table, share_out, to_pico

TABLES = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 10**6), min_size=width, max_size=width), min_size=1, max_size=20)
)


@settings(max_examples=200, deadline=None)
@given(TABLES, st.integers(1, 10**5))
def test_a_rounded_table_adds_up_both_ways_and_no_cell_is_off_by_a_unit(rows, unit):
    rounded = round_table(rows, unit)

    for row, shown in zip(rows, rounded, strict=True):
        for cell, units in zip(row, shown, strict=True):
            assert abs(units * unit - cell) < unit
    total = sum(map(sum, rows))
    assert abs(sum(map(sum, rounded)) * unit - total) * 2 <= unit
    for column, shown in zip(zip(*rows, strict=True), zip(*rounded, strict=True), strict=True):
        assert abs(sum(shown) * unit - sum(column)) < unit


@settings(max_examples=100, deadline=None)
@given(TABLES, st.integers(1, 10**5), st.randoms())
def test_the_columns_of_the_same_bill_have_the_same_sums_however_it_is_grouped(rows, unit, chance):
    shuffled = list(rows)
    chance.shuffle(shuffled)
    one_way, other_way = round_table(rows, unit), round_table(shuffled, unit)
    assert list(map(sum, zip(*one_way, strict=True))) == list(map(sum, zip(*other_way, strict=True)))


@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**6), max_size=6))
def test_shares_add_up_and_none_is_off_by_one(total, weights):
    shares = share_out(total, weights)
    if not any(weights):
        assert shares == [0] * len(weights)
        return
    assert sum(shares) == total
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share * sum(weights) - total * weight) < sum(weights)


def test_dollars_become_whole_numbers():
    assert [to_pico(usd) for usd in (0.1, 0.0000003, 1e300, float("nan"))] == [PICO // 10, 300_000, 0, 0]
