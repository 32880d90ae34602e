"""What git shows of files that may not be read, of the working tree, the index and history: real repositories, real git."""

import os
import subprocess

import pytest
from tests.permissions.shell.test_doubts import rule

from everturn.ports.policy import Ruling

SECRET = "gold"
PERSON = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b"}
EVERY_WAY = pytest.mark.parametrize("way", ["bypassPermissions", "the sandbox", "a rule for every command"])
SHOWS = [
    "git show HEAD:.env", "git show :.env", "git show :0:.env", "git show HEAD:./.env", "git show 'HEAD@{0}:.env'", "git show @:sub/.env",
    "git show HEAD", "git show", "git show ':/second'", "git show --stat -p HEAD", "git log -p", "git log -p -- sub", "git log -p -1",
    "git log -L1,1:.env", "git log -p -- ':(top).env'", "git log -p -- '*env'", "git log -p -- ':/'", "git -C sub log -p -- x.txt",
    "git cat-file --batch <<< HEAD:.env", "git cat-file -p HEAD:.env", "git cat-file blob :.env", "git diff HEAD~1", "git diff HEAD~1 HEAD",
    "git diff", "git diff --cached HEAD~1", "git diff --no-index /dev/null .env", "git diff --no-index one two", "git grep gold",
    "git grep gold HEAD~1", "git grep --no-index gold", "git grep --untracked gold", "git blame .env", "git archive HEAD",
    "git format-patch --stdout HEAD~1", "git stash show -p", "git fast-export HEAD", "cd sub && git show HEAD:.env",
    "cd sub && git show HEAD:sub/.env", "git whatchanged -p", "git diff-tree -p HEAD", "git range-diff HEAD~1 HEAD HEAD", "git show $X",
    "git show HEAD:$X", "git log -p -- $X",
]  # fmt: skip
SHOWS_OTHERS = [
    "git status", "git log", "git log --oneline -5", "git log --stat", "git diff --stat", "git diff --name-only HEAD~1", "git show --stat HEAD",
    "git show HEAD:src/a.py", "git log -p -- src/a.py", "git log -p -1 src/a.py", "git diff HEAD~1 -- src/a.py", "git blame src/a.py",
    "git cat-file -t HEAD", "git ls-files", "git branch -a", "git add src", 'git commit -m "$M"', "git push origin $B", "git grep old -- src/a.py",
    "git tag", "git rev-parse HEAD",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    place = tmp_path.resolve() / "project"
    for name in (".env", "sub/.env", "src/a.py", "sub/x.txt", "one/.env", "two/x"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(SECRET if name.endswith(".env") else "old\n")
    run(place, "init", "-q")
    run(place, "add", "sub/x.txt")
    run(place, "commit", "-qm", "first")
    run(place, "add", "-A")
    run(place, "commit", "-qm", "second")
    (place / "src/a.py").write_text("new\n")
    run(place, "stash", "-q")
    (place / ".env").write_text(f"{SECRET} and more")
    return place


def run(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **PERSON})


@EVERY_WAY
@pytest.mark.parametrize("command", SHOWS)
def test_what_may_show_a_denied_file_is_not_let_through(folder, way, command):
    assert rule(folder, way, command, ["Read(.env)"]).ruling is not Ruling.ALLOW


def test_each_of_these_lines_would_show_it_or_may(folder):
    """Most do. The others show another file here, or fail; which of both is only known when they run."""
    shown = [line for line in SHOWS if SECRET in say(folder, line)]

    assert len(shown) > len(SHOWS) / 2


def say(folder, line):
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False).stdout


@EVERY_WAY
@pytest.mark.parametrize("command", SHOWS_OTHERS)
def test_what_shows_others_is(folder, way, command):
    verdict = rule(folder, way, command, ["Read(.env)"])

    assert (verdict.ruling, command) == (Ruling.ALLOW, command), verdict.reason
    assert SECRET not in say(folder, command)


@EVERY_WAY
def test_what_the_index_does_not_know_is_not_shown_by_a_diff(folder, way):
    run(folder, "rm", "-q", "--cached", ".env", "sub/.env", "one/.env")
    run(folder, "commit", "-qm", "third")

    for command in ("git diff", "git diff --cached", "git grep old"):
        assert rule(folder, way, command, ["Read(.env)"]).ruling is Ruling.ALLOW
    for command in ("git log -p", "git diff HEAD~1", "git grep gold HEAD~1"):
        assert rule(folder, way, command, ["Read(.env)"]).ruling is not Ruling.ALLOW


@EVERY_WAY
def test_a_rule_about_another_place_is_none_of_gits_business(folder, way):
    assert rule(folder, way, "git log -p", ["Read(~/.ssh/**)", "Read(//etc/**)"]).ruling is Ruling.ALLOW


@EVERY_WAY
def test_a_name_behind_a_revision_starts_at_the_root_of_the_repository(folder, way):
    assert rule(folder, way, "cd sub && git show HEAD:sub/x.txt", ["Read(/sub/x.txt)"]).ruling is not Ruling.ALLOW
    assert rule(folder, way, "git -C sub show HEAD:sub/x.txt", ["Read(/sub/x.txt)"]).ruling is not Ruling.ALLOW
