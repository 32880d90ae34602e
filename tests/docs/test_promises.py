"""The page of promises: each row names tests, and each of them is there."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "promises.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
SECTIONS = (
    "Rules",
    "Shell",
    "Commands without a question",
    "Paths",
    "Modes",
    "Asking",
    "Sandbox",
    "Trust",
    "Hygiene",
    "Figures",
    "Bad input",
    "Other cases",
)
CASES = ROOT / "tests" / "corpora" / "extra_cases.jsonl"
WALLS = {"judgement", "person", "descriptors", "system", "form"}
LATER = re.compile("extra-(?:mcp|archive)-")
"""About servers and plugins."""


def rows() -> list[tuple[str, str]]:
    """Each promise with what holds it."""
    return [(cells[0], " ".join(cells[2:])) for cells in table_rows()]


def table_rows() -> list[list[str]]:
    """The cells of each promise and each case."""
    text = PAGE.read_text("utf-8").partition("\n## ")[2]
    lines = (line.strip("| \n").split(" | ") for line in text.splitlines() if line.startswith("| "))
    return [cells for cells in lines if cells[0] not in {"promise", "case"}]


def test_every_promise_about_what_runs_unasked_has_a_test_with_judgement_and_one_of_the_wall_alone():
    part = PAGE.read_text("utf-8").partition("\n## Commands without a question\n")[2].partition("\n## ")[0]
    told = [line.strip("| \n").split(" | ") for line in part.splitlines() if line.startswith("| ")][1:]

    assert told
    assert all(len(cells) == len(("promise", "wall", "with judgement", "alone")) for cells in told)
    assert all(NAMED.search(cell) for cells in told for cell in cells[2:])


def test_every_promise_says_which_walls_hold_it():
    assert {wall for cells in table_rows() for wall in cells[1].split(", ")} == WALLS


def test_every_promise_names_a_test():
    assert [promise for promise, held in rows() if not NAMED.search(held)] == []


@pytest.mark.parametrize(
    "named", sorted({found.groups() for _, held in rows() for found in NAMED.finditer(held)}), ids="::".join
)
def test_the_test_is_there(named):
    path, name = named
    text = (ROOT / path).read_text("utf-8")
    assert re.search(rf"^(?:async )?def {name}\(", text, re.MULTILINE)


def test_every_part_has_its_section():
    assert tuple(re.findall(r"^## (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)) == SECTIONS


def test_every_other_case_has_its_row():
    known = {json.loads(line)["id"] for line in CASES.read_text("utf-8").splitlines()}
    told = {name for case, _ in rows() for name in re.findall(r"extra-[a-z]+-\d+", case)}

    assert told == {name for name in known if not LATER.match(name)}
