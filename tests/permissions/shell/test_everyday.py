"""How often a person is asked about what they and their agents type every day.

`everyday.jsonl` holds single lines, written for this test after what public shell histories, guides of git and the documentation of
common tools show, and how models put commands together. Each is marked: it `reads`, or it `changes` something, runs code of the project,
or reaches out. The list is honest: what reads, and cannot be allowed, is on it, too.
"""

import subprocess
from pathlib import Path

import pytest
from tests.permissions.shell.test_doubts import WAYS, rule
from tests.permissions.shell.worlds import judge, load_cases

from everturn.ports.policy import Ruling

LINES = load_cases(Path(__file__).parent / "everyday.jsonl")
MAX_ASKED = 0.15
"""Of the lines that only read."""
DENIED = ["Bash(git push:*)", "Bash(curl:*)", "Bash(rm -rf:*)", "Read(.env)", "Read(**/*.pem)", "Edit(*.lock)"]
"""As people write them."""
MAX_DOUBTED = 0.05
"""Of all lines, where such rules hold and everything else may run; 0.07 beside a rule for every command, which covers less."""


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
    assert len(asked) <= MAX_ASKED * len(lines), asked


@pytest.mark.parametrize("line", list_lines("changes"))
def test_what_changes_something_is_asked_about(line):
    assert judge(line).ruling is Ruling.ASK


def test_no_line_that_only_reads_is_denied_or_runs_without_being_held():
    judged = {line: judge(line) for line in list_lines("reads")}

    assert [line for line, each in judged.items() if each.ruling is Ruling.DENY] == []
    assert [line for line, each in judged.items() if each.ruling is Ruling.ALLOW and each.holding is None] == []


@pytest.mark.parametrize("way", WAYS)
def test_where_some_things_are_denied_little_else_is_asked_about(tmp_path, way):
    folder = tmp_path.resolve() / "project"
    for name in (
        "src/app.py",
        "src/a.ts",
        "tests/test_a.py",
        "docs/a.md",
        "a.txt",
        "b.txt",
        "poetry.lock",
        ".env",
        "config/key.pem",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("old")
    subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(["git", "add", "src", "tests", "docs", "poetry.lock"], cwd=folder, check=True)

    asked = [case["line"] for case in LINES if rule(folder, way, case["line"], DENIED).ruling is Ruling.ASK]

    print(f"\n{way}: {len(asked)} of {len(LINES)} lines are asked about:", *asked, sep="\n")  # noqa: T201 (the figure)
    most = MAX_DOUBTED if way != "a rule for every command" else 0.07
    assert len(asked) <= most * len(LINES), asked
