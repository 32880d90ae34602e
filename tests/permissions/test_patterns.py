"""Path patterns of rules, held against git's own reading of them, and against anchors, folding and hostile sizes."""

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pace import measured
from tests.permissions.rules_of import rules_of

from everturn.permissions.paths.index import Anchors, PathRules
from everturn.permissions.rules.globs import parse_glob
from everturn.permissions.rules.rule_parser import RuleProblem
from everturn.ports.policy import Ruling

HOME, CWD, SOURCE = "/home/dev", "/home/dev/proj", "/home/dev/.everturn"
ANCHORS = Anchors(home=HOME, cwd=CWD)


def covers(ruling, pattern, path, tool="Read", folder=SOURCE):
    rules = PathRules(rules_of(**{ruling: [f"{tool}({pattern})"]}, folder=folder), ANCHORS)
    return (tool, Ruling(ruling)) in rules.find(path)


@pytest.mark.parametrize(
    ("pattern", "path", "allow", "deny"),
    [
        # Four anchors.
        ("//etc/passwd", "/etc/passwd", True, True),
        ("//**/.env", "/srv/x/.env", True, True),
        ("~/.ssh/**", "/home/dev/.ssh/id", True, True),
        ("~/.ssh/**", "/home/dev/.ssh", False, False),
        ("/a.txt", "/home/dev/.everturn/a.txt", True, True),
        ("/a.txt", "/home/dev/proj/a.txt", False, False),
        ("src/a.txt", "/home/dev/proj/src/a.txt", True, True),
        ("src/a.txt", "/home/dev/proj/lib/src/a.txt", False, False),
        ("./a/b", "/home/dev/proj/a/b", True, True),
        ("../shared/**", "/home/dev/shared/x", True, True),
        # A bare name, at any depth, but not elsewhere.
        (".env", "/home/dev/proj/deep/er/.env", True, True),
        (".env", "/srv/.env", False, False),
        ("*.pem", "/home/dev/proj/keys/a.pem", True, True),
        ("./.env", "/home/dev/proj/deep/.env", False, True),
        # One folder and all in it: an allow takes it here, a deny anywhere.
        ("src/**", "/home/dev/proj/src/a/b", True, True),
        ("src/**", "/home/dev/proj/lib/src/a", False, True),
        ("src/", "/home/dev/proj/src/a", True, True),
        ("src/", "/home/dev/proj/lib/src/a", False, True),
        ("**/src/**", "/home/dev/proj/lib/src/a", True, True),
        ("a/**/z", "/home/dev/proj/a/z", True, True),
        ("a/**/z", "/home/dev/proj/a/b/c/z", True, True),
        # A folder that is matched holds what is in it; for an allow only where it is named in full.
        ("secrets", "/home/dev/proj/x/secrets/deep/k", True, True),
        ("src/*", "/home/dev/proj/src/a/b", False, True),
        ("src/*", "/home/dev/proj/src/a", True, True),
        ("**", "/home/dev/proj/any/thing", True, True),
        ("*", "/home/dev/proj/any/thing", True, True),
        # Spelling: an allow is exact, a deny is not.
        (".env", "/home/dev/proj/.ENV", False, True),
        ("caf\u00e9", "/home/dev/proj/cafe\u0301", False, True),
        ("stra\u00dfe", "/home/dev/proj/STRASSE", False, True),
        ("[a-c]x", "/home/dev/proj/Bx", False, True),
        (".env", "/home/dev/proj/\uff0eenv", False, False),
        # Marks.
        ("a[1].txt", "/home/dev/proj/a1.txt", True, True),
        ("a\\[1].txt", "/home/dev/proj/a[1].txt", True, True),
        ("[!a]b", "/home/dev/proj/cb", True, True),
        ("[!a]b", "/home/dev/proj/ab", False, False),
        ("a?c", "/home/dev/proj/abc", True, True),
        ("a?c", "/home/dev/proj/a/c", False, False),
        ("\\!x", "/home/dev/proj/!x", True, True),
    ],
)
def test_a_pattern_covers_a_path(pattern, path, allow, deny):
    assert (covers("allow", pattern, path), covers("deny", pattern, path), covers("ask", pattern, path)) == (
        allow,
        deny,
        deny,
    )


def test_a_folder_that_is_reached_by_a_link_is_the_same_folder(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    rules = PathRules(rules_of(deny=["Read(a/b)"]), Anchors(home=HOME, cwd=str(link)))

    assert [bool(rules.find(f"{place}/a/b")) for place in (real, link, tmp_path)] == [True, True, False]


NAMES = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name.strip("."))
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PIECES = st.lists(st.sampled_from(["a", "b", ".", "*", "?", "[ab]", "[!a]", "[a-b]", "\\a"]), min_size=1, max_size=4)
SEGMENTS = st.one_of(PIECES.map("".join), st.just("**"), NAMES).filter(lambda name: name not in {".", "..", "..."})
PATTERNS = st.tuples(st.sampled_from(["", "/"]), st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join)).map("".join)


