"""A change as a person reads it: numbers, signs, changed words, within the width, quickly, and nothing that a terminal obeys."""

import random
import re
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pace import measured

from everturn.frontends.flow import width_of
from everturn.frontends.terminal.diff_lines import DiffHunk, count_changes, lay_diff, plan_hunks
from everturn.frontends.terminal.palette import DARK

KEY = "sk-ant-api03-made-up-9fK2xQ7wLp4Tz8VbN3cR6yHd-key-for-tests"


def show(old, new, columns=60, **more):
    return ["".join(piece.text for piece in row).rstrip() for row in lay_diff(plan_hunks(old, new), columns, **more)]


def number(count):
    return "".join(f"line {at}\n" for at in range(1, count + 1))


def test_a_change_has_numbers_signs_and_three_lines_around_it():
    old = number(20)

    assert show(old, old.replace("line 10\n", "LINE ten\n")) == [
        " 7   line 7",
        " 8   line 8",
        " 9   line 9",
        "10 - line 10",
        "10 + LINE ten",
        "11   line 11",
        "12   line 12",
        "13   line 13",
    ]


def test_changes_far_from_each_other_are_hunks_and_near_ones_are_one():
    old = number(30)
    new = old.replace("line 2\n", "").replace("line 8\n", "line 8\nnew\n").replace("line 25\n", "twenty-five\n")

    assert show(old, new) == [
        " 1   line 1",
        " 2 - line 2",
        " 2   line 3",
        " 3   line 4",
        " 4   line 5",
        " 5   line 6",
        " 6   line 7",
        " 7   line 8",
        " 8 + new",
        " 9   line 9",
        "10   line 10",
        "11   line 11",
        " ⋮",
        "22   line 22",
        "23   line 23",
        "24   line 24",
        "25 - line 25",
        "25 + twenty-five",
        "26   line 26",
        "27   line 27",
        "28   line 28",
    ]


def test_changed_words_are_picked_out_where_lines_are_alike():
    row_gone, row_come = lay_diff(plan_hunks("def add(a, b):\n", "def add(a, c):\n"), 60)

    assert [(piece.text, piece.codes) for piece in row_gone[2:]] == [("def add(a, ", "31"), ("b", "31;7"), ("):", "31")]
    assert [(piece.text, piece.codes) for piece in row_come[2:]] == [("def add(a, ", "32"), ("c", "32;7"), ("):", "32")]


def test_the_colours_are_those_of_the_palette():
    row_gone, row_come = lay_diff(plan_hunks("a b c d\n", "a b c e\n"), 60, palette=DARK)

    assert [piece.codes for piece in row_gone] == [DARK.quiet, DARK.removed, DARK.removed, DARK.removed_words]
    assert [piece.codes for piece in row_come] == [DARK.quiet, DARK.added, DARK.added, DARK.added_words]


def test_of_lines_that_have_little_in_common_no_words_are_picked_out():
    rows = lay_diff(plan_hunks("import os\n", "x = frobnicate(12, 13)\n"), 60)

    assert [[piece.codes for piece in row[1:]] for row in rows] == [["31", "31"], ["32", "32"]]


def test_new_files_and_emptied_ones():
    assert show("", "a\nb\n") == ["1 + a", "2 + b"]
    assert show("a\nb\n", "") == ["1 - a", "2 - b"]
    assert show("a\n", "a\n") == []
    assert show("", "") == []


def test_the_end_of_a_file_is_told():
    assert show("a\n", "a") == ["    no newline at the end of the file"]
    assert show("a", "a\n") == ["    a newline at the end of the file"]


def test_line_ends_count_only_where_they_change():
    assert show("a\r\nb\r\n", "a\r\nc\r\n") == ["1   a", "2 - b", "2 + c"]
    assert show("", "a\r\n") == ["1 + a"]
    assert show("a\r\n", "a\n") == ["1 - a\\r", "1 + a"]


def test_of_many_rows_the_middle_is_folded():
    assert show("", number(127), max_rows=8) == [
        "  1 + line 1",
        "  2 + line 2",
        "  3 + line 3",
        "  4 + line 4",
        "  5 + line 5",
        "… 120 more lines",
        "126 + line 126",
        "127 + line 127",
    ]
    assert len(show("", number(8), max_rows=8)) == 8
    assert show("", number(8), max_rows=1) == ["… 8 more lines"]


