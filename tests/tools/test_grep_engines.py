"""ripgrep and the Python engine give the same answer on any small tree, for every documented option."""

import os
import sys
import tempfile
from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tool import ToolContext
from everturn.tools.grep.python_search import compile_pattern, search_tree
from everturn.tools.grep.query import GrepInput, plan_query
from everturn.tools.grep.ripgrep import plan_arguments, run_ripgrep
from everturn.tools.grep.tool import run_grep

OURS = str(Path(sys.executable).with_name("rg"))
PROGRAMS = [
    pytest.param("rg", marks=pytest.mark.needs("ripgrep")),
    pytest.param(OURS, marks=pytest.mark.needs("our ripgrep")),
]
"""The version of the machine, and the one that is installed with us."""

WORDS = st.sampled_from(["foo", "bar", "foobar", "Foo", "", "fo", "o", "é", "x\ty", "a.b"])
LINES = st.lists(st.lists(WORDS, max_size=3).map(" ".join), max_size=6)
ENDS = st.sampled_from(["\n", "\r\n"])
TEXTS = st.builds(
    lambda lines, end, last: (end.join(lines) + (end if last and lines else "")).encode(), LINES, ENDS, st.booleans()
)
CONTENTS = st.one_of(
    TEXTS,
    TEXTS.map(lambda data: b"\0" + data),
    TEXTS.map(lambda data: b"\xef\xbb\xbf" + data),
    TEXTS.map(lambda data: data.decode().encode("utf-16")),
)
NAMES = st.sampled_from(
    [
        "a.py",
        "b.js",
        "c.txt",
        ".hidden",
        "d.pyi",
        "build.log",
        "e f.py",
        "new\nline.py",
        os.fsdecode(b"\xff.py"),
        "é.js",
    ]
)
FOLDERS = st.sampled_from(["", "src/", "src/deep/", "build/", ".git/", ".cfg/", "node_modules/x/"])
RULES = st.lists(
    st.sampled_from(
        ["*.py", "build/", "/build", "!a.py", "src/*.js", "**/deep", "*.log", "deep/**", "# note", "", "a.*", "!src/",
         "node_modules", "[ab].py", "src/**/c.txt", "{a,b}.py", "/src/a.py", "c.tx?"]
    ),
    max_size=3,
).map("\n".join)  # fmt: skip
TREES = st.fixed_dictionaries(
    {
        "files": st.dictionaries(st.builds(str.__add__, FOLDERS, NAMES), CONTENTS, min_size=1, max_size=6),
        "ignores": st.dictionaries(
            st.sampled_from([".gitignore", ".ignore", "src/.gitignore", ".rgignore", "src/.ignore"]), RULES, max_size=2
        ),
        "repository": st.booleans(),
        "nested": st.booleans(),
        "strange": st.booleans(),
    }
)
CALLS = st.fixed_dictionaries(
    {
        "pattern": st.sampled_from(
            ["foo", "o+", "^foo", "bar$", "^$", r"\bfoo\b", "fo|ar", r"a\.b", "[fo]o", "é", "x\\s", "."]
        )
    },
    optional={
        "path": st.sampled_from([".", "src", "src/a.py", "build", "a.py"]),
        "glob": st.sampled_from(
            [
                "*.py",
                "!*.py",
                "src/**",
                "*.{py,js}",
                "**/deep/*",
                "a.py",
                "/a.py",
                "src/",
                "*",
                "*.py,*.js",
                "*.py, !a.*",
            ]
        ),
        "type": st.sampled_from(["py", "js", "txt"]),
        "output_mode": st.sampled_from(["files_with_matches", "content", "count"]),
        "-i": st.booleans(),
        "-n": st.booleans(),
        "-o": st.booleans(),
        "-A": st.integers(0, 2),
        "-B": st.integers(0, 2),
        "-C": st.integers(0, 2),
        "context": st.integers(0, 2),
        "head_limit": st.integers(0, 3),
        "offset": st.integers(0, 2),
    },
)
ACROSS = st.fixed_dictionaries(
    {
        "pattern": st.sampled_from(["foo.bar", "o\nf", "foo\\s+foo", "r.*f", "(?s:o.b)", "^bar", "foo$"]),
        "multiline": st.just(True),
        "output_mode": st.sampled_from(["files_with_matches", "content", "count"]),
    },
    optional={"-i": st.booleans(), "-C": st.integers(0, 2), "-o": st.booleans()},
)


def build(folder, tree):
    root = Path(folder).resolve()
    for name, data in {**tree["files"], **{name: rules.encode() for name, rules in tree["ignores"].items()}}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (1_000_000, 1_000_000))
    if tree["repository"]:
        (root / ".git").mkdir(exist_ok=True)
    if tree["repository"] and tree["nested"]:
        # Outside a repository, versions of ripgrep do not agree with each other about those below.
        (root / "src" / ".git").mkdir(parents=True, exist_ok=True)
    if tree["strange"]:
        os.mkfifo(root / "pipe.py")
        (root / "broken.py").symlink_to("nowhere")
        (root / "loop").symlink_to(".")
        (root / "link.txt").symlink_to("c.txt")
    return root


async def answer(root: Path, fields, engine):
    context = ToolContext(
        folder=str(root), tool_use_id="t", abort=AbortSignal(), files=FileStates(), progress=[].append
    )
    try:
        return await run_grep(msgspec.convert(fields, GrepInput), context, engine)
    except ToolFault as fault:
        return str(fault)


async def search_here(query, abort, hold):
    """The engine in Python, without a process for each example."""
    compile_pattern(query)
    return search_tree(query, 30)


async def compare(program, tree, fields):
    with tempfile.TemporaryDirectory() as folder:
        root = build(folder, tree)
        plain = await answer(root, fields, search_here)
        assert await answer(root, fields, partial(run_ripgrep, program)) == plain


@pytest.mark.parametrize("program", PROGRAMS, ids=["of the machine", "of ours"])
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(tree=TREES, fields=CALLS)
async def test_both_engines_agree_on_any_small_tree(program, tree, fields):
    await compare(program, tree, fields)


@pytest.mark.parametrize("program", PROGRAMS, ids=["of the machine", "of ours"])
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(tree=TREES, fields=ACROSS)
async def test_both_engines_agree_on_matches_across_lines(program, tree, fields):
    await compare(program, tree, fields)


def test_no_value_of_the_model_is_an_option_of_the_program():
    query = plan_query(GrepInput(pattern="--pre=sh", glob="--files", type="--follow"), "/tmp", None)

    words = plan_arguments(query, in_repository=True)

    assert {"--pre=sh", "--files", "--follow"}.isdisjoint(words)
    assert {"--regexp=--pre=sh", "--glob=--files", "--type=--follow"} <= set(words)
