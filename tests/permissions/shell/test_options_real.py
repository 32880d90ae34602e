"""The tables against the real programs: what a program opens, we name; and what we say only reads writes and starts nothing."""

import os
import shlex
import shutil
import subprocess
from itertools import islice
from pathlib import Path
from random import Random, SystemRandom

import pytest
from tests.permissions.shell.real.forms import (
    BEFORE,
    FILES,
    NAMES,
    OUTSIDE,
    OWN_TABLES,
    name_git,
    write_forms,
    write_randomly,
)
from tests.permissions.shell.real.tracing import run_traced

from everturn.permissions.shell.reading.words import read_word
from everturn.permissions.shell.readonly.find import FILE_TESTS, SIMPLE, TESTS
from everturn.permissions.shell.readonly.git_tables import GIT_TABLES
from everturn.permissions.shell.readonly.judge import READERS_OF_PATHS, judge_reading
from everturn.permissions.shell.readonly.options import Operands, Table, parse_options

pytestmark = pytest.mark.needs("strace")

IS_REPEATED = os.environ.get("EVERTURN_EXAMPLES", "test") == "test"
RUNS = 8 if IS_REPEATED else 250
"""Random commands of each program."""
SEED = 1 if IS_REPEATED else SystemRandom().randrange(2**32)
GROUPS = 4
WATCHED = frozenset((*NAMES, *OUTSIDE))
MAY_START = frozenset({"grep", "git"})
"""egrep is a script around grep, and git starts itself."""
MAY_WRITE = ("/tmp/sort", "/.git/index")
"""sort's own temporary files; and `git describe --dirty` refreshes the index where it can."""
NOT_READING = {"sed": {"-i", "--in-place", "-e", "--expression"}}
"""Options that edit, or whose value our forms do not give."""
STEPS = {
    **dict.fromkeys(("show", "whatchanged", "reflog", "reflog show", "stash list"), 20),
    **dict.fromkeys(("rev-list", "shortlog", "diff-files", "diff-index", "stash show", "range-diff"), 4),
}
"""They share the options of `git log` and `git diff`: `make test` tries a part of them."""


@pytest.fixture
def box(tmp_path):
    """A repository with files that are called like values, and some outside of it."""
    work = tmp_path / "work"
    work.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = A\nemail = a@example.com\n")
    for name in OUTSIDE:
        (work / name).write_text("outside\n")
    for name in NAMES:
        (work / name).write_text("x 1\ny 2\n")
    (work / "evil").write_text("#!/bin/sh\n: >../w\n")
    (work / "evil").chmod(0o755)
    run_git(work, home, "init", "-q")
    run_git(work, home, "add", "1", "2")
    run_git(work, home, "commit", "-qm", "one")
    run_git(work, home, "tag", "v1")
    (work / "2").write_text("y\n")
    run_git(work, home, "stash", "-q")
    (work / "1").write_text("x\n")
    return work


def run_git(work, home, *words):
    subprocess.run(["git", *words], cwd=work, env={**os.environ, "HOME": str(home)}, check=True)


def read(words):
    return judge_reading(tuple(read_word(shlex.quote(word)) for word in words), "/home/dev")


def find_faults(box, commands, watched=WATCHED, may_start=MAY_START):
    """Of the commands that we say only read, what is not as we say; and all of them."""
    judged = {words: reads for words in dict.fromkeys(commands) if (reads := read(words)) is not None}
    traces = run_traced(list(judged), box, box.parent / "home", box.parent / "log")
    faults = {}
    for (words, reads), trace in zip(judged.items(), traces, strict=True):
        said = shlex.join(words)
        unnamed = opened_of(trace, watched) - {os.path.normpath(path) for path in reads.paths}
        if unnamed and not reads.recursive:
            faults[said] = f"opens {sorted(unnamed)}"
        if wrote := [each for each in trace.wrote if not any(name in each for name in MAY_WRITE)]:
            faults[said] = f"writes {wrote[:2]}"
        if others := [each for each in trace.started[1:] if Path(each).name not in may_start]:
            faults[said] = f"starts {others[:2]}"
    return faults, list(judged)


def opened_of(trace, watched):
    return {os.path.normpath(name) for name in trace.opened} & watched


def installed(group):
    names = [name for name in sorted(OWN_TABLES) if shutil.which(name)]
    return names[group::GROUPS]


def write_accepted(random, before, table, files):
    """Random words that we say only read."""
    tried = ((*before, *write_randomly(random, table, files)) for _ in range(RUNS * 20))
    return islice(filter(read, tried), RUNS)


