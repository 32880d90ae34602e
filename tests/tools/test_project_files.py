"""Names of a folder's files: by git where the folder is trusted, else by a walk that runs nothing and follows no link."""

import os
import subprocess

import pytest

from everturn.tools.project_files import list_project_files

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def names(folder, *, trusted, is_over=lambda: False):
    return sorted(list_project_files(str(folder), ENV, trusted=trusted, is_over=is_over))


def run_git(folder, *arguments):
    subprocess.run(["git", *arguments], cwd=folder, env=ENV, check=True, capture_output=True)


def fill(folder, *paths, **texts):
    for path, text in {**dict.fromkeys(paths, ""), **texts}.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "project"
    fill(
        folder,
        "a.py",
        "src/b.py",
        "src/new.py",
        "build/out.o",
        "node_modules/x/index.js",
        "src/node_modules/y.js",
        ".github/ci.yml",
        "notes.tmp",
        "src/keep.tmp",
        "src/deep/c.tmp",
    )
    (folder / ".gitignore").write_text("build/\n*.tmp\nnode_modules\n")
    (folder / "src/.gitignore").write_text("!keep.tmp\n")
    return folder


KEPT = [".github/ci.yml", ".gitignore", "a.py", "src/.gitignore", "src/b.py", "src/keep.tmp", "src/new.py"]


def test_a_walk_leaves_out_what_is_ignored_and_what_no_person_means(folder):
    assert names(folder, trusted=False) == KEPT


def test_git_is_asked_in_a_trusted_folder(folder):
    run_git(folder, "init", "-q")
    run_git(folder, "add", "a.py")
    (folder / "a.py").unlink()

    assert names(folder, trusted=True) == KEPT
    assert names(folder / "src", trusted=True) == [".gitignore", "b.py", "keep.tmp", "new.py"]


def test_before_trust_nothing_of_a_repository_is_run(folder, tmp_path):
    run_git(folder, "init", "-q")
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    run_git(folder, "config", "core.fsmonitor", str(hook))

    assert names(folder, trusted=False) == KEPT
    assert not (tmp_path / "ran").exists()


def test_a_trusted_folder_without_a_repository_is_walked(folder):
    assert names(folder, trusted=True) == KEPT


def test_a_program_called_git_in_the_folder_is_not_run(folder, tmp_path):
    bad = folder / "bin"
    bad.mkdir()
    (bad / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (bad / "git").chmod(0o755)
    env = {**ENV, "PATH": f"{bad}:{ENV['PATH']}"}

    list(list_project_files(str(folder), env, trusted=True, is_over=lambda: False))

    assert not (tmp_path / "ran").exists()


def test_links_are_names_and_are_not_followed(folder, tmp_path):
    fill(tmp_path, "outside/secret.txt")
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "loop").symlink_to(".")
    (folder / "file").symlink_to("a.py")

    assert names(folder, trusted=False) == sorted([*KEPT, "file", "link", "loop"])


def test_an_ignore_file_that_is_a_pipe_a_link_or_huge_stops_nothing(tmp_path):
    fill(tmp_path, "one/a.py", "two/b.py", "three/c.py")
    os.mkfifo(tmp_path / "one/.gitignore")
    (tmp_path / "two/.gitignore").symlink_to("/dev/zero")
    (tmp_path / "three/.gitignore").write_text("*.py\n" + "x\n" * 1_000_000)

    assert names(tmp_path, trusted=False) == [
        "one/.gitignore",
        "one/a.py",
        "three/.gitignore",
        "two/.gitignore",
        "two/b.py",
    ]


def test_a_pattern_that_could_be_tried_in_too_many_ways_is_tried_in_few(tmp_path):
    fill(tmp_path, "a" * 200)
    (tmp_path / ".gitignore").write_text("*a" * 60 + "b\n" + "**/a" * 60 + "\n")

    assert names(tmp_path, trusted=False) == [".gitignore", "a" * 200]


def test_names_that_are_not_text_and_a_very_deep_tree_stop_nothing(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).touch()
    deep = tmp_path.joinpath(*["d"] * 100)
    deep.mkdir(parents=True)
    fill(tmp_path, "d/d/near.txt")
    (deep / "far.txt").touch()

    assert names(tmp_path, trusted=False) == sorted([os.fsdecode(b"caf\xe9.txt"), "d/d/near.txt"])


@pytest.mark.parametrize("trusted", [True, False])
def test_it_ends_at_once_when_nobody_waits(folder, trusted):
    assert names(folder, trusted=trusted, is_over=lambda: True) == []


def test_a_folder_that_is_not_there_has_no_files(tmp_path):
    assert names(tmp_path / "nowhere", trusted=False) == []
    assert names(tmp_path / "nowhere", trusted=True) == []
