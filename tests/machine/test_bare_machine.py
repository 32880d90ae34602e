"""The tests on a machine that has nothing: every optional program is hidden, and nothing fails."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.machine.unmarked import OPTIONAL
from tests.needs import NEEDS, ROOT, render_table

TESTS = ROOT / "tests"
AS_NOBODY = "bubblewrap as nobody"
PATIENCE_S = 1_200
SOME = (
    "adversary/test_watching.py",
    "cli/test_completion.py",
    "permissions/shell/test_arrivals.py",
    "sandbox/test_network.py",
    "sessions/kill/test_kill.py",
    "sessions/test_other_readers.py",
    "tools/test_bash_changes.py",
    "tools/test_grep_engines.py",
)
"""Files whose tests need, together, every optional program."""


def run_bare(*words):
    """Within this process's own worker: the other tests want theirs."""
    command = [sys.executable, "-m", "tests.bare_machine", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def run_tests(*words, before=()):
    return run_bare(*before, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words)


@pytest.mark.needs("mount namespaces")
def test_the_programs_are_hidden_and_those_of_every_machine_are_not():
    wanted = sorted({program for need in NEEDS.values() for program in need.programs} - {"unshare", "nsenter"})

    found = run_bare("sh", "-c", 'for name; do command -v "$name"; done', "sh", *wanted, "git", "make", "python3", "ls")

    names = [Path(line).name for line in found.stdout.splitlines()]
    assert names == ["git", "make", "python3", "ls"]


@pytest.mark.needs("mount namespaces")
def test_no_test_that_names_such_a_program_fails_there_for_want_of_a_mark():
    """All of them are collected there on the way."""
    done = run_tests("-p", "tests.machine.unmarked")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert " passed" in done.stdout.splitlines()[-1]


@pytest.mark.needs("mount namespaces")
def test_the_end_says_what_was_left_out_for_want_of_what_and_how_to_run_it():
    done = run_tests("-m", "needs", "-k", "not landlock", *(str(TESTS / name) for name in SOME))

    *names, counts, advice, _ = done.stdout.splitlines()
    assert "  tests/cli/test_completion.py::test_zsh_completes_commands_flags_values_and_files (7 cases)" in names
    wanting = set(re.findall(r"(?:: |, )([^:,]+) \d+", counts))
    assert wanting - {"our ripgrep", "package registry"} == OPTIONAL - (set() if os.getuid() == 0 else {AS_NOBODY})
    assert "`make test-all` installs" in advice


@pytest.mark.needs("mount namespaces")
def test_with_everturn_ci_absence_is_a_failure():
    done = run_tests("tests/tools/test_bash_changes.py", "-k", "patch_changes", before=("env", "EVERTURN_CI=1"))

    assert done.returncode == 1
    assert "this machine lacks patch: patch cannot be found" in done.stdout
    assert "skipped" not in done.stdout


def test_the_table_for_contributors_is_that_of_the_needs():
    assert render_table() in (ROOT / "CONTRIBUTING.md").read_text("utf-8"), "python -m tests.needs --table prints it"


@pytest.mark.parametrize("name", NEEDS)
def test_every_need_is_one_of_some_test(name):
    texts = (path.read_text("utf-8") for path in TESTS.rglob("*.py") if path.name != "needs.py")

    assert any(f'"{name}"' in text for text in texts)
