"""What git shows of files that may not be read, of the working tree, the index and history: real repositories, real git."""

import os
import subprocess
from random import Random
from shutil import copytree, rmtree
from string import ascii_letters

import pytest
from tests.permissions.shell.test_doubts import rule

from everturn.permissions.shell.files.git_silence import is_known_command
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
    # Options and subcommands that are known when it runs, or spelled otherwise.
    "git log {-p,-1}", "git log $(echo -p)", "git log ${X:--p}", "git $(echo log -p)", "git ${X:-log} -p", "git log --patc", "git log -sp",
    "git -c alias.s=show s HEAD", "git config alias.s show; git s HEAD", "git -c alias.l='log -p' l", "git s HEAD", "git -c commit.verbose=true commit --dry-run",
    "/usr/lib/git-core/git-log -p", "/usr/lib/git-core/git-show HEAD", "git --exec-path=. log -p", "touch -- -p; git log *",
    # One safe path says nothing of the others.
    "git show HEAD:src/a.py HEAD", "git show HEAD HEAD:src/a.py", "git log -p --full-diff -- src/a.py", "git log -p --follow -- src/a.py",
    "git diff HEAD:src/a.py HEAD:.env", "for f in src/*.py; do git show HEAD:$f $Y; done",
    # Subcommands that show when they are asked to.
    "git checkout -p HEAD~1", "git checkout --patc HEAD~1", "git reset -p HEAD~1", "git restore -p .", "git stash -p", "git stash push -p",
    "git stash list -p", "git bisect visualize -p", "git commit -av --dry-run", "git commit -a --verbo --dry-run", "git rebase --show-current-patch",
    "git am --show-curr", "git config --blob HEAD:.env -l", "git config --bl=HEAD:.env -l", "git status -vv", "git status -bv", "git add -vp",
    "git show --stat $(git rev-parse $Y)", "git show --stat abcd1234", "git tag -l --format='%(raw)'", "git notes add -C abcd1234; git notes show",
    # Files that git opens itself.
    "git interpret-trailers .en?", "git commit --allow-empty -F .en?", "git commit -aF.en?", "git commit --fi=.en?", "git tag -F .en? t", "git notes add -F .en?",
    "git config -f .en? -l", "git config --fil .en? -l", "git diff --no-index /dev/null .en?", "git diff --no-ind /dev/null .en?",
    "git blame src/a.py --contents .en?", "git merge-file -p .en? src/a.py src/a.py", "git stripspace < .en?", "git grep -f .en? HEAD",
    # The same files by other names.
    "git worktree add ../wt", "git clone . ../copy", "git clone file://$PWD ../copy", "git checkout-index -a --prefix=../copy/",
]  # fmt: skip
SHOWS_OTHERS = [
    "git status", "git log", "git log --oneline -5", "git log --stat", "git diff --stat", "git diff --name-only HEAD~1", "git show --stat HEAD",
    "git show HEAD:src/a.py", "git log -p -- src/a.py", "git log -p -1 src/a.py", "git diff HEAD~1 -- src/a.py", "git blame src/a.py",
    "git cat-file -t HEAD", "git ls-files", "git branch -a", "git add src", 'git commit -m "$M"', "git push origin $B", "git grep old -- src/a.py",
    "git tag", "git rev-parse HEAD", "git log --graph --all --decorate -n 5", "git log --author x --since=yesterday --format='%h %s'", "git show -s HEAD~1",
    "git checkout -b new", "git checkout -q -- src/a.py", "git restore --staged src/a.py", "git reset -q", "git stash list", "git rebase --abort",
    "git commit -qam 'a message'", 'git commit --allow-empty -m "$M" -m more', "git commit --amend --no-edit", "git config user.name", "git remote -v",
    "git clean -n", "git worktree list", "git blame -L 1,1 src/a.py", "git add -p src/a.py", "git fetch", "git describe --always", 'git stash push -m "$M"',
    "git -c core.quotepath=off status", "git --no-pager log -1", "git commit -F src/a.py --allow-empty", "git bisect log", "git submodule status",
]  # fmt: skip

