"""A run ends with a comparison to the results that were committed last: what rose by more than its spread is named."""

import pytest
from bench.comparing import Change, Told, list_changes, render_comparison

STEADY = [1.0, 1.0, 1.1, 1.2, 1.2]


def loops(*values):
    return {"turn": {"sdk": [1.0] * len(values), "everturn": list(values)}}


def told(*values):
    ordered = sorted(values)
    return Told(ordered[len(values) // 2], (ordered[0], ordered[len(values) // 2], ordered[-1]), len(values))


@pytest.mark.parametrize(
    ("before", "now", "word"),
    [
        (told(1.0, 1.1, 1.2), told(1.2, 1.3, 1.3), ""),
        (told(1.0, 1.1, 1.2), told(1.3, 1.4, 1.4), "rose"),
        (told(1.0, 1.1, 1.2), told(0.8, 0.8, 0.9), "fell"),
        (told(1.0, 1.1, 1.2), told(1.0, 1.4, 1.8), ""),
        (told(43.3, 43.3, 43.3), told(43.6, 43.6, 43.6), ""),
        (told(43.3, 43.3, 43.3), told(45.0, 45.0, 45.0), "rose"),
        (told(1.5), told(1.6), ""),
        (told(1.5), told(1.7), "rose"),
    ],
)
def test_a_figure_rose_when_it_rose_by_more_than_the_wider_spread(before, now, word):
    assert Change("a figure", before, now).word == word


def test_what_is_better_the_higher_it_is_gets_worse_by_falling():
    fallen = Change("a share", told(90.0, 90.0), told(80.0, 80.0), is_better_high=True)

    assert (fallen.is_worse, fallen._replace(before=fallen.now, now=fallen.before).is_worse) == (True, False)


def test_the_run_ends_with_the_names_of_what_got_worse():
    committed = {"files": {"samples": {"edit": [80.0, 81.0, 82.0], "edit_refused": [70.0, 71.0, 72.0]}}}
    found = {"files": {"edit": [80.0, 80.0, 83.0], "edit_refused": [90.0, 91.0, 92.0], "first_page": [2.0]}}

    changes = list(list_changes((loops(*STEADY), loops(*(value / 2 for value in STEADY))), (committed, found)))

    assert render_comparison(changes, "2026-11-18 11:57 UTC") == (
        "Compared to the results that were committed last (taken 2026-11-18 11:57 UTC; figures: 3):\n"
        "  harness time per turn, shell tool, turns 2 to 10: fell from 1.10 to 0.55\n"
        "  files: Edit in 10 MB whose text is not there: rose from 71.0 to 91.0\n"
        "Worse by more than its spread: files: Edit in 10 MB whose text is not there."
    )


def test_a_run_in_which_nothing_got_worse_says_so():
    changes = list(list_changes((loops(*STEADY), loops(*STEADY)), ({}, {})))

    assert render_comparison(changes, "2026-11-18 11:57 UTC") == (
        "Compared to the results that were committed last (taken 2026-11-18 11:57 UTC; figures: 1):\n"
        "None is worse by more than its spread."
    )


def test_a_part_that_was_never_committed_is_compared_to_nothing():
    assert render_comparison(list(list_changes(({}, loops(*STEADY)), ({}, {}))), "") == (
        "Nothing was measured that stands in the results that were committed last."
    )
