"""Repositories that a command makes: git that runs outside later runs nothing because of them."""

import os
import subprocess
import time

import pytest
from tests.sandbox.conftest import USERS, World

from everturn.sandbox.repositories import FILE_CLOCK
from everturn.workspace.git_settings import is_harmless

WAYS = {
    "a nested one": "git init -q sub; git -C sub config core.fsmonitor $PWD/evil",
    "far below": "mkdir -p sub/a/b/c/d; git init -q sub; mv sub/.git sub/a/b/c/d; git -C sub/a/b/c/d config core.fsmonitor $PWD/evil",
    "among modules": "mkdir -p sub/node_modules/x; git init -q sub/node_modules/x; git -C sub/node_modules/x config core.fsmonitor $PWD/evil",
    "a hook": "git init -q sub; cp evil sub/.git/hooks/pre-commit",
    "hooks elsewhere": "git init -q sub; mkdir h; cp evil h/pre-commit; git -C sub config core.hooksPath $PWD/h",
    "hooks by a link": "git init -q sub; mkdir h; cp evil h/pre-commit; rm -rf sub/.git/hooks; ln -s $PWD/h sub/.git/hooks",
    "an include": "git init -q sub; printf '[core]\nfsmonitor=%s/evil\n' $PWD > inc; git -C sub config include.path $PWD/inc",
    "a bare shape": "git init -q --bare sub; cd sub; git config core.worktree $PWD/..; git config core.bare false; git config core.fsmonitor $PWD/../evil",
    "a bare shape by hand": "mkdir -p sub/objects sub/refs; echo 'ref: refs/heads/main' > sub/HEAD; "
    "printf '[core]\nrepositoryformatversion=0\nbare=false\nworktree=%s\nfsmonitor=%s/evil\n' $PWD $PWD > sub/config",
    "settings elsewhere": "git init -q g; git -C g config core.fsmonitor $PWD/evil; mkdir -p sub/.git; "
    "echo ../../g/.git > sub/.git/commondir; echo 'ref: refs/heads/main' > sub/.git/HEAD",
    "settings elsewhere, prepared": "mkdir -p sub/.git; echo ../../prepared > sub/.git/commondir; "
    "echo 'ref: refs/heads/main' > sub/.git/HEAD",
    "a pointer": "git init -q --bare g; git -C g config core.fsmonitor $PWD/evil; git -C g config core.bare false; mkdir sub; "
    "echo gitdir: $PWD/g > sub/.git",
    "a copy of a prepared one": "mkdir sub; cp -r prepared sub/.git",
    "a prepared one, moved": "mkdir sub; mv prepared sub/.git",
    "a prepared one, made whole": "mv unfinished/head unfinished/HEAD; ln -s unfinished sub",
    "a link to a prepared one": "mkdir sub; ln -s ../prepared sub/.git",
    "a pointer to a prepared one": "mkdir sub; echo gitdir: ../prepared > sub/.git",
    "a submodule's settings": "git init -q sub; mkdir -p .git/modules; mv sub/.git .git/modules/sub; "
    "echo gitdir: ../.git/modules/sub > sub/.git; git -C sub config core.worktree ../../../sub; "
    "git -C sub config core.fsmonitor $PWD/evil",
    "a submodule's submodule": "git init -q sub; mkdir -p .git/modules/a/modules; mv sub/.git .git/modules/a/modules/b; "
    "echo gitdir: ../.git/modules/a/modules/b > sub/.git; git -C sub config core.worktree ../../../../../sub; "
    "git -C sub config core.fsmonitor $PWD/evil",
    "known to the one around it": "git init -q sub; git -C sub -c user.name=a -c user.email=a commit -q --allow-empty -m a; "
    "git add sub; git -C sub config core.fsmonitor $PWD/evil",
    "a prepared one, moved with the folder around it": "mkdir -p q/.git sub; mv folder q/.git/modules; "
    "echo gitdir: ../q/.git/modules/prepared > sub/.git",
    "a pointer to the temporary folder": "mkdir -p sub ${TMPDIR:=$PWD/t}/.git/modules; cp -r prepared $TMPDIR/.git/modules/x; "
    "echo gitdir: $TMPDIR/.git/modules/x > sub/.git",
    "a pointer into another one": "mkdir -p sub q/.git/modules; git init -q --bare q/.git/modules/x; "
    "cp -r prepared q/.git/modules/x/objects/y; echo gitdir: ../q/.git/modules/x/objects/y > sub/.git",
    "with an old time": "git init -q sub; git -C sub config core.fsmonitor $PWD/evil; "
    "touch -d 2001-01-01 sub/.git/config sub/.git sub",
    "beside one that cannot be read": "git init -q sub; git -C sub config core.fsmonitor $PWD/evil; mkdir zz; printf 'gitdir: a\\0b' > zz/.git",
    "among folders of the shape of one": "mkdir -p p/objects p/refs; echo 'ref: refs/heads/main' > p/HEAD; git init -q p/sub; "
    "git -C p/sub config core.fsmonitor $PWD/evil; ln -s p/sub sub",
    "in a folder with git's name": "mkdir -p p/.git/work; git init -q p/.git/work/sub; "
    "git -C p/.git/work/sub config core.fsmonitor $PWD/evil; ln -s p/.git/work/sub sub",
    "among objects": "git init -q p; mkdir -p p/.git/objects/aa; git init -q p/.git/objects/aa/sub; "
    "git -C p/.git/objects/aa/sub config core.fsmonitor $PWD/evil; ln -s p/.git/objects/aa/sub sub",
    "in a folder that cannot be listed": "mkdir p; git init -q p/sub; git -C p/sub config core.fsmonitor $PWD/evil; ln -s p/sub sub; chmod 311 p",
    "in a closed folder": "mkdir -p p/q; git init -q p/q/sub; git -C p/q/sub config core.fsmonitor $PWD/evil; ln -s p/q/sub sub; "
    "chmod 000 p/q p",
    "in a folder that cannot be entered": "mkdir p; git init -q p/sub; git -C p/sub config core.fsmonitor $PWD/evil; ln -s p/sub sub; chmod 600 p",
    "a closed one": "git init -q sub; git -C sub config core.fsmonitor $PWD/evil; chmod 000 sub/.git/config sub/.git sub",
    "with closed hooks": "git init -q sub; cp evil sub/.git/hooks/pre-commit; chmod 400 sub/.git/hooks",
    "in a workspace that is closed": "git init -q sub; git -C sub config core.fsmonitor $PWD/evil; chmod 000 .",
    "below a folder that is closed": "git init -q sub; git -C sub config core.fsmonitor $PWD/evil; chmod 000 ..",
    "read-only": "git init -q sub; git -C sub config core.fsmonitor $PWD/evil; chmod 400 sub/.git/config; chmod 500 sub/.git sub",
    "under an odd name": "git init -q sub; git -C sub config core.fsmonitor $PWD/evil; mkdir -p $'o\n\xff'; mv sub $'o\n\xff/sub'; "
    "ln -s $'o\n\xff/sub' sub",
}  # fmt: skip