NAMED_LIKE_REVISIONS = [
    "git diff b1 --", "git diff b1 HEAD --", "git show HEAD --", "git show HEAD^ --", "git log -p b1 --", "git log -p -1 b1 --", "git show t1 --",
    "git diff b1..HEAD --", "git show @ --", "git diff-tree -p b1 HEAD --", "git diff-index -p b1 --", "git grep -h gold b1 --",
    "git whatchanged -p HEAD --", "git log -p topic --", "git log -p old/packed --", "cd .git && git log -p HEAD", "cd .git && git show HEAD",
    "cd .git; git show HEAD", "cd .git && git diff-tree -p HEAD", "cd .git && git grep gold HEAD", "cd ../bare && git show HEAD", "cd ../bare && git log -p b1",
    "cd ../tree && git show b1 --", "git cat-file blob blob", "git cat-file -p blob", "git show blob --", "git stash show -p b1",
    # Ranges of files, and values of options that are called like a file.
    "git diff HEAD:.env..HEAD:src/a.py", "git diff HEAD:src/a.py..blob", "git diff HEAD:src/a.py...HEAD:.env", "git log -p --grep README.md",
    "git log -p --src-prefix src/a.py", "git show --src-prefix src/a.py", "git diff --ignore-matching-lines src/a.py HEAD~1", "git log -p -S src/a.py",
    "git grep -e gold -e -- v1.0", "git grep -A 1 -e gold b1 --", "git diff --glob=heads/v1.?", "git diff --branches", "git restore -p --source=HEAD~1",
    "git blame src/b.py gone/.env",
]  # fmt: skip
"""In a repository that has files and folders of the same names as references."""
NAMES_FILES = [
    "git diff src/a.py", "git log -p README.md", "git log -p -n 5 src/a.py", "git diff HEAD -- b1", "git diff b1 -- src/a.py", "git show HEAD -- topic/x.py",
    "git grep old -- src/a.py", "git grep old src/a.py", "git blame src/a.py", "git blame b1 -- src/a.py", "git blame b1 src/a.py", "git show HEAD:src/a.py",
    "git show b1:topic/x.py", "git show 'HEAD@{0}:src/a.py'", "git diff b1:src/a.py HEAD:src/a.py", "git diff old/packed src/a.py", "cd sub && git log -p x.txt",
    "cd .git && git show HEAD:src/a.py", "cd .git && git log -p HEAD -- src/a.py", "git log -p --grep README.md -- src/a.py", "git log -p -S old src/a.py",
]  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    place = tmp_path_factory.mktemp("git").resolve() / "project"
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


@pytest.fixture
def folder(template, tmp_path):
    return copytree(template, tmp_path.resolve() / "project", symlinks=True)


