"""The picture of the window: whole in every width, readable without colours, and the same figures for programs."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.window import Category, Item, WindowUse, fold_window
from everturn.frontends.ansi import Style
from everturn.frontends.context_grid import CELLS, LOOKS, encode_window, render_plain, render_window

PLAIN, COLOURED = Style(colour=False), Style()
SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")
ITEMS = (
    Item(category=Category.SYSTEM, name="system", tokens=2_000),
    Item(category=Category.TOOLS, name="Read", tokens=8_000),
    Item(category=Category.MCP_TOOLS, name="mcp__tracker__create_issue", tokens=1_000),
    Item(category=Category.MEMORY, name="memory", tokens=500),
)
USE = fold_window(ITEMS, (), model="claude-sonnet-4-5", window=200_000, reserve=27_200, total=11_500)
PICTURE = """\
claude-sonnet-4-5 · 12k of 200k tokens (6 %)

S S T T T T T T T T M F . . . . . . . .    S system prompt       2.0k   1.0 %
. . . . . . . . . . . . . . . . . . . .    T tools               8.0k   4.0 %
. . . . . . . . . . . . . . . . . . . .    M MCP tools           1.0k   0.5 %
. . . . . . . . . . . . . . . . . . . .    F memory files         500   0.2 %
. . . . . . . . . . . . . . . . . . . .    . free space          161k  80.7 %
. . . . . . . . . . . . . . . . . . . .    x reserve              27k  13.6 %
. . . . . . . . . . . . . . . . . . . .
. . . . . . . . . . . . . . . . . . . .
. . . . . . . . . . . . . x x x x x x x
x x x x x x x x x x x x x x x x x x x x
"""


def test_the_picture_without_colours():
    assert render_plain(USE) == PICTURE


def test_with_colours_each_category_has_its_own_and_the_words_are_the_same():
    coloured = render_window(USE, COLOURED, 80)

    assert SEQUENCE.sub("", coloured).count("■") == 2 + 8 + 1 + 1 + len(ITEMS)
    assert len({codes for _, codes in LOOKS.values()}) >= len(LOOKS) - 1
    assert len({letter for letter, _ in LOOKS.values()}) == len(LOOKS) == len(Category)


@pytest.mark.parametrize("columns", [79, 60, 40, 34])
def test_a_narrow_terminal_has_the_legend_below_or_beside_but_never_wraps(columns):
    lines = render_window(USE, PLAIN, columns).splitlines()

    assert max(map(len, lines)) <= columns
    assert sum(line.count(".") for line in lines if set(line) <= set(". x")) > 0


def test_where_there_is_no_room_for_a_grid_the_figures_are_told_alone():
    assert render_window(USE, PLAIN, 8).splitlines()[2:] == [line[43:] for line in PICTURE.splitlines()[2:8]]


shares = st.lists(
    st.tuples(st.sampled_from(list(Category)), st.integers(1, 10**7)), min_size=1, unique_by=lambda x: x[0]
)


@given(shares, st.integers(10, 200), st.booleans())
@settings(max_examples=200)
def test_every_category_has_a_cell_and_all_cells_are_given(drawn, columns, coloured):
    ordered = tuple(sorted(drawn, key=lambda share: list(Category).index(share[0])))
    use = WindowUse(model="m", window=sum(tokens for _, tokens in ordered), total=1, is_counted=True, shares=ordered)

    plain = SEQUENCE.sub("", render_window(use, Style(colour=coloured), columns))

    cells = [line[: min(20, columns // 2) * 2] for line in plain.splitlines()[2:]]
    marks = "".join(cells) if columns >= 77 else "".join(line for line in plain.split("\n\n")[1].splitlines())
    assert len(marks.replace(" ", "")) == CELLS


def test_programs_get_the_form_that_they_know():
    page = encode_window(USE)

    assert page == {
        "model": "claude-sonnet-4-5",
        "total_tokens": 11_500,
        "raw_max_tokens": 200_000,
        "percentage": 5.8,
        "is_estimate": False,
        "categories": [
            {"name": "system prompt", "tokens": 2_000, "kind": "used"},
            {"name": "tools", "tokens": 8_000, "kind": "used"},
            {"name": "MCP tools", "tokens": 1_000, "kind": "used"},
            {"name": "memory files", "tokens": 500, "kind": "used"},
            {"name": "free space", "tokens": 161_300, "kind": "free"},
            {"name": "reserve", "tokens": 27_200, "kind": "buffer"},
        ],
        "tools": [{"name": "Read", "tokens": 8_000}],
        "mcp_tools": [{"name": "mcp__tracker__create_issue", "tokens": 1_000, "server_name": "tracker"}],
        "memory_files": [{"path": "memory", "name": "memory", "tokens": 500}],
        "skills": [],
    }


def test_a_window_that_is_too_small_says_by_how_much():
    use = fold_window(ITEMS, (), model="m", window=10_000, reserve=100)

    assert "too small by 1.5k tokens" in render_plain(use)
    assert encode_window(use)["over_limit"] == {"tokens_over": 1_500, "kind": "hard_limit"}
