"""The bill as it is shown: what is printed adds up, fits the width, and is plain where it must be."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.bill import Bill, Entry, fold_bill
from everturn.core.budget import Prices, Usage, price_usage
from everturn.core.money import PICO
from everturn.core.records import QueryBegan, UsageCharged
from everturn.frontends.ansi import Style
from everturn.frontends.cost import render_bill, render_summary, render_tokens, render_when
from everturn.frontends.cost_plot import MAX_BARS, render_plot

PRICES = Prices(input=3, output=15, cache_write=3.75, cache_write_1h=6, cache_read=0.3)
PLAIN, COLOURED = Style(colour=False, control=False), Style()
AMOUNT = re.compile(r"\d[\d,]*\.\d{4,6}")
USAGE = Usage(input=12, output=800, cache_write=2_000, cache_read=30_000)


def bill_of(*usages: Usage, model="claude-sonnet-5", purposes=("main",), **changes) -> Bill:
    records = [QueryBegan(query_id="q", at=0.0, source="main", model=model)]
    for turn, usage in enumerate(usages, start=1):
        fields = {
            "purpose": purposes[turn % len(purposes)],
            "model": model,
            "usage": usage,
            "usd": price_usage(usage, PRICES),
            "turn": turn,
        }
        records.append(UsageCharged(**(fields | changes)))
    return fold_bill(records, lambda name: () if name == "unheard-of" else (PRICES,))


def amounts_of(line: str) -> list[int]:
    """In units of the last decimal."""
    return [int(amount.replace(",", "").replace(".", "")) for amount in AMOUNT.findall(line)]


def test_the_page_reads_like_this():
    bill = bill_of(USAGE, Usage(output=1_234_567, cache_read=32_000))
    assert render_bill(bill, 120) == (
        "round  for          input         output   cache write    cache read      USD\n"
        "1.1    main     12 0.0000     800 0.0120   2.0k 0.0075    30k 0.0090   0.0285\n"
        "1.2    main             -   1.2M 18.5185             -    32k 0.0096  18.5281\n"
        "total           12 0.0000   1.2M 18.5305   2.0k 0.0075    62k 0.0186  18.5566\n"
        "\n"
        "The cache was worth $0.1659: reading from it saved $0.1674 against plain input, "
        "writing to it cost $0.0015 more."
    )


def test_on_a_narrow_terminal_the_tokens_are_left_out():
    table = render_bill(bill_of(USAGE, USAGE), 70).partition("\n\n")[0]
    assert table == (
        "round  for      input    output  cache write  cache read       USD\n"
        "1.1    main  0.000036  0.012000     0.007500    0.009000  0.028536\n"
        "1.2    main  0.000036  0.012000     0.007500    0.009000  0.028536\n"
        "total        0.000072  0.024000     0.015000    0.018000  0.057072"
    )


def test_the_short_form_has_a_line_for_each_model():
    assert render_summary(bill_of(USAGE)) == (
        "  claude-sonnet-5: $0.028536, 1 call, input 12 $0.000036, output 800 $0.012000, cache write 2.0k $0.007500, "
        "cache read 30k $0.009000\n"
        "  The cache was worth $0.079500: reading from it saved $0.081000 against plain input, "
        "writing to it cost $0.001500 more."
    )


def test_output_that_nobody_counted_is_marked_and_said():
    bill = bill_of(USAGE, Usage(input=12, output=7_500, estimated_output=7_400))
    page = render_bill(bill, 120)
    assert page.partition("\n\n")[0] == (
        "round  for          input        output   cache write    cache read     USD\n"
        "1.1    main     12 0.0000    800 0.0120   2.0k 0.0075    30k 0.0090  0.0285\n"
        "1.2    main     12 0.0001  ~7.5k 0.1125             -             -  0.1126\n"
        "total           24 0.0001  ~8.3k 0.1245   2.0k 0.0075    30k 0.0090  0.1411"
    )
    said = (
        "~ marks an estimate: 7.4k of 8.3k output tokens are estimated from what was received, "
        "because the API has not counted them."
    )
    assert said in page
    assert said in render_summary(bill)
    assert "output ~8.3k $0.1245" in render_summary(bill)
    assert "~" not in render_bill(bill_of(USAGE), 120)


COUNT = st.integers(0, 10**6)
USAGES = st.lists(
    st.builds(Usage, input=COUNT, output=COUNT, cache_write=COUNT, cache_read=COUNT), min_size=1, max_size=12
)


@settings(max_examples=100, deadline=None)
@given(USAGES)
def test_rows_columns_bars_and_total_add_up_as_they_are_printed(usages):
    bill = bill_of(*usages)
    *rows, total = [amounts_of(line) for line in render_bill(bill, 40).partition("\n\n")[0].splitlines()[1:]]
    for row in (*rows, total):
        assert sum(row[:-1]) == row[-1]
    assert sum(row[-1] for row in rows) == total[-1]
    decimals = 4 if bill.total.paid.total >= PICO // 10 else 6
    assert total[-1] == round(bill.total.paid.total * 10**decimals / PICO)
    bars = [amounts_of(line) for line in render_plot(bill, width=60, style=PLAIN).splitlines()[:-1]]
    assert [bar[0] for bar in bars] == [row[-1] for row in rows][: len(bars)]


@settings(max_examples=60, deadline=None)
@given(USAGES, st.integers(40, 200))
def test_bars_fit_the_width_and_are_plain_without_colour(usages, width):
    plot = render_plot(bill_of(*usages), width=width, style=PLAIN)
    assert plot.isascii()
    assert "\x1b" not in plot
    assert all(len(line) <= width for line in plot.splitlines()[:-1])


def test_bars_are_painted_by_kind():
    line, *_ = render_plot(bill_of(Usage(output=1_000), Usage(input=5_000)), width=40, style=COLOURED).splitlines()
    assert line == f"1.1  \x1b[36m{'█' * 24}\x1b[0m  $0.015000"


def test_many_turns_share_their_bars():
    bill = bill_of(*[USAGE] * 95)
    lines = render_plot(bill, width=80, style=PLAIN).splitlines()
    assert len(lines) <= MAX_BARS + 1
    assert lines[0].split()[0] == "1.1-1.3"
    assert sum(amounts_of(line)[0] for line in lines[:-1]) == round(bill.total.paid.total * 10_000 / PICO)


def test_a_single_turn_and_a_session_that_cost_nothing_need_no_bars():
    assert render_plot(bill_of(USAGE), width=80, style=PLAIN) == ""
    assert render_plot(bill_of(USAGE, USAGE, usd=0.0), width=80, style=PLAIN) == ""


def test_models_and_purposes_have_their_sums_where_there_are_several():
    bill = bill_of(USAGE, USAGE, USAGE, purposes=("main", "summary"))
    other = bill_of(USAGE, model="claude-haiku-4-5")
    page = render_bill(Bill(entries=(*bill.entries, *other.entries)), 140)
    assert "claude-haiku-4-5  1 call" in page
    assert "summary  2 calls" in page


def test_a_model_without_prices_shows_the_recorded_sum():
    page = render_bill(bill_of(USAGE, model="unheard-of", usd=0.5), 120)
    assert "not split" in page
    assert "No prices are known for unheard-of: the sum is the one that was recorded." in page


def test_prices_that_have_changed_are_said():
    assert "The prices of claude-sonnet-5 are not those of the session" in render_bill(bill_of(USAGE, usd=0.5), 120)


def test_names_from_the_file_cannot_move_the_cursor():
    bill = bill_of(USAGE, USAGE, model="evil\x1b[2J\nmodel", purpose="\x1b]0;title\x07main")
    assert "\x1b" not in render_bill(bill, 120) + render_summary(bill)


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (999, "999"), (1_234, "1.2k"), (9_960, "10k"), (12_345, "12k"), (999_600, "1.0M"), (2_500_000, "2.5M")],
)
def test_tokens_are_short(count, shown):
    assert render_tokens(count) == shown


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        (Entry(query=2, turn=7), "2.7"),
        (Entry(query=2, turn=1, after=True), "2+"),
        (Entry(query=2), "2"),
        (Entry(turn=3), "3"),
        (Entry(), "-"),
    ],
)
def test_a_turn_is_named_by_its_prompt_and_its_number(entry, shown):
    assert render_when(entry) == shown