@pytest.fixture(scope="module")
def ambiguous(tmp_path_factory):
    """Files and folders that are called like references, a repository without a working tree, and a second working tree."""
    place = tmp_path_factory.mktemp("names").resolve() / "project"
    for name in (".env", "gone/.env", "src/a.py", "src/b.py", "sub/x.txt", "topic/x.py", "README.md"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(SECRET if name.endswith(".env") else "old\n")
    run(place, "init", "-q", "-b", "main")
    run(place, "add", "sub/x.txt", "src", "topic", "README.md")
    run(place, "commit", "-qm", "first of README.md")
    run(place, "add", "-A")
    run(place, "commit", "-qm", "second of README.md")
    for branch in ("old/packed", "b1", "topic", "v1.0"):
        run(place, "branch", branch)
    run(place, "pack-refs", "--all")
    for branch in ("b1", "src/b.py"):
        run(place, "branch", "-f", branch)
    run(place, "tag", "t1")
    run(place, "tag", "blob", "HEAD:.env")
    run(place, "clone", "-q", "--bare", ".", "../bare")
    run(place, "branch", "b1", "main~0", "-f")
    run(place.parent / "bare", "branch", "b1", "main", "-f")
    run(place, "worktree", "add", "-q", "../tree", "b1")
    for name in ("b1", "t1", "HEAD", "blob", "@", "HEAD^", "b1..HEAD", "old/packed"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("old\n")
    (place.parent / "tree" / "b1").write_text("old\n")
    rmtree(place / "gone")
    (place / ".env").write_text(f"{SECRET} and more")
    return place


@EVERY_WAY
def test_what_git_may_take_for_a_revision_is_one_whatever_file_has_that_name(ambiguous, way):
    assert [
        line for line in NAMED_LIKE_REVISIONS if rule(ambiguous, way, line, ["Read(.env)"]).ruling is Ruling.ALLOW
    ] == []


def test_most_of_these_lines_would_show_it(ambiguous, tmp_path):
    place = copytree(ambiguous.parent, tmp_path.resolve() / "copy", symlinks=True) / "project"

    shown = [line for line in NAMED_LIKE_REVISIONS if SECRET in say(place, line)]

    assert len(shown) > len(NAMED_LIKE_REVISIONS) / 2


@EVERY_WAY
def test_names_that_are_none_of_a_revision_are_files(ambiguous, way):
    # A rule is not enough for git in another folder.
    lines = [line for line in NAMES_FILES if not (line.startswith("cd") and way == "a rule for every command")]
    verdicts = {line: rule(ambiguous, way, line, ["Read(.env)"]) for line in lines}

    assert {line: each.reason for line, each in verdicts.items() if each.ruling is not Ruling.ALLOW} == {}
    assert [line for line in NAMES_FILES if SECRET in say(ambiguous, line)] == []


def test_a_rule_with_a_place_holds_in_the_repositorys_own_folder(ambiguous):
    for line in (
        "cd .git && git show HEAD",
        "cd .git && git show HEAD:src/a.py",
        "cd .git/refs && git log -p -- src/a.py",
    ):
        assert rule(ambiguous, "bypassPermissions", line, ["Read(/src/a.py)"]).ruling is not Ruling.ALLOW


@pytest.mark.parametrize("seed", range(2))
def test_whatever_words_are_files_or_revisions_what_is_let_through_shows_nothing_of_the_file(ambiguous, tmp_path, seed):
    random = Random(seed)  # noqa: S311 (a seed that can be played again)
    words = [
        "b1", "t1", "HEAD", "@", "HEAD^", "HEAD~1", "topic", "old/packed", "v1.0", "blob", "b1..HEAD", "main", "src/a.py", "src/b.py", "README.md",
        "HEAD:src/a.py", "b1:src", ":src/a.py", "sub/x.txt", "topic/x.py", "src", "./b1", "heads/b1", "refs/tags/t1", "gone/.env", "b1:gone", "../project/b1",
    ]  # fmt: skip
    calls = [
        "diff", "show", "log -p", "log -p -1", "log -p -S gold", "log -p --grep README.md", "grep -h gold", "grep -e gold", "grep -e gold -e", "diff-tree -p",
        "diff-index -p", "diff --cached", "whatchanged -p", "blame", "cat-file -p", "cat-file blob", "show --format=%h", "stash show -p", "checkout -p",
        "log -p --src-prefix", "diff -U1", "log -p -n 1", "reflog -p", "annotate",
    ]  # fmt: skip
    places = ["", "", "", "cd .git && ", "cd sub && ", "cd ../bare && ", "cd ../tree && "]

    def spell():
        given = random.sample(words, random.randint(0, 3))
        given.insert(random.randint(0, len(given)), random.choice(["--", "--", ""]))
        return f"{random.choice(places)}git {random.choice(calls)} {' '.join(given)}"

    lines = dict.fromkeys(spell() for _ in range(400))
    allowed = [
        line for line in lines if rule(ambiguous, "bypassPermissions", line, ["Read(.env)"]).ruling is Ruling.ALLOW
    ]
    copy = copytree(ambiguous.parent, tmp_path.resolve() / "copy", symlinks=True) / "project"

    assert [line for line in random.sample(allowed, min(len(allowed), 60)) if SECRET in say(copy, line)] == []
    assert len(allowed) > len(lines) / 10, "too few lines are allowed for the test to mean something"


def run(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **PERSON})


@EVERY_WAY
def test_what_may_show_a_denied_file_is_not_let_through(template, way):
    assert [line for line in SHOWS if rule(template, way, line, ["Read(.env)"]).ruling is Ruling.ALLOW] == []


def test_each_of_these_lines_would_show_it_or_may(folder):
    """Most do. The others show another file here, or fail; which of both is only known when they run."""
    shown = [line for line in SHOWS if SECRET in say(folder, line)]

    assert len(shown) > len(SHOWS) / 3


def say(folder, line):
    env = {**os.environ, **PERSON, "GIT_EDITOR": "true", "GIT_PAGER": "cat"}
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        stdin=subprocess.DEVNULL,
        env=env,
    )
    return done.stdout


@EVERY_WAY
def test_what_shows_others_is(template, way):
    verdicts = {line: rule(template, way, line, ["Read(.env)"]) for line in SHOWS_OTHERS}

    assert {line: each.reason for line, each in verdicts.items() if each.ruling is not Ruling.ALLOW} == {}


def test_none_of_these_lines_shows_it(folder):
    assert [line for line in SHOWS_OTHERS if SECRET in say(folder, line)] == []


