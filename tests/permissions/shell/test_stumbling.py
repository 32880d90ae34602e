"""Lines that a careful model writes every day, and that need no question: as far as they are safe."""

import pytest
from tests.permissions.shell.worlds import judge

from everturn.ports.policy import Ruling

RULES = {"allow": ["Bash(pytest *)", "Bash(python -m pytest *)"]}


@pytest.mark.parametrize(
    "command",
    [
        "set -e; ls",
        "set -euo pipefail\nls | head -3",
        "set -o pipefail && grep -rn x src | wc -l",
        "set -eu -o pipefail; ls",
        "set +e; ls",
        "ls | head; echo ${PIPESTATUS[0]}",
        'ls | head; echo "rc=${PIPESTATUS[1]}"',
        "ls | head; exit ${PIPESTATUS[0]}",
        "cd tests && grep -n x ../src/*.py",
        "cd tests && cat ../src/*.py ../README.*",
        "cd tests/unit && wc -l ../../src/*.py",
        "CI=1 ls",
    ],
)
def test_a_line_of_readers_stays_one(command):
    judgement = judge(command)

    assert judgement.ruling is Ruling.ALLOW, judgement.why
    assert not judgement.holding.writes


@pytest.mark.parametrize(
    "command",
    [
        "set -o pipefail; pytest -q | tail -5",
        "set -e; pytest -q",
        "pytest -q | tail -5; echo ${PIPESTATUS[0]}",
        "pytest -q 2>&1 | tail -5; exit ${PIPESTATUS[0]}",
        "PYTHONDONTWRITEBYTECODE=1 python -m pytest",
        "CI=true FORCE_COLOR=0 timeout 60 python -m pytest -q",
    ],
)
def test_what_a_rule_covers_stays_covered(command):
    judgement = judge(command, RULES)

    assert judgement.ruling is Ruling.ALLOW, judgement.why


@pytest.mark.parametrize(
    "command",
    [
        "set; ls",
        "set -x; ls",
        "set -a; ls",
        "set -o; ls",
        "set -o posix; ls",
        "set -o allexport; ls",
        "set -- a b; ls",
        "set -e $X; ls",
        'set "$x"; ls',
        "echo ${PIPESTATUS[$(touch a)]}",
        "echo ${PIPESTATUS[x]}",
        "echo ${OTHER[0]}",
        "head -n ${PIPESTATUS[@]} a",
        "cat ../src/*.py",
        "cd tests && cat ../../*/x",
        "cd tests && cat ../src/*/../../../x",
        "cd tests && cat ../*/../../x*",
        "XYZ=1 pytest",
        "CI=$(touch a) pytest",
        "CI=/tmp/x pytest",
        "PYTHONPATH=1 python -m pytest",
        "PYTHONSTARTUP=1 python -m pytest",
        "CI=1 python x.py",
        "echo x | tee a",
        "tee a < b",
    ],
)
def test_other_forms_are_still_asked_about(command):
    assert judge(command, RULES).ruling is Ruling.ASK


@pytest.mark.parametrize(
    "command", ["echo x | tee a", "ls | tee -a logs/a b", "pytest | tee test.log | tail -3", "cat a | tee b > c"]
)
def test_tee_is_an_edit_like_others(command):
    judgement = judge(command, RULES, mode="acceptEdits")

    assert judgement.ruling is Ruling.ALLOW, judgement.why


@pytest.mark.parametrize(
    "command",
    [
        "echo x | tee .git/config",
        "echo x | tee AGENTS.md",
        "echo x | tee a .bashrc",
        "echo x | tee /etc/passwd",
        "echo x | tee ../a",
        'echo x | tee "$f"',
        "echo x | tee *.log",
        "echo x | tee >(sh)",
        "cd $X && echo x | tee a",
        "echo x | tee -p a",
        "pytest | tee ../a",
    ],
)
def test_tee_is_asked_about_where_an_edit_would_be(command):
    assert judge(command, RULES, mode="acceptEdits").ruling is Ruling.ASK


def test_rules_about_files_come_before_tee():
    assert judge("pytest | tee a.log", {**RULES, "deny": ["Edit(*.log)"]}, mode="acceptEdits").ruling is Ruling.DENY
    assert judge("pytest | tee a.log", {"allow": ["Bash(pytest *)", "Edit(./a.log)"]}).ruling is Ruling.ALLOW
    assert judge("pytest | tee a.log", RULES, mode="plan").ruling is not Ruling.ALLOW
