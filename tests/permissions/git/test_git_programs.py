"""Real git on hostile repositories, watched by strace: whatever of them runs, we have spoken before."""

import re
import subprocess

import pytest
from tests.permissions.git.hostile import OTHERS, RUN_BY_READING, SHAPES, SILENT_SHAPES, VARYING, Stage, make_model
from tests.permissions.git.real import PATIENCE_S, add_submodule, add_worktree, git_env, make_repository, run_git

from everturn.core.git_config import Setting
from everturn.permissions.git.harmless import is_harmless
from everturn.permissions.git.own_programs import find_own_programs

READERS = (
    "status", "diff", "diff HEAD~1", "diff --cached", "log -p", "log --stat", "show", "show HEAD~1", "blame file.txt", "ls-files -s -m -o",
    "grep -n one", "describe --always --dirty", "stash list", "stash show -p", "branch -v", "tag -l", "remote -v", "rev-parse HEAD",
    "cat-file -p HEAD", "shortlog HEAD", "whatchanged", "worktree list", "ls-tree HEAD",
)  # fmt: skip
ALL = "; ".join(f"git --no-pager {each}" for each in READERS)
STARTED = re.compile(r'execve(?:at)?\((?:\S+, )?"((?:[^"\\]|\\.)*)".* = 0$')


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model") / "repo")


@pytest.fixture
def stage(tmp_path, model):
    return Stage(tmp_path, model)


def read_all(stage):
    """Programs that git started, besides itself, while every command that only reads ran."""
    log = stage.base / "calls"
    strace = ("strace", "-f", "-q", "-qq", "--seccomp-bpf", "-e", "trace=execve,execveat", "-o", str(log))
    subprocess.run(
        (*strace, "/bin/sh", "-c", ALL),
        cwd=stage.folder,
        env=git_env(stage.base / "home"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    started = [found[1] for line in log.read_text("utf-8", "replace").splitlines() if (found := STARTED.search(line))]
    return [each for each in started[1:] if each.rpartition("/")[2] != "git"]


@pytest.mark.needs("strace")
@pytest.mark.parametrize("settings", RUN_BY_READING.values(), ids=RUN_BY_READING)
def test_settings_that_run_something_when_git_reads_are_asked_about(stage, settings):
    stage.configure(settings)
    said = find_own_programs(str(stage.folder))

    assert read_all(stage), "this does nothing any more: take it out"
    assert str(stage.folder / ".git/config") in said


@pytest.mark.needs("strace")
@pytest.mark.parametrize("name", SHAPES)
def test_repositories_that_run_something_when_git_reads_are_asked_about(stage, name):
    SHAPES[name](stage)

    assert find_own_programs(str(stage.folder))
    assert read_all(stage) or name in VARYING


@pytest.mark.parametrize("settings", OTHERS.values(), ids=OTHERS)
def test_settings_that_name_programs_for_other_commands_are_asked_about_too(stage, settings):
    stage.configure(settings)

    assert find_own_programs(str(stage.folder))


@pytest.mark.parametrize("make", SILENT_SHAPES.values(), ids=SILENT_SHAPES)
def test_repositories_that_lead_elsewhere_are_asked_about(stage, make):
    make(stage)

    assert find_own_programs(str(stage.folder))


@pytest.mark.needs("strace")
def test_whoever_watches_sees_nothing_in_an_ordinary_repository(stage):
    assert find_own_programs(str(stage.folder)) == ""
    assert read_all(stage) == []
    assert find_own_programs(str(stage.folder)) == ""


def known_settings():
    """Every setting that this git knows, by section; what is in angle brackets may have any name."""
    listed = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True).stdout
    keys = [re.sub(r"<[^>]*>", "x", key) for key in re.findall(r"^[a-z][A-Za-z0-9]*\.\S+$", listed, re.MULTILINE)]
    harmless = [key.removesuffix(".*") + ".x" * key.endswith(".*") for key in keys]
    sections = {}
    for key in harmless:
        section, _, rest = key.partition(".")
        subsection, dot, name = rest.rpartition(".")
        whole = f"{section.lower()}.{subsection}{dot}{name.lower()}"
        if is_harmless(Setting(whole, "touch")):
            sections.setdefault(section.lower(), []).append(whole)
    return sections


KNOWN = known_settings()


@pytest.mark.parametrize("section", KNOWN)
def test_no_harmless_setting_runs_what_it_is_given(stage, section):
    program = stage.base / "script"
    # Of sections that have a colour or a hint for everything, some stand for all.
    for key in KNOWN[section][:: 8 if section in {"advice", "color", "gui"} else 1]:
        for value in (f"!{program}", str(program)):
            env = {**git_env(stage.base / "home"), "GIT_PAGER": "cat"}
            line = f"git -c '{key}={value}'"
            commands = "; ".join(f"{line} {each}" for each in ("status", "diff HEAD", "log -p -1", "branch"))
            subprocess.run(["/bin/sh", "-c", commands], cwd=stage.folder, env=env, capture_output=True, check=False)

    assert not stage.pwned.exists()


def ordinary(folder, tmp_path):
    source = make_repository(tmp_path / "source")
    yield make_repository(folder / "fresh")
    yield make_repository(folder / "sha256", "--object-format=sha256")
    run_git(folder, "clone", "-q", str(source), "clone")
    yield folder / "clone"
    run_git(folder, "clone", "-q", "--no-local", "--depth=1", f"file://{source}", "shallow")
    yield folder / "shallow"
    run_git(folder, "clone", "-q", "--bare", str(source), "bare")
    yield folder / "bare"
    run_git(folder, "clone", "-q", "--mirror", str(source), "mirror")
    yield folder / "mirror"
    tree = add_worktree(folder / "fresh", folder / "tree")
    run_git(tree, "config", "extensions.worktreeConfig", "true")
    run_git(tree, "config", "--worktree", "core.sparseCheckout", "false")
    yield tree
    inner = add_submodule(folder / "clone", source, "vendor/sub")
    yield inner
    add_worktree(folder / "clone", folder / "second")
    run_git(folder / "second", "submodule", "--quiet", "update", "--init")
    yield folder / "second"
    yield folder / "second/vendor/sub"
    run_git(folder / "clone", "submodule", "absorbgitdirs")
    run_git(folder / "clone", "sparse-checkout", "set", "--cone", "vendor")
    yield folder / "clone"
    yield folder / "clone/vendor"
    if not subprocess.run(
        ["git", "init", "-q", "--ref-format=reftable", str(folder / "reftable")], capture_output=True, check=False
    ).returncode:
        yield folder / "reftable"
    hooks = folder / "fresh/.git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "post-checkout", "pre-push", "pre-commit.legacy"):
        (hooks / name).write_text("#!/bin/sh\n")
        (hooks / name).chmod(0o755)
    yield folder / "fresh"


def test_ordinary_repositories_are_not_asked_about(tmp_path):
    folder = tmp_path / "all"
    folder.mkdir()

    said = {str(each): found for each in ordinary(folder, tmp_path) if (found := find_own_programs(str(each)))}

    assert said == {}