@pytest.fixture
def prepared(world):
    return prepare(world)


def prepare(world):
    """What a repository may bring along: no name in it is protected."""
    evil = world.workspace / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {world.outside}/run\n")
    evil.chmod(0o755)
    for name in ("prepared", "unfinished", "folder/prepared"):
        folder = world.workspace / name
        subprocess.run(["git", "init", "-q", "--bare", str(folder)], check=True)
        settings = {"core.worktree": str(world.workspace), "core.bare": "false", "core.fsmonitor": str(evil)}
        for key, value in settings.items():
            subprocess.run(["git", "config", "--file", str(folder / "config"), key, value], check=True)
    (world.workspace / "unfinished" / "HEAD").rename(world.workspace / "unfinished" / "head")
    world.own(world.workspace)
    return world


def run_git(world):
    """Outside, as the person would: below `sub`, and around it."""
    settings = {"safe.directory": "*", "user.name": "A", "user.email": "a@b"}
    environment = {**os.environ, "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    folders = [world.workspace, *(folder for folder, _, _ in os.walk(world.workspace / "sub") if ".git" not in folder)]
    for folder in folders:
        for words in (["status"], ["commit", "-q", "--allow-empty", "-m", "x"]):
            subprocess.run(["git", *words], cwd=folder, env=environment, check=False, capture_output=True, timeout=60)
    return (world.outside / "run").exists()


@pytest.mark.parametrize("way", WAYS)
def test_git_runs_nothing_because_of_a_repository_that_a_command_made(prepared, way):
    prepared.run(WAYS[way])

    assert not run_git(prepared)


@pytest.mark.parametrize("way", WAYS)
def test_without_a_sandbox_each_way_works(place, way):
    """Or the test above shows nothing."""
    prepared = prepare(World("none", next(iter(USERS)), None, place))

    subprocess.run(["bash", "-c", WAYS[way]], cwd=prepared.workspace, check=False, capture_output=True, timeout=60)

    assert run_git(prepared)


def test_a_pointer_through_a_link_is_judged_by_where_it_leads_in_the_end(prepared):
    prepared.run(
        "git init -q p; git init -q --bare p/.git/modules/m; ln -s p/.git/modules link; mkdir sub; echo 'gitdir: ../link/m' > sub/.git",
        "mkdir t; cp -r prepared t/m; ln -sfn t link",
    )

    assert not run_git(prepared)


@pytest.mark.parametrize(
    ("worktree", "is_fine"),
    [
        ("../../../sub", True),
        ("../../../a/b", True),
        ("../../../../outside", False),
        ("../../..", False),
        ("../../../.git/x", False),
        ("../../../link/sub", False),
        ("../../../link/../sub", False),
        ("../../../../../../../../etc", False),
    ],
)
def test_a_submodules_files_are_where_its_repository_is(tmp_path, worktree, is_fine):
    tree = tmp_path.resolve() / "tree"
    (tree / ".git" / "modules" / "m").mkdir(parents=True)
    (tree / "link").symlink_to("/etc")

    text = f"[core]\n\tworktree = {worktree}\n"

    assert is_harmless(text.encode(), module=f"{tree}/.git/modules/m") == is_fine
    assert not is_harmless(text.encode())


def test_a_pipe_in_place_of_settings_keeps_nobody_waiting(world):
    world.run("git init -q sub; rm sub/.git/config; mkfifo sub/.git/config sub/.git/hooks/pre-commit")

    assert not run_git(world)


def test_the_model_is_told_what_was_taken_away(prepared):
    (result,) = prepared.run("git init -q sub; git -C sub config core.fsmonitor ./evil")

    assert (
        f"{prepared.workspace}/sub/.git/config would have git run a program outside, and was taken away"
        in result["content"]
    )


def test_in_a_large_workspace_it_is_told_with_the_next_command(prepared):
    for number in range(700):
        (prepared.workspace / "many" / str(number)).mkdir(parents=True)
    prepared.own(prepared.workspace)

    _, result = prepared.run("git init -q sub; git -C sub config core.fsmonitor $PWD/evil", "true")

    assert "/sub/.git/config would have git run a program outside" in result["content"]
    assert not run_git(prepared)


def test_a_repository_that_the_person_makes_between_two_commands_stays_as_it_is(prepared):
    theirs = prepared.workspace / "theirs"
    prepared.worker.give(
        prepared.job(
            "touch first",
            {"command": "true; touch ready; until [ -e go ]; do :; done", "dangerouslyDisableSandbox": True},
            "cat theirs/.git/HEAD; touch last",
        )
    )
    while not (prepared.workspace / "ready").exists():
        pass
    subprocess.run(["git", "init", "-q", str(theirs)], check=True)
    subprocess.run(["git", "-C", str(theirs), "config", "core.fsmonitor", "mine"], check=True)
    prepared.own(theirs)
    made = max(path.lstat().st_ctime_ns for path in (theirs, *theirs.rglob("*")))
    while time.clock_gettime_ns(FILE_CLOCK) <= made:
        """The file system's clock ticks every few milliseconds."""
    (prepared.workspace / "go").touch()
    prepared.worker.take()

    assert "mine" in (theirs / ".git" / "config").read_text()


def test_repositories_that_run_nothing_are_made_as_usual(world):
    said = world.say(
        "git init -q one; cd one; echo a > a; git add a; git -c user.name=A -c user.email=a@b commit -qm first; cd ..; "
        "git clone -q one two; git clone -q --bare one three; git -C two worktree add -q ../four; "
        "git -C one config user.name A; git -C two log --format=%s; git -C three log --format=%s; git -C four log --format=%s"
    )
    again = world.say(
        "git -C one config user.name; git -C two remote; git -C three config core.bare; git -C four status --short"
    )

    assert said == "first\nfirst\nfirst"
    assert again == "A\norigin\ntrue"


def test_a_repository_that_was_there_keeps_its_settings_when_it_is_used(world):
    far = world.workspace / "a/b/c/d/far"
    subprocess.run(["git", "init", "-q", str(far)], check=True)
    subprocess.run(["git", "-C", str(far), "config", "alias.x", "!true"], check=True)
    (far / ".git/hooks/pre-commit").write_text("#!/bin/sh\n")
    world.own(world.workspace)
    before = (far / ".git/config").read_text()

    world.say("cd a/b/c/d/far; echo a > a; git add a; git -c user.name=A -c user.email=a@b commit -qm first")

    assert (far / ".git/config").read_text() == before
    assert (far / ".git/hooks/pre-commit").exists()


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
        '[remote "origin"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
        '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n# said\n; too\n\n',
        "[user]\nname = Ä B\nemail = a@b\n",
        "",
    ],
)
def test_settings_that_every_clone_has_are_harmless(text):
    assert is_harmless(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "[core]\nfsmonitor = x\n",
        "[core]\n\rfsmonitor = x\n",
        "[core] fsmonitor = x\n",
        "[core]fsmonitor=x\n",
        "[CORE]\nFSMonitor = x\n",
        "[core.]\nfsmonitor = x\n",
        "[user]\nname = a\\\n[core]\nfsmonitor = x\n",
        "[user]\nname = a \\\n",
        '[a "]"]\nname = x\n',
        "[include]\npath = x\n",
        '[includeIf "gitdir:/"]\npath = x\n',
        '[filter "x"]\nclean = x\n',
        "[core]\nhooksPath = x\n",
        "[core]\nworktree = x\n",
        "[alias]\nx = !x\n",
        '[remote "x"]\nurl = ext::sh -c x\n',
        '[remote "x"]\nurl = -oProxyCommand=x\n',
        '[remote "x"]\nuploadpack = x\n',
        '[remote "x"]\npromisor = true\n',
        '[submodule "x"]\nupdate = !x\n',
        "[extensions]\npartialClone = x\n",
        "\0",
        "\ufeff[core]\nfsmonitor = x\n",
        "[user]\nname = \x85\n[core]\nfsmonitor = x",
        "x = y\n",
    ],
)
def test_anything_else_is_not(text):
    assert not is_harmless(text.encode())


