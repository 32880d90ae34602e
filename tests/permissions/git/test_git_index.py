"""Repositories that an index names, in every form that git writes, and in some that only an attacker does."""

import hashlib
import struct
import subprocess
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pace import measured
from tests.permissions.git.real import git_env, make_repository, run_git

from everturn.core.git_config import UnclearError
from everturn.permissions.git import index as reading
from everturn.permissions.git.plain_files import ByteAllowance

SIZES = {"sha1": 20, "sha256": 32}
LONG = "very/" * 900 + "long"


def find_links(git, hash_size):
    return reading.find_links(git, hash_size, ByteAllowance(2**24))


def fill(folder, lines, *words, version=None):
    """Adds to the index; an index keeps its version until it is told another one."""
    run_git(folder, *words, "update-index", "--index-info", stdin=lines)
    if version is not None:
        run_git(folder, *words, "update-index", "--index-version", str(version))
        assert (folder / ".git/index").read_bytes()[7] == version


def entry(kind, name, hash_size=20):
    return f"{kind} {'1' * hash_size * 2} 0\t{name}\n"


def seal(data):
    """An attacker writes a right sum, too."""
    return data + hashlib.sha1(data, usedforsecurity=False).digest()


@pytest.mark.parametrize("form", SIZES)
@pytest.mark.parametrize("version", [2, 3, 4])
def test_links_are_found_in_every_version_of_the_index(tmp_path, version, form):
    folder = make_repository(tmp_path / "repo", f"--object-format={form}")
    lines = "".join(
        entry(kind, name, SIZES[form])
        for kind, name in [(100644, "a/b"), (160000, "a/sub"), (160000, LONG), (120000, "z")]
    )
    fill(folder, lines, version=4 if version == 4 else 2)
    if version == 3:
        (folder / "new.txt").touch()
        run_git(folder, "add", "--intent-to-add", "new.txt")

    assert (folder / ".git/index").read_bytes()[7] == version
    assert find_links(str(folder / ".git"), SIZES[form]) == ["a/sub", LONG]


@pytest.mark.parametrize("version", [2, 4])
def test_links_are_found_in_both_parts_of_a_split_index(tmp_path, version):
    folder = make_repository(tmp_path / "repo")
    fill(folder, entry(160000, "first") + entry(100644, "plain"), version=version)
    run_git(folder, "update-index", "--split-index")
    fill(folder, entry(160000, "second"))

    assert sorted(find_links(str(folder / ".git"), 20)) == ["first", "second"]

    fill(folder, entry(160000, "plain"))
    with pytest.raises(UnclearError):
        find_links(str(folder / ".git"), 20)


@pytest.mark.parametrize("version", [2, 4])
def test_an_index_in_blocks_is_read_and_one_whose_blocks_lie_is_refused(tmp_path, version):
    folder = make_repository(tmp_path / "repo")
    lines = "".join(entry(100644, f"folder/file{number}") for number in range(50)) + entry(160000, "sub")
    wishes = ("index.threads=4", "index.recordOffsetTable=true", "index.recordEndOfIndexEntries=true")
    fill(folder, lines, *(word for wish in wishes for word in ("-c", wish)), version=version)
    index = folder / ".git/index"
    data = index.read_bytes()[:-20]
    at = data.index(b"IEOT")
    assert find_links(str(folder / ".git"), 20) == ["sub"]

    for lie in (at + 12, data.index(b"EOIE") + 8):
        where = int.from_bytes(data[lie : lie + 4])
        index.write_bytes(seal(data[:lie] + struct.pack(">I", where + 72) + data[lie + 4 :]))
        with pytest.raises(UnclearError):
            find_links(str(folder / ".git"), 20)


@pytest.mark.parametrize("mode", [0o160000, 0o160755, 0x1E000, 0xFFFFE1A4])
def test_the_kind_of_an_entry_is_all_that_makes_a_link_as_git_has_it(tmp_path, mode):
    folder = make_repository(tmp_path / "repo")
    inner = make_repository(folder / "sub")
    run_git(folder, "rm", "-q", "--cached", "file.txt")
    run_git(folder, "add", "sub")
    index = folder / ".git/index"
    data = index.read_bytes()[:-20]
    index.write_bytes(seal(data[:36] + struct.pack(">I", mode) + data[40:]))
    run_git(inner, "config", "core.fsmonitor", f"touch {tmp_path}/pwned; :")

    assert find_links(str(folder / ".git"), 20) == ["sub"]
    run_git(folder, "status", check=False)
    assert (tmp_path / "pwned").exists()


@pytest.mark.parametrize("name", ["../sub", "a/../../sub", "./sub", "a//sub", ".git/sub", "a/.GIT"])
def test_a_link_that_leads_elsewhere_is_refused(tmp_path, name):
    folder = make_repository(tmp_path / "repo")
    fill(folder, entry(160000, "x" * len(name)))
    index = folder / ".git/index"
    index.write_bytes(seal(index.read_bytes()[:-20].replace(b"x" * len(name), name.encode())))

    with pytest.raises(UnclearError):
        find_links(str(folder / ".git"), 20)


def test_a_sparse_index_is_refused_since_it_hides_entries(tmp_path):
    folder = make_repository(tmp_path / "repo")
    for name in ("in/a", "out/b"):
        (folder / name).parent.mkdir()
        (folder / name).touch()
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-qm", "two")
    run_git(folder, "sparse-checkout", "set", "--cone", "--sparse-index", "in")

    with pytest.raises(UnclearError):
        find_links(str(folder / ".git"), 20)


@settings(max_examples=200)
@given(st.binary(max_size=300), st.integers(0, 300), st.sampled_from([2, 3, 4]))
def test_a_broken_index_is_refused_and_never_more_than_that(tmp_path_factory, noise, at, version):
    folder = tmp_path_factory.mktemp("git")
    (folder / "index").write_bytes((b"DIRC" + struct.pack(">II", version, len(noise) // 70 + 1) + noise)[: at + 12])

    with suppress(UnclearError):
        assert isinstance(find_links(str(folder), 20), list)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from([100644, 160000, 120000]), st.text("ab/", min_size=1, max_size=6)), max_size=12),
    st.sampled_from([2, 4]),
)
def test_git_lists_the_same_links(tmp_path_factory, entries, version):
    folder = tmp_path_factory.mktemp("repo")
    env = git_env(folder / "home")

    def run(*words, text=""):
        return subprocess.run(("git", "-c", f"index.version={version}", *words), cwd=folder, env=env, input=text.encode(), capture_output=True, check=False).stdout  # fmt: skip

    run("init", "-q")
    for kind, name in entries:
        run("update-index", "--index-info", text=entry(kind, name))
    listed = [
        line.partition(b"\t")[2].decode() for line in run("ls-files", "-sz").split(b"\0") if line.startswith(b"160000")
    ]

    assert find_links(str(folder / ".git"), 20) == listed


@pytest.mark.parametrize("version", [2, 4])
def test_a_hundred_thousand_files_take_less_than_a_tenth_of_a_second(tmp_path, version):
    folder = make_repository(tmp_path / "repo")
    lines = "".join(entry(100644, f"src/folder{number // 100}/file{number}.py") for number in range(100_000))
    fill(folder, lines + entry(160000, "vendor/sub"), version=version)

    with measured() as spent:
        links = find_links(str(folder / ".git"), 20)

    assert links == ["vendor/sub"]
    assert spent.seconds < 0.1
