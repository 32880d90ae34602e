"""Nothing that is judged "allow" runs a program, or writes a file, that its rules do not name: tried in real bash."""

import os
import re
import shutil
import subprocess
from random import Random, SystemRandom

import pytest
from tests.permissions.shell.fuzzing.grammar import RULES, Grammar
from tests.permissions.shell.fuzzing.oracle import find_breach, find_unread
from tests.permissions.shell.fuzzing.stubs import NAMES, run_batch
from tests.permissions.shell.worlds import make_world, parse_rules

from everturn.permissions.shell.judge import judge_command
from everturn.ports.policy import Ruling

COUNT = int(os.environ.get("EVERTURN_SHELL_FUZZ", "20000")) // 5
"""Random lines in each of five tests, and half as many in four more; `make fuzz` takes more, with new seeds."""
BATCH = 2_000
IS_REPEATED = os.environ.get("EVERTURN_EXAMPLES", "test") == "test"
DENIED_FILE = "out.txt"
EVERYTHING_BUT_BAD = {"allow": ["Bash"], "deny": ["Bash(bad:*)", f"Edit({DENIED_FILE})"]}
"""Files that redirections write in the folder are covered, but for this one."""
FRIENDLY = ((0.98, 0.12), (0.9, 0.12), (0.95, 0.6), (0.8, 0.4))
"""Shares of what should be allowed, and of mutations."""
VARIED = ((0.95, 0.05), (0.9, 0.12), (0.7, 0.1), (0.4, 0.2))
HOSTILE = ((0.9, 0.1), (0.7, 0.1), (0.6, 0.5), (0.3, 0.3))


@pytest.fixture(params=range(1, 5))
def seed(request):
    """One of the four that `make test` always plays, or a new one; a failure names it."""
    return request.param if IS_REPEATED else SystemRandom().randrange(2**32)


def judge_lines(seed, count, rules=RULES, shares=FRIENDLY, make=Grammar.line, *, mode="default"):
    """The lines that are allowed, without repetition."""
    parsed = parse_rules(rules)
    world = make_world(parsed, mode)
    random = Random(seed)  # noqa: S311 (a seed that can be played again)
    grammars = [Grammar(random, friendly=friendly, mutated=mutated) for friendly, mutated in shares]
    lines = (make(grammars[number % len(grammars)]) for number in range(count))
    return [line for line in dict.fromkeys(lines) if judge_command(line, parsed, world).ruling is Ruling.ALLOW]


def run_lines(root, allowed, *, stays=True):
    """Of each line, what it called and what it left behind. `stays`: none leaves anything elsewhere."""
    for start in range(0, len(allowed), BATCH):
        lines = allowed[start : start + BATCH]
        calls, left = run_batch(root, lines)
        assert not stays or (calls.get(0), left.get(0)) == (None, None), "something escaped its folder"
        for index, line in enumerate(lines, 1):
            yield line, calls.get(index, []), left.get(index, [])


def reaches_real_programs(line):
    """`command -p` finds them instead of the stubs; what their own scripts write and run (`sed '1e bad'`) is no rule's business."""
    plain = re.sub(r"""[\\'"$@{},\n]""", "", line)
    return re.search(r"command\s+-p", plain) and any(
        name in plain for name in NAMES if shutil.which(name, path=os.defpath)
    )


def test_what_is_allowed_runs_nothing_that_the_rules_do_not_name(seed, tmp_path):
    allowed = judge_lines(seed, COUNT)

    ran = run_lines(tmp_path / "box", allowed)

    assert {line: breach for line, calls, left in ran if (breach := find_breach(calls, left))} == {}
    assert len(allowed) > COUNT / 10, "too few lines are allowed for the test to mean something"


def test_what_is_allowed_without_any_rule_calls_only_readers_whatever_its_variables_become(seed, tmp_path):
    allowed = judge_lines(seed, COUNT // 2, {}, VARIED, Grammar.line_with_variables)

    ran = run_lines(tmp_path / "box", allowed)

    assert {line: breach for line, calls, left in ran if (breach := find_unread(calls, left))} == {}
    assert len(allowed) > COUNT / 20, "too few lines are allowed for the test to mean something"


@pytest.mark.parametrize("seed", [1], indirect=True)
def test_in_the_mode_that_asks_nothing_what_is_denied_does_not_run(seed, tmp_path):
    """Files that it leaves elsewhere are nobody's business there."""
    allowed = judge_lines(seed, COUNT, {"deny": ["Bash(bad:*)"]}, HOSTILE, mode="bypassPermissions")

    ran = run_lines(tmp_path / "box", allowed, stays=False)

    assert [
        line for line, calls, _ in ran if any(call[0] == "bad" for call in calls) and not reaches_real_programs(line)
    ] == []
    assert len(allowed) > COUNT / 10, "too few lines are allowed for the test to mean something"


@pytest.mark.parametrize("seed", [1], indirect=True)
def test_where_everything_is_allowed_what_is_denied_does_not_run(seed, tmp_path):
    allowed = judge_lines(seed, COUNT, EVERYTHING_BUT_BAD, HOSTILE)

    ran = run_lines(tmp_path / "box", allowed)

    assert [
        line
        for line, calls, left in ran
        if (DENIED_FILE in left or any(call[0] == "bad" for call in calls)) and not reaches_real_programs(line)
    ] == []
    assert len(allowed) > COUNT / 10, "too few lines are allowed for the test to mean something"


@pytest.mark.parametrize("seed", [1], indirect=True)
def test_what_is_allowed_is_no_error_of_syntax_to_bash(seed):
    bash = shutil.which("bash")

    allowed = judge_lines(seed, 1_000)

    assert [
        line
        for line in allowed
        if subprocess.run([bash, "-n", "-c", line], stderr=subprocess.DEVNULL, check=False).returncode
    ] == []
