"""Paths that ARCHITECTURE.md and the README of a package name exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "everturn"
READMES = sorted(PACKAGE.rglob("README.md"))
NAMED = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")


def find_missing(page: Path) -> list[str]:
    named = {found for found in NAMED.findall(page.read_text("utf-8")) if is_path(found)}
    return sorted(path for path in named if not stands_somewhere(path, page.parent))


def is_path(words: str) -> bool:
    return words.endswith((".py", ".md", ".json", ".svg", "/")) or words.startswith(("tests/", "docs/"))


def stands_somewhere(path: str, folder: Path) -> bool:
    """Beside the page, below it, in the package, or in the repository."""
    if any((place / path).exists() for place in (folder, PACKAGE, ROOT)):
        return True
    return folder.is_relative_to(PACKAGE) and any(folder.rglob(path.rstrip("/")))


@pytest.mark.parametrize("page", [ROOT / "ARCHITECTURE.md", *READMES], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_that_the_page_names_is_there(page):
    assert find_missing(page) == []


def test_every_package_has_a_readme():
    packages = {folder for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()}
    assert {page.parent for page in READMES} >= packages


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.parent.name)
def test_a_readme_says_what_may_be_imported_and_where_to_add_things(page):
    headings = re.findall(r"^## (.+)$", page.read_text("utf-8"), re.MULTILINE)
    assert {"May import", "Where to add things"} <= set(headings)
