"""A rebase or a series of patches that is not over: a command may leave one behind, and nothing in it that git would run."""

import subprocess

import pytest

from everturn.sandbox.git_states import STATES, is_harmless_state

REBASE = (
    "mkdir -p {git}/rebase-merge; cd {git}/rebase-merge; git rev-parse HEAD > onto; cp onto orig-head; echo refs/heads/main > head-name; "
    "echo > done; : > interactive; echo 1 > msgnum; echo 1 > end; echo 'exec touch {mark}' > {todo}; "
)
WAYS = {
    "a list of what is to be done": REBASE.replace("{todo}", "git-rebase-todo"),
    "moved there": REBASE.replace("{todo}", "x") + "mv x git-rebase-todo",
    "with an old time": REBASE.replace("{todo}", "git-rebase-todo") + "touch -d 2001-01-01 git-rebase-todo .",
    "closed": REBASE.replace("{todo}", "git-rebase-todo") + "chmod 000 git-rebase-todo .",
    "by a link to a folder": REBASE.replace("{todo}", "git-rebase-todo") + "cd ..; mv rebase-merge ../r; ln -s ../r rebase-merge",
    "by a link to a file": REBASE.replace("{todo}", "../../todo") + "ln -s ../../todo git-rebase-todo",
}  # fmt: skip
BY = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "safe.directory=*")


def git(folder, *words, **options):
    return subprocess.run([*BY, *words], cwd=folder, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def repository(world):
    git(world.workspace, "checkout", "-q", "-b", "main")
    (world.workspace / "file").write_text("one\n")
    git(world.workspace, "add", "file")
    git(world.workspace, "commit", "-q", "-m", "first")
    world.own(world.workspace)
    return world


@pytest.mark.parametrize("way", WAYS)
def test_who_goes_on_with_a_rebase_that_a_command_left_runs_nothing(repository, way):
    mark = repository.outside / "run"

    (told,) = repository.run(WAYS[way].replace("{git}", ".git").replace("{mark}", str(mark)))
    git(repository.workspace, "rebase", "--continue")

    assert not mark.exists()
    assert "rebase-merge" in told["content"]


def test_in_a_worktree_and_in_a_submodule_neither(repository):
    mark, folder = repository.outside / "run", repository.workspace
    git(folder, "worktree", "add", "-q", "tree")
    git(folder, "init", "-q", "sub")
    (folder / ".git/modules").mkdir()
    (folder / "sub/.git").rename(folder / ".git/modules/sub")
    (folder / "sub/.git").write_text("gitdir: ../.git/modules/sub\n")
    git(folder / "sub", "commit", "-q", "--allow-empty", "-m", "first")
    repository.own(folder)

    way = WAYS["a list of what is to be done"].replace("{mark}", str(mark))
    repository.run(*(way.replace("{git}", place) for place in (".git/worktrees/tree", ".git/modules/sub")))
    for place in ("tree", "sub"):
        git(folder / place, "rebase", "--continue")

    assert not mark.exists()


CONFLICT = (
    "git config --global safe.directory '*'; git config --global user.name A; git config --global user.email a@b; git checkout -q -b topic; echo two > file; git commit -qam two; "
    "git checkout -q main; echo three > file; git commit -qam three; git checkout -q topic"
)


def conflict(world):
    """A branch whose rebase stops."""
    subprocess.run(
        ["bash", "-c", CONFLICT],
        cwd=world.workspace,
        check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(world.home)},
    )
    world.own(world.place)


@pytest.mark.parametrize(
    "begins", ["git rebase main", "GIT_SEQUENCE_EDITOR=true git rebase -i main", "git rebase --apply main"]
)
def test_a_rebase_goes_on_from_one_command_to_the_next(repository, begins):
    conflict(repository)

    first, second, third = repository.run(
        begins,
        "echo both > file; git add file; GIT_EDITOR=true git rebase --continue",
        "git log --format=%s; git status -s",
    )

    assert "file" in first["content"]
    assert not second["is_error"], second["content"]
    assert third["content"].split() == ["two", "three", "first"]


def test_what_the_person_has_git_run_in_a_rebase_stays(repository):
    conflict(repository)
    given = {"PATH": "/usr/bin:/bin", "HOME": str(repository.home)}
    git(repository.workspace, "rebase", "-x", "true one", "-x", "true two", "main", env=given)
    repository.own(repository.workspace)
    todo = repository.workspace / ".git/rebase-merge/git-rebase-todo"
    assert "true two" in todo.read_text()

    # It takes the first order off the list, and adds one.
    repository.run("sed -i 1d .git/rebase-merge/git-rebase-todo")
    kept = todo.read_text()
    repository.run("echo exec evil >> .git/rebase-merge/git-rebase-todo")

    assert "true two" in kept
    assert "true one" not in kept
    assert not todo.exists()


LINES = [
    ("rebase-merge", "git-rebase-todo", b"pick 1234 words\n# exec x\n; y\n\nfixup -C 12 a\nupdate-ref refs/heads/a\nbreak\n", True),
    ("rebase-merge", "git-rebase-todo", b"pick 1234 words\nexec evil\n", False),
    ("rebase-merge", "git-rebase-todo", b" \tx evil", False),
    ("rebase-merge", "git-rebase-todo", b"unheard of", False),
    ("rebase-merge", "author-script", b"GIT_AUTHOR_NAME='A'\\''B'\nGIT_AUTHOR_EMAIL='a@b'\nGIT_AUTHOR_DATE='@1 +0000'\n", True),
    ("rebase-apply", "author-script", b"GIT_AUTHOR_NAME='A'; evil\n", False),
    ("rebase-apply", "author-script", b"GIT_AUTHOR_NAME='A'$(evil)''\n", False),
    ("rebase-apply", "apply-opt", b" '-p2' '--whitespace=fix'\n", True),
    ("rebase-apply", "apply-opt", b" '--unsafe-paths'\n", False),
    ("rebase-merge", "strategy", b"ort\n", True),
    ("rebase-merge", "strategy", b"evil\n", False),
    ("sequencer", "todo", b"pick 1 a\nrevert 2 b\n", True),
    ("sequencer", "opts", b"[options]\n\tno-commit = true\n\tstrategy = ort\n", True),
    ("sequencer", "opts", b"[options]\n\tStrategy = evil\n", False),
    ("sequencer", "opts", b"[options] strategy = evil\n", False),
    ("", "BISECT_NAMES", b" '--' 'src'\n", True),
    ("", "BISECT_NAMES", b" 'src'; evil\n", False),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "name", "data", "harmless"), LINES)
def test_lines_of_a_state(folder, name, data, harmless):
    assert is_harmless_state(folder, name, data, b"") is harmless
    assert is_harmless_state(folder, name, data, data), "what was there before is the person's"


def test_every_file_of_a_state_is_tried():
    assert {(folder, name) for folder, name, _, _ in LINES} >= {
        (folder, name)
        for folder, names in STATES.items()
        for name in names
        if (folder, name) != ("rebase-apply", "strategy")
    }