@pytest.mark.parametrize("group", range(GROUPS))
def test_every_option_of_a_table_is_read_as_its_program_reads_it(group, box):
    commands = [
        (name, *BEFORE.get(name, ()), *words)
        for name in installed(group)
        for words in write_forms(OWN_TABLES[name], FILES, every=not IS_REPEATED)
    ]

    faults, runs = find_faults(box, commands)

    assert faults == {}
    tried = {(words[0], word.partition("=")[0]) for words in runs for word in words}
    wanted = {
        (name, each)
        for name in installed(group)
        for each in OWN_TABLES[name].options.keys() - NOT_READING.get(name, set())
    }
    assert wanted - tried == set()


@pytest.mark.parametrize("group", range(GROUPS))
def test_every_option_of_git_is_read_as_git_reads_it(group, box):
    commands = []
    for name, table in sorted(GIT_TABLES.items())[group::GROUPS]:
        forms = write_forms(table, OUTSIDE, every=not IS_REPEATED)
        sampled = islice(forms, None, None, STEPS.get(name, 1) if IS_REPEATED else 1)
        commands += [(*name_git(name), *words) for words in sampled]

    faults, _ = find_faults(box, commands, frozenset(OUTSIDE))

    assert faults == {}


@pytest.mark.parametrize("group", range(GROUPS))
def test_options_in_any_order_are_read_as_their_program_reads_them(group, box):
    random = Random(SEED)  # noqa: S311 (a seed that can be played again)
    commands = []
    for name in installed(group):
        commands += write_accepted(random, (name, *BEFORE.get(name, ())), OWN_TABLES[name], (*NAMES, *OUTSIDE))

    faults, _ = find_faults(box, commands)

    assert faults == {}, SEED


@pytest.mark.parametrize("group", range(GROUPS))
def test_gits_options_in_any_order_are_read_as_git_reads_them(group, box):
    random = Random(SEED)  # noqa: S311 (a seed that can be played again)
    commands = []
    for name, table in sorted(GIT_TABLES.items())[group::GROUPS]:
        commands += write_accepted(random, name_git(name), table, (*OUTSIDE, "1", "2", "HEAD", "v1", "HEAD~1"))

    faults, _ = find_faults(box, commands, frozenset(OUTSIDE))

    assert faults == {}, SEED


def test_the_words_of_find_are_read_as_find_reads_them(box):
    tests, hostile = sorted(TESTS | FILE_TESTS), ("-delete", "-fprint", "-L", OUTSIDE[0], "1")
    commands = [("find", *words) for test in sorted({*tests, *SIMPLE}) for words in ((".", test), (test,), (test, "1"))]
    commands += [("find", ".", test, word) for test in tests for word in hostile]
    commands += [("find", "1", "-exec", "cat", *words) for words in (("{}", "+"), ("{}", ";"), (OUTSIDE[0], "{}", ";"))]

    faults, runs = find_faults(box, commands, frozenset(OUTSIDE), READERS_OF_PATHS)

    assert faults == {}
    assert len(runs) > 3 * len(tests)


@pytest.mark.parametrize(
    ("words", "table"),
    [
        (("od", "-c", "-w", "1"), Table(short="cw:")),
        (("cut", "--output-delimiter", "-f", "../c1", "-f1-"), Table(short="f:", long="output-delimiter")),
        (("grep", "x", "--label", "-m", "../c1"), Table(short="m:", long="label", operands=Operands.PATTERN)),
        (("git", "diff", "-U", "../c1", "../c2"), Table(short="U:")),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_a_table_with_a_wrong_arity_would_be_found(words, table, box):
    (trace,) = run_traced([words], box, box.parent / "home", box.parent / "log")

    parsed = parse_options(table, tuple(map(read_word, words)))
    assert opened_of(trace, WATCHED) - {word.value for word in parsed.operands} != set()


@pytest.mark.parametrize(
    "words",
    [
        ("git", "log", "-U", "--output=../w"),
        ("git", "shortlog", "-w", "--output=../w", "HEAD"),
        ("git", "log", "-p", "--src-prefix", "-S", "--output=../w"),
        ("git", "diff-tree", "-L", "--output=../w", "HEAD"),
        ("git", "stash", "list", "--", "--output=../w"),
        ("sort", "-o", "../w", "1"),
        ("uniq", "1", "../w"),
        ("xxd", "1", "../w"),
    ],
    ids=" ".join,
)
def test_what_would_write_is_seen_and_asks(words, box):
    (trace,) = run_traced([words], box, box.parent / "home", box.parent / "log")

    assert any("../w" in each for each in trace.wrote)
    assert read(words) is None
