"""A permission rule as a filter of calls: what it covers, and that it lets through what nobody can tell."""

import pytest

from everturn.compose.lone_policy import build_call
from everturn.permissions.conditions import CallFilter


@pytest.fixture
def covers(tmp_path):
    (tmp_path / ".env").touch()
    return CallFilter(str(tmp_path), lambda: str(tmp_path))


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("Bash", "ls", True),
        ("Bash(git *)", "git push", True),
        ("Bash(git *)", "ls && git push", True),
        ("Bash(git *)", "A=1 git push", True),
        ("Bash(git *)", "echo $(git push)", True),
        ("Bash(git *)", "ls", False),
        ("Bash(git *)", "echo $HOME", False),
        ("Bash(git push *)", "echo $HOME", False),
        ("Bash(git push *)", "git $action", True),
        ("Bash(git push *)", "$program push", True),
        ("Bash(git push *)", "git -C $folder push", True),
        ("Bash(git push *)", "action=push; git $action", True),
        ("Bash(git push *)", "git diff $TMPDIR/a", False),
        ("Bash(git push *)", "echo $(git push)", True),
        ("Bash(git push *)", "echo $(git status)", False),
        ("Bash(git push *)", "echo `$program`", True),
        ("Bash(git push *)", 'eval "$line"', True),
        ("Bash(git push *)", 'bash -c "$line"', True),
        ("Bash(git push *)", "xargs git < $names", True),
        ("Bash(git push *)", "python3 -m unittest -q > $TMPDIR/first.txt 2>&1; grep FAIL $TMPDIR/first.txt", False),
        ("Bash(git push *)", "cat > $TMPDIR/notes.txt <<'END'\nhello\nEND", False),
        ("Bash(git push *)", "for name in a.py b.py; do grep -c x $name; done", False),
        ("Bash(git push *)", "for name in git ls; do $name push; done", True),
        ("Bash(git *)", "$program push", True),
        ("Bash(git push *)", "git pull", False),
        ("Bash(git push:*)", "git push origin", True),
        ("Bash(git push *)", "ls 'unfinished", True),
        ("Bash(git push *)", "echo push | xargs git", True),
        ("Bash(git push *)", "rm -rf ~", False),
        ("Bash(rm *)", "$(echo rm) x", True),
        ("Bash(rm *)", "alias z='rm x'; z", True),
        ("Bash(rm *)", "source <(echo 'rm x')", True),
        ("Read", "ls", False),
        ("Read(.env)", "cat .env", True),
        ("Read(.env)", "cat .e*", True),
        ("Read(.env)", "cat $X", True),
        ("Read(.env)", "cat a.txt", False),
        ("Edit(.env)", "cat .env", False),
        ("Edit(.env)", "touch .env", True),
        ("Bash(", "ls", True),
    ],
)
def test_commands(covers, rule, command, expected):
    assert covers(rule, build_call("Bash", {"command": command})) is expected


@pytest.mark.parametrize(
    ("rule", "tool", "path", "expected"),
    [
        ("Edit(src/**)", "Edit", "src/a.py", True),
        ("Edit(src/**)", "Write", "src/deep/a.py", True),
        ("Edit(src/**)", "Edit", "other/src/a.py", False),
        ("Edit(*.ts)", "Write", "deep/a.ts", True),
        ("Edit(*.ts)", "Write", "deep/a.py", False),
        ("Edit(src/**)", "Read", "src/a.py", False),
        ("Read(.env)", "Read", "deep/.env", True),
        ("Read(.env)", "Edit", "deep/.env", False),
        ("Write", "Write", "a", True),
        ("Write", "Edit", "a", False),
    ],
)
def test_files(covers, rule, tool, path, expected):
    assert covers(rule, build_call(tool, {"file_path": path})) is expected


def test_hosts(covers):
    fetch = build_call("WebFetch", {"url": "https://docs.example.com/a"})

    assert covers("WebFetch(domain:*.example.com)", fetch)
    assert not covers("WebFetch(domain:example.org)", fetch)


@pytest.mark.parametrize("text", ["Bash(git *)|Bash(npm *)", "Bash(git *), Bash(npm *)", "Edit(*.ts) Write(*.ts)"])
def test_several_rules_in_one_text_say_so_and_cover_every_call(covers, text):
    assert "holds several rules" in covers.problem(text)
    assert covers(text, build_call("Bash", {"command": "npm install"}))


def test_what_is_no_rule_says_so(covers):
    assert covers.problem("Bash(git *)") == ""
    assert covers.problem("Bash(") != ""
