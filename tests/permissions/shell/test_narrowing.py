"""What "always allow" would write: narrow, readable, and enough for the same command next time."""

import pytest
from tests.permissions.shell.worlds import judge

from everturn.permissions.shell.approval.narrow_rules import MAX_RULES, plan_narrow_rules
from everturn.permissions.shell.running.survey import read_command
from everturn.ports.policy import Ruling


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("npm run test -- --watch", ("Bash(npm run test *)",)),
        ("timeout 60 npm run build 2>&1 | tail -5", ("Bash(npm run build *)",)),
        ("git add -A && git commit -m 'x; y'", ("Bash(git add *)", "Bash(git commit *)")),
        ("git push origin main", ("Bash(git push origin main)",)),
        ("cargo test --all && ls", ("Bash(cargo test *)",)),
        ("rm -rf build", ("Bash(rm -rf build)",)),
        ("./run.sh --fast", ("Bash(./run.sh --fast)",)),
        ("make -j4 all", ("Bash(make -j4 all)",)),
        ("NODE_ENV=test npm test", ("Bash(npm test *)",)),
        ("ls -la", ()),
    ],
)
def test_the_narrowest_rules_are_planned(command, rules):
    assert plan_narrow_rules(command) == rules


@pytest.mark.parametrize(
    "command",
    [
        "python3 x.py", "node -e 1", "bash x.sh", "sh -c 'make'", "env make", "sudo make", "eval make", "xargs -n1 make", "npx tsc", "FOO=1 make",
        "make $X", "make *", "foo $(bar)", "uv run x", "exec make", "source x", "export A=1", "make; (", "make `x`", "docker run x", "ssh h x",
        "find . -name '*.o' -delete", "watch make", "f() { make; }", "a 1; a 2; a 3; a 4; a 5; a 6",
    ],
)  # fmt: skip
def test_no_rule_is_planned_where_it_would_be_wider_than_it_looks(command):
    assert plan_narrow_rules(command) == ()


@pytest.mark.parametrize(
    "command",
    ["npm run test -- x && cargo build", "git commit -m 'a' && ./x.sh", "go test ./... | head", "make all; tsc -p x"],
)
def test_with_the_planned_rules_the_same_command_passes(command):
    rules = plan_narrow_rules(command)

    assert 0 < len(rules) <= MAX_RULES
    assert judge(command, {"allow": rules}).ruling is Ruling.ALLOW


def test_parts_are_shown_as_written():
    reading = read_command('FOO=1 npm  test && echo "$(git log)" > x')

    assert [part.text for part in reading.commands] == ["npm test", "git log", 'echo "$(git log)"']
