"""Samples become sentences: what is told, whether it is reached, and what the page says of parts nobody measured."""

import pytest
from bench.aims import AIMS, Aim, Verdict, judge_part, nearly_worst
from bench.keeping import keep_part, load_kept
from bench.parts_page import NOTHING, render_aim, render_measured, render_part, render_parts

MACHINE = {"cores": 2, "system": "Linux x86_64", "load_before": 0.5, "python": "3.13.1", "everturn": "0.1.0"}


def kept(**samples):
    return {"taken": "2026-11-16 00:00 UTC", **MACHINE, "samples": samples}


@pytest.mark.parametrize(
    ("aim", "value", "reached"),
    [
        (Aim("a", "A", "ms", 50), 50.0, True),
        (Aim("a", "A", "ms", 50), 50.1, False),
        (Aim("a", "A", "ms", 50, strict=True), 50.0, False),
        (Aim("a", "A", "ms"), 50.0, None),
    ],
)
def test_at_most_and_less_than_differ_at_the_limit(aim, value, reached):
    assert Verdict(aim, value, (value, value, value), 1).reached is reached


def test_the_median_the_99th_and_the_worst_are_told_as_the_aim_wants():
    values = [float(number) for number in range(1, 201)]
    found = {"flood": values, "abort": values, "abort_deaf": values}

    told = {verdict.aim.key: verdict.value for verdict in judge_part("execution", found)}

    assert told == {"flood": 100.5, "abort": 199.0, "abort_deaf": 200.0}


def test_the_99th_of_few_is_the_worst():
    assert nearly_worst([3.0, 1.0, 2.0]) == 3.0


@pytest.mark.parametrize(
    ("aim", "values", "measured", "limit"),
    [
        (Aim("a", "A", "ms", 2_500, strict=True, told="worst"), (1, 2, 3), "worst 3.00, 2.00 (1.00 to 3.00) ms", "< 2,500 ms"),
        (Aim("a", "A", "", 1.2), (1, 2, 3), "2.00 (1.00 to 3.00)", "≤ 1.2"),
        (Aim("a", "A", "MB"), (2,), "2.00 MB", ""),
    ],
)  # fmt: skip
def test_a_figure_is_told_with_its_unit_and_its_spread(aim, values, measured, limit):
    spread = (values[0], values[len(values) // 2], values[-1])
    verdict = Verdict(aim, max(values) if aim.told == "worst" else spread[1], spread, len(values))

    assert (render_measured(verdict), render_aim(aim)) == (measured, limit)


def test_a_part_is_a_table_that_says_what_was_missed():
    assert render_part("files", kept(first_page=[40.0, 60.0, 80.0], edit=[100.0], edit_refused=[500.0])) == (
        "**files**, taken 2026-11-16 00:00 UTC on 2 cores (Linux x86_64, load 0.5 at the start), Python 3.13.1, Everturn 0.1.0:\n"
        "\n"
        "| figure | measured | times | aim | |\n"
        "|---|---|---|---|---|\n"
        "| Read: first page of 1 GB | 60.0 (50.0 to 70.0) ms | 3 | ≤ 50 ms | **missed** |\n"
        "| Edit in 10 MB | 100 ms | 1 | ≤ 200 ms | reached |\n"
        "| Edit in 10 MB whose text is not there | 500 ms | 1 |  |  |\n"
    )


def test_a_page_without_results_says_so():
    assert NOTHING in render_parts({})


def test_a_page_with_some_parts_names_the_others():
    page = render_parts({"files": kept(edit=[100.0])})

    assert "Not measured yet: execution, search, journal, sandbox, permissions, hooks, terminal, day.\n" in page


def test_a_part_that_is_measured_again_takes_its_own_place_among_the_others(tmp_path):
    file = tmp_path / "tools.json"

    keep_part("search", kept(glob=[1.0]), file)
    keep_part("files", kept(edit=[1.0]), file)
    keep_part("search", kept(glob=[2.0]), file)

    assert list(load_kept(file).items()) == [("files", kept(edit=[1.0])), ("search", kept(glob=[2.0]))]


def test_every_figure_has_a_key_of_its_own_within_its_part():
    assert [name for name, aims in AIMS.items() if len({aim.key for aim in aims}) < len(aims)] == []
