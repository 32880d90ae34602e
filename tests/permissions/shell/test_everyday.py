"""How often a person is asked about what they and their agents type every day.

`everyday.jsonl` holds single lines, written for this test after what public shell histories, guides of git and the documentation of
common tools show, and how models put commands together. Each is marked: it `reads`, or it `changes` something, runs code of the project,
or reaches out. The list is honest: what reads, and cannot be allowed, is on it, too.
"""

from pathlib import Path

import pytest
from tests.permissions.shell.worlds import judge, load_cases

from everturn.ports.policy import Ruling

LINES = load_cases(Path(__file__).parent / "everyday.jsonl")
MOST_ASKED = 0.15
"""Of the lines that only read."""


def list_lines(kind):
    return [case["line"] for case in LINES if case["kind"] == kind]


def test_the_list_is_long_enough_and_has_no_line_twice():
    assert len(LINES) >= 200
    assert len({case["line"] for case in LINES}) == len(LINES)
    assert {case["kind"] for case in LINES} == {"reads", "changes"}


def test_of_what_only_reads_little_is_asked_about():
    lines = list_lines("reads")

    asked = [line for line in lines if judge(line).ruling is not Ruling.ALLOW]

    print(f"\n{len(asked)} of {len(lines)} lines that only read are asked about ({len(asked) / len(lines):.1%}):")  # noqa: T201 (the figure)
    print("\n".join(asked))  # noqa: T201
    assert len(asked) <= MOST_ASKED * len(lines), asked


@pytest.mark.parametrize("line", list_lines("changes"))
def test_what_changes_something_is_asked_about(line):
    assert judge(line).ruling is Ruling.ASK


def test_no_line_that_only_reads_is_denied_or_runs_without_being_held():
    judged = {line: judge(line) for line in list_lines("reads")}

    assert [line for line, each in judged.items() if each.ruling is Ruling.DENY] == []
    assert [line for line, each in judged.items() if each.ruling is Ruling.ALLOW and each.holding is None] == []
