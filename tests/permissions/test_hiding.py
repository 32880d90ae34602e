"""What rules keep from being read is the same name by name, from a folder down, as by the whole path."""

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.needs import NOBODY
from tests.permissions.rules_of import rules_of

from everturn.permissions.policy import RulePolicy
from everturn.sandbox.held.hidden import HiddenFiles, TooManyError

NAMES = st.sampled_from(["a", "A", "b", ".env", ".ENV", "é", "é", "*", "[ab]", "?", "**", "a*", "*.key", "x.key"])
PLAIN = st.sampled_from(["a", "A", "b", ".env", ".Env", "é", "é", "x.key", "work", "deep", "c"])
RULES = st.builds(
    "Read({}{})".format, st.sampled_from(["", "./", "/", "//", "//project/", "~/", "../"]), st.lists(NAMES, min_size=1, max_size=4).map("/".join)
)  # fmt: skip
FILE_CLOCK = 5
"""The one that Linux stamps files with (CLOCK_REALTIME_COARSE)."""


def hides_of(folder, denied=(), ask=()):
    return RulePolicy("default", str(folder), rules=rules_of(deny=denied, ask=ask)).find_hides()


def step_down(hides, path):
    """As whoever goes through folders asks: it never looks into what is hidden, or where nothing can be."""
    outer, names = "", path.split("/")[1:]
    below = hides.enter("/")
    for name in names:
        if below is None:
            return ""
        if below.hides(name):
            return f"{outer}/{name}"
        outer, below = f"{outer}/{name}", below.enter(name)
    return ""


@given(st.lists(RULES, min_size=1, max_size=4), st.lists(PLAIN, min_size=1, max_size=5), st.integers(0, 4))
def test_name_by_name_as_by_the_whole_path(rules, names, start):
    hides = hides_of("/project/a", rules[:2], rules[2:])
    path = f"/{'/'.join(names)}"
    prefixes = [f"/{'/'.join(names[:count])}" for count in range(1, len(names) + 1)]
    highest = next((each for each in prefixes if hides(each)), "")

    assert step_down(hides, path) == highest
    # The same from a folder in the middle.
    folder = "/" + "/".join(names[: min(start, len(names) - 1)])
    below = hides.enter(folder.rstrip("/") or "/")
    inner = names[min(start, len(names) - 1)]
    assert (below is not None and below.hides(inner)) == hides(f"{folder.rstrip('/')}/{inner}")


def find_plainly(root, hides):
    """Every path, one by one."""
    found = []
    for folder, folders, files in os.walk(root):
        hidden = [name for name in (*folders, *files) if hides(f"{folder}/{name}")]
        found += [f"{folder}/{name}" for name in hidden]
        folders[:] = [name for name in folders if name not in hidden]
    return tuple(sorted(found))


def pass_tick():
    """Until the file system's clock has gone on."""
    now = time.clock_gettime_ns(FILE_CLOCK)
    while time.clock_gettime_ns(FILE_CLOCK) == now:
        pass


def change(root, how, first, second):
    """What a command may do; what cannot be done is left out."""
    a, b = root / first, root / second
    if how == "file" and not a.exists():
        a.parent.mkdir(parents=True, exist_ok=True)
        a.touch()
    elif how == "remove" and a.is_dir():
        shutil.rmtree(a)
    elif how == "move" and a.exists() and not b.exists() and b.parent.is_dir() and a not in b.parents:
        a.rename(b)
    elif how == "swap" and a.exists() and b.exists() and a not in b.parents and b not in a.parents:
        between = root.parent / "between"
        a.rename(between)
        b.rename(a)
        between.rename(b)
    elif how == "age" and a.exists():
        # Only the kernel's own time cannot be set back.
        os.utime(a, ns=(1, 1))


PLACES = st.sampled_from(["a", "b", "a/c", "b/c", "a/c/d", "a/.env", "b/c/.env", "a/c/d/.env", "a/c/x.key", ".env"])
CHANGES = st.lists(
    st.tuples(st.sampled_from(["file", "file", "remove", "move", "swap", "age"]), PLACES, PLACES), max_size=8
)


