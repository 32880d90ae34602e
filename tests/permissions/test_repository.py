"""Programs that a repository would have git run by itself, found without git; and what git really does with them."""

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pace import measured
from tests.permissions.shell.worlds import HELD

from everturn.permissions.git.own_programs import find_own_programs
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.policy import Call, Ruling
from everturn.ports.tool import Access, Traits

ORDINARY = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\tfsmonitor = false
[remote "origin"]
\turl = https://example.com/a.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
[user]
\temail = $(touch pwned)
[diff]
\talgorithm = patience
"""
HOSTILE = {
    "a watcher": "[core]\n\tfsmonitor = touch pwned",
    "in one line": '[core] fsMonitor = "touch pwned"',
    "a value that goes on": "[core]\n\tfsmonitor = \\\n touch pwned",
    "a program for differences": "[diff]\n\texternal = touch pwned",
    "a driver for differences": '[diff "x"]\n\ttextconv = touch pwned',
    "a filter": '[filter "x"]\n\tclean = touch pwned',
    "another file": "[include]\n\tpath = ../evil",
    "hooks elsewhere": "[core]\n\thooksPath = evil",
    "a check of signatures": '[gpg]\n\tprogram = "touch pwned"\n[log]\n\tshowSignature = true',
}


def make(folder, config=ORDINARY):
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".git/config").write_text(config)
    return folder


def judge(folder, command="git status", *, trusted=False, **rules):
    policy = RulePolicy("default", Workplace(folder=str(folder), trusted=trusted), walls=lambda: HELD, **rules)
    call = Call(id="1", name="Bash", input={"command": command}, traits=Traits(access=Access.EXECUTE), line=command)
    return policy.judge(call)


@pytest.mark.parametrize("config", HOSTILE.values(), ids=HOSTILE)
def test_before_trust_git_is_asked_about_where_the_repository_brings_programs(tmp_path, config):
    folder = make(tmp_path / "repo", f"{ORDINARY}{config}\n")
    (folder / "sub").mkdir()

    verdict = judge(folder / "sub")

    assert verdict.ruling is Ruling.ASK
    assert verdict.reason.endswith("and nobody has trusted this folder")
    assert judge(folder, trusted=True).ruling is Ruling.ALLOW
    assert judge(folder, "ls").ruling is Ruling.ALLOW


def test_an_ordinary_repository_is_read_without_asking(tmp_path):
    folder = make(tmp_path / "repo")

    assert [judge(folder, f"git {verb}").ruling for verb in ("status", "log", "diff")] == [Ruling.ALLOW] * 3
    assert judge(tmp_path).ruling is Ruling.ALLOW


def test_a_hook_that_reading_sets_off_is_found(tmp_path):
    folder = make(tmp_path / "repo")
    hook = folder / ".git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch pwned\n")

    assert find_own_programs(str(folder)) == str(hook)


def test_worktrees_and_bare_repositories_are_looked_into(tmp_path):
    main = make(tmp_path / "main", f"{ORDINARY}[core]\n\tfsmonitor = touch pwned\n")
    tree = tmp_path / "tree"
    (main / ".git/worktrees/tree").mkdir(parents=True)
    (main / ".git/worktrees/tree/commondir").write_text("../..\n")
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/tree\n")

    assert find_own_programs(str(tree)) == f"core.fsmonitor in {main}/.git/config"
    bare = (main / ".git").rename(tmp_path / "bare")
    assert find_own_programs(str(bare / "refs")) == f"core.fsmonitor in {bare}/config"


@pytest.mark.parametrize("version", [2, 4])
def test_repositories_inside_are_looked_into_as_git_does(tmp_path, version):
    folder = make(tmp_path / "repo", f"{ORDINARY}[index]\n\tversion = {version}\n")
    inner = make(folder / "vendor" / "sub")
    commit = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]
    subprocess.run(commit, cwd=inner, check=True)
    subprocess.run(["git", "add", "vendor/sub"], cwd=folder, check=True, capture_output=True)
    ordinary = find_own_programs(str(folder))
    (inner / ".git/config").write_text(f"{ORDINARY}{HOSTILE['a watcher']}\n")

    subprocess.run(["git", "status"], cwd=folder, check=False, capture_output=True)

    assert (inner / "pwned").exists()
    assert ordinary == ""
    assert find_own_programs(str(folder)) == f"core.fsmonitor in {inner}/.git/config"


def test_what_cannot_be_read_is_no_reason_to_trust(tmp_path):
    folder = make(tmp_path / "repo")
    (folder / ".git/config").write_text("#" * 200_000)
    assert "cannot be read" in find_own_programs(str(folder))
    (folder / ".git/config").unlink()
    os.mkfifo(folder / ".git/config")
    assert "cannot be read" in find_own_programs(str(folder))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_configuration(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("repo")
    (folder / ".git").mkdir()
    (folder / ".git/config").write_bytes(data)

    assert isinstance(find_own_programs(str(folder)), str)


@pytest.mark.parametrize("config", [HOSTILE["a watcher"], HOSTILE["in one line"], HOSTILE["a value that goes on"]])
def test_git_really_runs_what_is_found(tmp_path, config):
    folder = make(tmp_path / "repo", f"{ORDINARY}{config}\n")

    subprocess.run(["git", "status"], cwd=folder, check=False, capture_output=True)

    assert (folder / "pwned").exists()


def test_git_really_leaves_an_ordinary_repository_alone(tmp_path):
    folder = make(tmp_path / "repo")

    subprocess.run(["git", "status"], cwd=folder, check=True, capture_output=True)

    assert not (folder / "pwned").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("[extensions]\n\tobjectFormat = sha1\n", ""),
        ("[extensions]\n\tobjectFormat = sha256\n", "extensions.objectformat"),
        ("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n", "extensions.objectformat"),
        ("[extensions]\n\tobjectFormat = sha1\n[extensions]\n\tobjectFormat = sha256\n", "extensions.objectformat"),
        ("[core]\n\tworktree = ..\n", ""),
        ("[core]\n\tworktree = ../..\n", "core.worktree"),
        ('[submodule "x"]\n\tupdate = rebase\n', ""),
        ('[submodule "x"]\n\tupdate = !sh\n', "submodule.x.update"),
        ("[log]\n\tshowSignature = no\n", ""),
        ("[pager]\n\tstatus = False\n", ""),
        ("[blame]\n\tignoreRevsFile = .git-blame-ignore-revs\n", ""),
        ("[blame]\n\tignoreRevsFile = ../secret\n", "blame.ignorerevsfile"),
        ("[blame]\n\tignoreRevsFile = ~/secret\n", "blame.ignorerevsfile"),
        ('[merge "ours"]\n\tdriver = true\n', ""),
        ('[diff "\\u202e\\n"]\n\tcommand = x\n', "diff."),
    ],
)
def test_settings_count_with_their_values(tmp_path, settings, said):
    folder = make(tmp_path / "repo", f"{ORDINARY}{settings}")

    assert find_own_programs(str(folder)).startswith(said)
    assert bool(find_own_programs(str(folder))) is bool(said)


def test_many_large_files_together_are_refused_and_not_read_for_long(tmp_path):
    folder = make(tmp_path / "repo")
    for number in range(20):
        module = folder / f".git/modules/m{number}"
        module.mkdir(parents=True)
        (module / "HEAD").write_text("ref: refs/heads/main\n")
        (module / "config").write_text('[user]\n\tname = "' + '""' * 60_000 + '"\n')

    with measured() as spent:
        said = find_own_programs(str(folder))

    assert "cannot be read" in said
    assert spent.seconds < 1.5


def test_an_ordinary_repository_takes_less_than_two_milliseconds(tmp_path):
    folder = make(tmp_path / "repo")
    find_own_programs(str(folder))

    with measured() as spent:
        for _ in range(50):
            find_own_programs(str(folder))

    assert spent.seconds / 50 < 0.002
