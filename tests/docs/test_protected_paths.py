"""The table of protected paths in docs/how-to/permissions.md is the list that judgement and sandbox go by."""

import re
from pathlib import Path

import pytest

from everturn.core import protected
from everturn.sandbox.places import HELD, HOME_HELD, KEPT
from everturn.settings.memory import NAMES

DOCS = Path(__file__).parents[2] / "docs"
ROWS = {
    "folders, at any depth, with everything below": {
        *protected.FOLDERS,
        *map("/".join, protected.FOLDER_PAIRS),
        *map("/".join, protected.FREE),
    },
    "memory files, at any depth": {*protected.MEMORY},
    "other files, at any depth": {*protected.FILES, protected.GIT_HEAD},
    "files by a part of their names, at any depth": {*protected.PATTERNS},
    "in your home, wherever you work": {*protected.HOME, *protected.HOME_TOOLS, "~/.config"},
}


@pytest.mark.parametrize("row", ROWS)
def test_the_table_names_each_path_and_no_other(row):
    line = next(
        line
        for line in (DOCS / "how-to" / "permissions.md").read_text("utf-8").splitlines()
        if line.startswith(f"| {row} |")
    )
    assert set(re.findall(r"`([^`]+)`", line)) == ROWS[row]


def test_the_sandbox_holds_the_same_names():
    by_name = {*protected.FOLDERS, *map("/".join, protected.FOLDER_PAIRS), *protected.FILES} - {protected.GIT}
    assert {*HELD, *KEPT} == by_name
    assert {*HOME_HELD} == {*protected.START_UP, *protected.HOME}


def test_each_name_stands_once():
    for names in (protected.FOLDERS, protected.FILES, (*protected.HOME, *protected.HOME_TOOLS)):
        assert len(names) == len(set(names))


def test_memory_files_are_those_that_are_read():
    assert protected.MEMORY == NAMES
