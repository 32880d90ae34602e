"""Which repository counts in a folder, held against git on folders that are odd in every way."""

import os
import shutil
import subprocess
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.permissions.git.real import git_env, run_git

from everturn.core.git_config import UnclearError
from everturn.permissions.git.discovery import find_repositories
from everturn.permissions.git.places import find_git_places

HEADS = (None, "ref: refs/heads/main\n", "ref:refs/x", "ref: heads/x\n", "1" * 40, "1" * 39, "", "link", "folder")
FOLDERS = (None, "folder", "file", "program", "link")
SHARED = (None, None, "shared", "shared\r\n", "shared \n", "a\nb", "../common", "link/../shared", "")
FILES = ("gitdir: git", "gitdir: git\n", "gitdir:git\n", "gitdir: git\r\n\r\n", "gitdir: nowhere\n", "", "git\n", "gitdir: ../level/git\n", "gitdir: link\n")  # fmt: skip


@st.composite
def repositories(draw):
    """Most of them nearly whole."""
    whole = {"head": HEADS[1], "objects": "folder", "refs": "folder", "shared": None}
    if draw(st.booleans()):
        return whole
    kinds = {"head": HEADS, "objects": FOLDERS, "refs": FOLDERS, "shared": SHARED}
    odd = draw(st.sets(st.sampled_from(sorted(kinds)), max_size=2))
    return {**whole, **{name: draw(st.sampled_from(kinds[name])) for name in sorted(odd)}}


LEVELS = st.tuples(
    st.one_of(st.none(), st.sampled_from(FILES), st.sampled_from(["folder", "link", "pipe", "loop"])),
    st.one_of(st.none(), repositories()),
    st.one_of(st.none(), repositories()),
)
"""What `.git` is, what lies in the folder that it is or names, and what lies in the level itself."""


def build(place, kind):
    if kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to("elsewhere")
    elif kind is not None:
        place.write_text("")
        place.chmod(0o755 if kind == "program" else 0o644)


def build_repository(place, parts):
    place.mkdir(exist_ok=True)
    (place / "link").symlink_to(place.parent / "other/inside")
    if parts["head"] == "link":
        (place / "HEAD").symlink_to("refs/heads/main")
    elif parts["head"] == "folder":
        (place / "HEAD").mkdir()
    elif parts["head"] is not None:
        (place / "HEAD").write_text(parts["head"])
    for name in ("objects", "refs"):
        build(place / name, parts[name])
    if parts["shared"] is not None:
        (place / "commondir").write_text(parts["shared"])
        for name in ("objects", "refs"):
            (place / "shared" / name).mkdir(parents=True)


def build_level(level, marker, named, itself):
    level.mkdir()
    (level / "other/inside").mkdir(parents=True)
    if itself is not None:
        build_repository(level, itself)
    if named is not None:
        build_repository(level / ("git" if marker != "folder" else ".git"), named)
    git = level / ".git"
    if marker == "link":
        git.symlink_to("git")
    elif marker == "loop":
        git.symlink_to(".git")
    elif marker == "pipe":
        os.mkfifo(git)
    elif marker == "folder":
        git.mkdir(exist_ok=True)
    elif marker is not None:
        git.write_text(marker)


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    """Above everything lies a whole repository."""
    folder = tmp_path_factory.mktemp("ground") / "repo"
    folder.mkdir()
    run_git(folder, "init", "-q")
    numbers = count()
    return lambda: folder / str(next(numbers))


def ask_git(folder, home):
    words = ("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
    done = subprocess.run(("git", *words), cwd=folder, env=git_env(home), capture_output=True, text=True, check=False)
    return tuple(map(os.path.realpath, done.stdout.splitlines())) if done.returncode == 0 else None


@settings(max_examples=100)
@given(LEVELS, LEVELS)
def test_the_repository_that_git_uses_is_among_ours_and_an_unclear_level_is_refused(ground, outer, inner):
    top = ground()
    top.mkdir()
    build_level(top / "level", *outer)
    build_level(top / "level/in", *inner)
    folder = top / "level/in"
    theirs = ask_git(folder, top / "home")

    places = find_git_places(str(folder), "/nowhere")
    try:
        ours = [(os.path.realpath(each.git), os.path.realpath(each.common)) for each in find_repositories(str(folder))]
    except UnclearError:
        ours = None

    shutil.rmtree(top)
    assert ours is None or theirs is None or theirs in ours
    assert places is None or theirs is None or (os.path.realpath(places.git), os.path.realpath(places.common)) == theirs