def test_rows_are_cut_at_the_width_with_wide_characters():
    assert show("", "漢字漢字漢字\n", columns=14) == ["1 + 漢字漢字…"]
    assert show("one two three four\n", "one two three five\n", columns=16) == ["1 - one two thr…", "1 + one two thr…"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a\\e[2Jb"),
        ("a\tb", "a   b"),
        ("rm \u202etxt.a", "rm \\u202etxt.a"),
        ("a\u200bb", "a\\u200bb"),
        ("a\x00b\x9b", "a\\0b\\x9b"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_written_out(text, shown):
    assert show("", f"{text}\n") == [f"1 + {shown}"]


def test_keys_are_hidden_unless_a_person_consents_to_what_they_see():
    assert show("", f"key = {KEY}\n", columns=200) == ["1 + key = [key]"]
    assert show("", f"key = {KEY}\n", columns=200, masks=False) == [f"1 + key = {KEY}"]
    assert show("", f"{'x' * 50} {KEY}\n", columns=60) == [f"1 + {'x' * 50} [key]"]


def test_hunks_of_a_result_are_shown_alike():
    hunk = DiffHunk(9, 9, (" a", "-b", "+c", " d"))

    assert ["".join(piece.text for piece in row) for row in lay_diff([hunk], 40)] == [
        " 9   a",
        "10 - b",
        "10 + c",
        "11   d",
    ]
    assert count_changes([hunk]) == (1, 1)


def apply(old, hunks):
    """Puts the hunks into the old text, as `patch` does."""
    lines, made, at = old.split("\n"), [], 0
    for hunk in hunks:
        body = [line for line in hunk.lines if not line.startswith("\\")]
        if not body:
            continue
        made += lines[at : hunk.old_start - 1]
        assert len(made) == hunk.new_start - 1
        kept = [line[1:] for line in body if line[0] in " -"]
        assert lines[hunk.old_start - 1 : hunk.old_start - 1 + len(kept)] == kept
        made += [line[1:] for line in body if line[0] in " +"]
        at = hunk.old_start - 1 + len(kept)
    return "\n".join([*made, *lines[at:]])


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "{", "}", "long line"]), max_size=40)


@given(LINES, LINES)
def test_the_hunks_make_the_new_text_of_the_old_one(old, new):
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)

    assert apply(before, plan_hunks(before, after)) == after


@given(st.text(), st.text(), st.integers(0, 50), st.integers(0, 12))
def test_no_row_is_wider_than_the_width_and_none_is_obeyed(old, new, columns, rows):
    shown = show(old, new, columns=columns, max_rows=rows)

    assert all(width_of(row) <= max(columns, 14) for row in shown)
    assert all(re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", row) is None for row in shown)
    assert not rows or len(shown) <= rows


def scattered(draw, count):
    old = [f"{'    ' * (at % 4)}value_{at} = compute({at % 17})" for at in range(count)]
    new = [f"{line}  # changed" if draw.random() < 0.05 else line for line in old if draw.random() > 0.02]
    return "\n".join(old), "\n".join(new)


def same(draw, count):
    return "\n".join(draw.choice("{}") for _ in range(count)), "\n".join(draw.choice("{}") for _ in range(count))


def shuffled(draw, count):
    lines = [f"line {at}" for at in range(count)]
    return "\n".join(lines), "\n".join(draw.sample(lines, count))


def unlike(_, count):
    return number(count), number(count).replace("line", "other")


@pytest.mark.parametrize("make", [scattered, same, shuffled, unlike])
def test_10_000_lines_are_compared_and_shown_in_50_ms(make):
    old, new = make(random.Random(7), 10_000)  # noqa: S311 - lines, no secrets

    took = []
    for _ in range(5):
        with measured() as spent:
            rows = lay_diff(plan_hunks(old, new), 100, max_rows=40)
        took.append(spent.seconds)
        assert len(rows) == 40

    assert median(took) < 0.05


def test_one_line_of_a_megabyte_is_shown_in_a_moment():
    with measured() as spent:
        rows = lay_diff(plan_hunks("x " * 500_000, "y " * 500_000), 80)

    assert len(rows) == 2
    assert spent.seconds < 0.05


def test_texts_of_many_megabytes_are_not_compared():
    with measured() as spent:
        hunks = plan_hunks("old\n" * 2_000_000, "new\n" * 2_000_000)

    assert count_changes(hunks) == (2_000_000, 2_000_000)
    assert spent.seconds < 2