def test_what_is_no_text_or_has_no_end_is_not_harmless():
    assert not is_harmless(b"[user]\nname = \xff\n")
    assert not is_harmless(b"#" * 100_000)


TOO_FAR = "d=$(printf 'x%.0s' $(seq 200)); for i in $(seq 30); do mkdir $d; cd $d; done; git init -q r"


def test_where_not_every_folder_can_be_looked_at_it_is_told_once(world):
    first, second = world.run(TOO_FAR, "echo done")

    assert "not every folder could be looked into" in first["content"]
    assert "not every folder" not in second["content"]


def test_folders_that_the_person_has_closed_are_closed_again(prepared):
    """Also those that were there before: what is in them is the person's, and stays."""
    closed = prepared.workspace / "theirs"
    subprocess.run(["git", "init", "-q", str(closed / "deep")], check=True)
    subprocess.run(["git", "-C", str(closed / "deep"), "config", "core.fsmonitor", "mine"], check=True)
    prepared.own(prepared.workspace)
    for path in (closed / "deep" / ".git", closed / "deep", closed):
        path.chmod(0o200)

    prepared.run("true", "echo a > b", "git init -q sub")

    for path in (closed, closed / "deep", closed / "deep" / ".git"):
        assert path.stat().st_mode & 0o777 == 0o200
    assert "mine" in (closed / "deep" / ".git" / "config").read_text()


def test_what_a_command_prepares_inside_of_a_repository_is_seen_when_it_gets_its_name(prepared):
    prepared.run(
        "cp -r folder .git/unseen",
        "mv .git/unseen .git/modules; mkdir sub; echo gitdir: ../.git/modules/prepared > sub/.git",
    )

    assert not run_git(prepared)


def test_what_one_command_made_while_another_began_is_nobodys_to_be_put_back(prepared):
    made = (
        "mkdir -p sub .git/modules; cp -r prepared .git/modules/x; mv .git/modules/x/config .git/modules/x/c; "
        "ln -s c .git/modules/x/config; echo gitdir: ../.git/modules/x > sub/.git; touch ready; until [ -e over ]; do :; done"
    )
    prepared.run(
        {"command": made, "run_in_background": True},
        {"command": "until [ -e ready ]; do :; done", "dangerouslyDisableSandbox": True},
        "touch over; sleep 1",
    )

    assert not run_git(prepared)