@pytest.fixture(scope="module")
def ignored(tmp_path_factory):
    """Git's answer: which of the paths does the pattern cover? None of them exists."""
    place = tmp_path_factory.mktemp("repository")
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "init", "-q", str(place)], check=True, env=env, timeout=120)

    def ask(pattern, paths):
        (place / ".gitignore").write_text(f"{pattern}\n")
        told = subprocess.run(
            ["git", "-c", "core.ignorecase=false", "check-ignore", "--no-index", "-z", "--stdin"],
            input="\0".join(paths).encode(),
            cwd=place,
            env=env,
            capture_output=True,
            check=False,
            timeout=120,
        )
        return {*told.stdout.decode().split("\0")} - {""}

    return ask


def is_wider_than_git(pattern):
    """A deny for one folder and all in it holds at any depth; git would tie it to the top."""
    names = [name for name in pattern.split("/") if name]
    while names and names[-1] == "**":
        names.pop()
    return not pattern.startswith("/") and len(names) == 1


@settings(max_examples=150)
@given(pattern=PATTERNS, paths=st.lists(PATHS, min_size=1, max_size=12, unique=True))
def test_a_deny_covers_what_git_would_ignore_and_an_allow_nothing_else(ignored, pattern, paths):
    expected = ignored(pattern, paths)

    denied = {path for path in paths if covers("deny", pattern, f"{CWD}/{path}", folder=CWD)}
    allowed = {path for path in paths if covers("allow", pattern, f"{CWD}/{path}", folder=CWD)}

    assert expected <= denied
    assert allowed <= expected
    if not is_wider_than_git(pattern):
        assert denied == expected


def reference(pattern, name):
    """The slow and obvious way."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(reference(pattern[1:], name[start:]) for start in range(len(name) + 1))
    return bool(name) and (pattern[0] == "?" or pattern[0] == name[0]) and reference(pattern[1:], name[1:])


@given(pattern=st.text("ab*?", max_size=8), name=st.text("abc", max_size=8))
def test_a_glob_matches_as_the_slow_way_does(pattern, name):
    assert parse_glob(pattern).matches(name) is reference(pattern, name)


@pytest.mark.parametrize(
    "pattern",
    ["*a" * 500_000, "?*" * 500_000, "a" * 1_000_000, "[ab]*" * 200_000, "a/" * 500_000],
    ids=["stars", "marks", "plain", "sets", "folders"],
)
def test_a_pattern_that_is_longer_than_any_path_is_refused_soon(pattern):
    with measured() as spent, pytest.raises(RuleProblem, match="is longer than any path may be"):
        rules_of(deny=[f"Read({pattern})"])

    assert spent.seconds < 5


@pytest.mark.parametrize(
    "pattern", ["*" * 1_000_000, "**/" * 300_000 + "*", "/" * 1_000_000], ids=["stars", "deep", "slashes"]
)
def test_a_megabyte_that_says_little_is_read_once_and_then_costs_nothing(pattern):
    rules = PathRules(rules_of(deny=[f"Read(./{pattern})"]), ANCHORS)

    with measured() as spent:
        assert all(rules.find(f"{CWD}/{'a' * 250}/{'ab' * 120}b") for _ in range(20))

    assert spent.seconds < 0.5


def test_hostile_names_and_globs_take_no_longer_than_their_length():
    rules = PathRules(rules_of(deny=[f"Read({'*a' * 60}b)", f"Read({'?*a' * 60}b)", f"Read({'[a]*' * 60}b)"]), ANCHORS)

    with measured() as spent:
        assert rules.find(f"{CWD}/{'a' * 250}") == {}

    assert spent.seconds < 0.2


def test_the_deepest_path_is_judged_soon_whatever_the_pattern():
    rules = PathRules(rules_of(deny=[f"Read({'**/a*/' * 16}b)", f"Read({'**/a/' * 16}b)"]), ANCHORS)

    with measured() as spent:
        assert rules.find(CWD + "/a" * 2_000) == {}
        assert list(rules.find(CWD + "/a" * 2_000 + "/b")) == [("Read", Ruling.DENY)]

    assert spent.seconds < 2


def test_more_folders_of_any_depth_than_anybody_needs_are_refused():
    with pytest.raises(RuleProblem, match=r"has more than 16 `\*\*`"):
        rules_of(deny=[f"Read({'**/a/' * 17}b)"])
