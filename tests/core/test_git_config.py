"""Our parser of git's configuration, held against git's own: no file is read in another way, and none that git refuses."""

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.permissions.git.real import git_env

from everturn.core.git_config import MAX_CONFIG, Setting, UnclearError, parse_config

ODD = (
    b"[", b"]", b'"', b"\\", b"\n", b"\r\n", b"\r", b" ", b"\t", b"#", b";", b"=", b".", b"-", b"_", b"1", b"K", b"\xff", b"\x0b",
    b"\x0c", b"\x08", b"\xc3\xa4", b"\\\n", b"\\\r\n", b"\\n", b"\\t", b"\\b", b'\\"', b"\\\\", b"\\x", b"\xef\xbb\xbf", b"\xef\xbb", b"\0",
)  # fmt: skip
WHOLE = (
    b"[core]", b"[CORE]\n", b'[diff "a]b"]\n', b'[diff "A\\"\\q"]', b"[remote.Origin]", b'[a.b "c"]', b"[.x]", b"[x.]", b'[ "x"]', b"[]",
    b'[a\t\r "b"]', b'[a "b" ]', b"fsmonitor = x\n", b"\rfsmonitor=x\r\n", b"key\n", b"key", b"key = \n", b"key=a b  c\td\n",
    b'key = "a # b" c # d\n', b"key = a\\\n b\n", b"# note\n", b"; note\\\n", b"key-1=2 ;3\n", b'key="a" "b"\n', b"k=a \\\n\\\n b",
    b'k = a "" \n', b"[a]k", b"[a] [b] k=1\n", b"k\t =\tv\r\r\n",
)  # fmt: skip
FILES = st.lists(st.one_of(st.sampled_from(WHOLE), st.sampled_from(ODD), st.binary(max_size=2)), max_size=12).map(
    b"".join
)


@pytest.fixture(scope="module")
def ask_git(tmp_path_factory):
    """What git reads in a file, or None where it refuses it."""
    folder = tmp_path_factory.mktemp("config")
    env = git_env(folder / "home")

    def ask(data):
        (folder / "config").write_bytes(data)
        done = subprocess.run(
            ["git", "config", "--file", "config", "--list", "-z"], cwd=folder, env=env, capture_output=True, check=False
        )
        return None if done.returncode else [split(each) for each in done.stdout.split(b"\0")[:-1]]

    return ask


def split(line):
    key, newline, value = line.decode("utf-8", "surrogateescape").partition("\n")
    return Setting(key, level(value) if newline else None)


def level(value):
    """Versions of git before 2.45 make a space of every blank inside a value."""
    return value.replace("\t", " ").replace("\r", " ")


def parse(data):
    try:
        return [Setting(key, value if value is None else level(value)) for key, value in parse_config(data)]
    except UnclearError:
        return None


@settings(max_examples=300)
@given(FILES)
@example(b"[core]\n\rfsmonitor = x")
@example(b'[diff "a]b"]\ncommand = x')
@example(b"\xef\xbb\xbf[core]fsmonitor=x")
def test_what_git_reads_we_read_and_what_git_refuses_we_refuse(ask_git, data):
    ours = parse(data)

    assert ours == ask_git(data) or (ours is None and b"\0" in data)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(WHOLE), max_size=8).map(lambda parts: b"[s]" + b"\n".join(parts)))
def test_files_of_whole_lines_are_read_as_git_does(ask_git, data):
    assert parse(data) == ask_git(data)


def test_a_file_that_is_too_long_or_has_a_nul_byte_is_refused():
    assert len(parse_config(b"[a]\n" + b"#" * (MAX_CONFIG - 10))) == 0
    for data in (b"#" * (MAX_CONFIG + 1), b"[core]\n\tbare = true\0"):
        with pytest.raises(UnclearError):
            parse_config(data)


@pytest.mark.parametrize(
    ("key", "pattern"),
    [
        ("core.bare", "core.bare"),
        ("remote.origin.url", "remote.*.url"),
        ("remote.a.b.c.url", "remote.*.url"),
        ("diff..external", "diff.*.external"),
        ("alone", "alone"),
    ],
)
def test_a_subsection_may_have_any_name(key, pattern):
    assert Setting(key, "").pattern == pattern