@given(CHANGES, st.sampled_from([["Read(.env)"], ["Read(./a/c/**)"], ["Read(*.key)", "Read(/b/c/.env)"]]))
def test_what_is_remembered_of_folders_is_what_is_there(changes, rules):
    with tempfile.TemporaryDirectory() as made:
        root = Path(made).resolve() / "root"
        root.mkdir()
        hides = hides_of(root, rules)
        sure, trusting = HiddenFiles(), HiddenFiles(recent_ns=0)
        for each in changes:
            with suppress(OSError):
                change(root, *each)
            assert sure.find((str(root),), hides) == find_plainly(root, hides)
            pass_tick()
            assert trusting.find((str(root),), hides) == find_plainly(root, hides)


def test_other_rules_find_other_files(tmp_path):
    root = tmp_path.resolve()
    for name in ("a/.env", "a/x.key"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).touch()
    files = HiddenFiles(recent_ns=0)

    assert files.find((str(root),), hides_of(root, ["Read(.env)"])) == (f"{root}/a/.env",)
    assert files.find((str(root),), hides_of(root, ["Read(*.key)"])) == (f"{root}/a/x.key",)


def test_a_rule_with_a_place_is_looked_for_there_and_nowhere_else(tmp_path):
    """So its price does not grow with the folder."""
    root = tmp_path.resolve()
    for name in ("config/keys/a", *(f"other/{number}/b" for number in range(20))):
        (root / name).mkdir(parents=True)
    (root / "config/keys/.env").touch()
    files = HiddenFiles(most_folders=3)

    assert files.find((str(root),), hides_of(root, ["Read(./config/keys/.env)"])) == (f"{root}/config/keys/.env",)
    with pytest.raises(TooManyError):
        files.find((str(root),), hides_of(root, ["Read(.env)"]))


@pytest.fixture
def nobody():
    """Root lists everything."""
    user = os.geteuid()
    os.seteuid(NOBODY if user == 0 else user)
    yield
    os.seteuid(user)


def test_a_folder_that_cannot_be_listed_is_hidden_whole(nobody):
    """What is in it can still be opened, by name."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        root = Path(made).resolve()
        (root / "shut").mkdir(mode=0o300)

        found = HiddenFiles().find((str(root),), hides_of(root, ["Read(.env)"]))

    assert found == (f"{root}/shut",)


def test_what_was_listed_is_known_where_there_was_too_much_at_once(tmp_path):
    root = tmp_path.resolve()
    for number in range(30):
        (root / str(number)).mkdir()
        (root / str(number) / ".env").touch()
    hides, files = hides_of(root, ["Read(.env)"]), HiddenFiles(most_entries=40, recent_ns=0)

    with pytest.raises(TooManyError):
        files.find((str(root),), hides)
    assert len(files.find((str(root),), hides)) == 30


def test_what_was_changed_a_moment_ago_is_listed_again(tmp_path):
    """A second change could have the same time."""
    root = tmp_path.resolve()
    for number in range(30):
        (root / str(number)).mkdir()
        (root / str(number) / ".env").touch()
    hides, files = hides_of(root, ["Read(.env)"]), HiddenFiles(most_entries=40)

    for _ in range(3):
        with pytest.raises(TooManyError):
            files.find((str(root),), hides)


def test_a_time_that_was_set_back_hides_nothing(tmp_path):
    root = tmp_path.resolve()
    folder = root / "folder"
    folder.mkdir()
    hides, files = hides_of(root, ["Read(.env)"]), HiddenFiles(recent_ns=0)
    before = folder.stat().st_mtime_ns
    pass_tick()
    assert files.find((str(root),), hides) == ()

    (folder / ".env").touch()
    os.utime(folder, ns=(before, before))

    assert files.find((str(root),), hides) == (f"{folder}/.env",)