@EVERY_WAY
def test_what_the_index_does_not_know_is_not_shown_by_a_diff(folder, way):
    run(folder, "rm", "-q", "--cached", ".env", "sub/.env", "one/.env")
    run(folder, "commit", "-qm", "third")

    for command in (
        "git diff",
        "git grep old",
        "git grep --cached old",
        "git diff --cached -- src/a.py",
        "git diff --cached --stat",
    ):
        assert rule(folder, way, command, ["Read(.env)"]).ruling is Ruling.ALLOW
    for command in ("git log -p", "git diff HEAD~1", "git grep gold HEAD~1"):
        assert rule(folder, way, command, ["Read(.env)"]).ruling is not Ruling.ALLOW


@EVERY_WAY
def test_what_was_taken_out_of_the_index_is_shown_by_what_compares_it_with_the_last_commit(folder, way):
    run(folder, "rm", "-q", "--cached", ".env", "sub/.env", "one/.env")
    shows = [
        "git diff --cached",
        "git diff --staged",
        "git status -v",
        "git commit -v --dry-run",
        "git diff --merge-base HEAD",
    ]

    assert [line for line in shows if rule(folder, way, line, ["Read(.env)"]).ruling is Ruling.ALLOW] == []
    assert [line for line in shows if SECRET not in say(folder, line)] == []


@EVERY_WAY
def test_a_rule_about_another_place_is_none_of_gits_business(folder, way):
    assert rule(folder, way, "git log -p", ["Read(~/.ssh/**)", "Read(//etc/**)"]).ruling is Ruling.ALLOW


@EVERY_WAY
def test_a_name_behind_a_revision_starts_at_the_root_of_the_repository(folder, way):
    assert rule(folder, way, "cd sub && git show HEAD:sub/x.txt", ["Read(/sub/x.txt)"]).ruling is not Ruling.ALLOW
    assert rule(folder, way, "git -C sub show HEAD:sub/x.txt", ["Read(/sub/x.txt)"]).ruling is not Ruling.ALLOW


def list_options(subcommand):
    """All long options that the real git has for it, and every letter."""
    told = subprocess.run(
        ["git", subcommand, "--git-completion-helper-all"], capture_output=True, text=True, check=False
    )
    names = [word for word in told.stdout.split() if word.startswith("--") and word != "--"]
    return names, [f"-{letter}" for letter in ascii_letters]


def spell(random, names, letters):
    """An option as git would take it: whole, abbreviated, in a bundle, with a value."""
    kind = random.randrange(4)
    if kind and names:
        name = random.choice(names)
        bare = name.rstrip("=")
        bare = bare[: random.randint(4, len(bare))] if kind > 1 and len(bare) > 4 else bare
        value = random.choice(["1", "HEAD", ".env", "x"])
        return f"{bare}={value}" if name.endswith("=") else bare
    return random.choice(letters) + (random.choice(letters)[1:] if random.random() < 0.5 else "")


@pytest.mark.parametrize("seed", range(2))
def test_whatever_option_git_has_what_is_let_through_shows_nothing_of_the_file(folder, seed):
    random = Random(seed)  # noqa: S311 (a seed that can be played again)
    told = subprocess.run(["git", "--list-cmds=builtins"], capture_output=True, text=True, check=True)
    silent = [
        name for name in told.stdout.split() if is_known_command(name) and not name.startswith(("daemon", "fsmonitor"))
    ]
    options = {name: list_options(name) for name in random.sample(silent, 12)}
    lines = [
        f"git {name} {' '.join(spell(random, *options[name]) for _ in range(random.randint(1, 2)))} "
        + random.choice(["", "HEAD", "HEAD~1", "-- .", "HEAD src/a.py", "HEAD:src/a.py HEAD"])
        for name in options
        for _ in range(25)
    ]

    allowed = [
        line
        for line in dict.fromkeys(lines)
        if rule(folder, "bypassPermissions", line, ["Read(.env)"]).ruling is Ruling.ALLOW
    ]

    for line in random.sample(allowed, min(len(allowed), 30)):
        place = folder.parent / "copy"
        copytree(folder, place, symlinks=True)
        assert SECRET not in say(place, line), line
        rmtree(place)
    assert len(allowed) > len(lines) / 10, "too few lines are allowed for the test to mean something"


@EVERY_WAY
def test_words_that_are_only_known_when_it_runs_may_be_options(folder, way):
    run(folder, "rm", "-q", "--cached", ".env", "sub/.env", "one/.env")
    run(folder, "commit", "-qm", "third")

    assert rule(folder, way, "git add $FILES", ["Read(.env)"]).ruling is Ruling.ALLOW
    assert rule(folder, way, "git checkout $BRANCH", ["Read(.env)"]).ruling is not Ruling.ALLOW
