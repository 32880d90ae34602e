"""The benchmarks run: one round of the cheapest play, as `make bench` would run it."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_bench(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "bench.run", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def test_a_round_of_a_play_prints_its_figures_with_their_reach_and_leaves_the_docs_alone():
    page = ROOT / "docs" / "benchmarks.md"
    before = page.read_bytes()

    done = run_bench("--rounds", "1", "--only", "shell", "--forget")

    assert (done.returncode, done.stderr) == (0, "round 1 of 1\n")
    table, comparison = done.stdout.split("\n\n")
    assert [re.split(r"  +", line)[0] for line in table.splitlines()] == [
        "figure",
        "process start to first request, HTTP",
        "harness time per turn, shell tool, turns 2 to 10",
        "the same at the first call",
    ]
    assert comparison.startswith("Compared to the results that were committed last (taken ")
    assert page.read_bytes() == before


def test_an_unknown_part_is_named_with_those_that_exist():
    done = run_bench("--only", "shel")

    names = "shell, secure, version, tool, deltas, many, long, files, execution, search, journal, sandbox, permissions, hooks, terminal, day"
    expected = f"There is no part 'shel'; there are: {names}.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


def test_the_page_and_the_picture_are_those_of_the_kept_results():
    done = run_bench("--check-docs")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
