"""A newcomer reads the page of a package before its modules: it names each of them, and none that is not there."""

import re
from pathlib import Path

import pytest

import everturn

SOURCE = Path(everturn.__file__).parent
PAGES = sorted(SOURCE.rglob("README.md"))
MODULE = re.compile(r"`((?:\w+/)*\w+\.py)`")


def name_of(page: Path) -> str:
    return str(page.parent.relative_to(SOURCE))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_page_of_a_package_names_each_module_and_folder_of_it(page):
    text = page.read_text("utf-8")
    modules = {path.name for path in page.parent.glob("*.py")} - {"__init__.py", "__main__.py"}
    folders = {f"{path.name}/" for path in page.parent.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert sorted(name for name in modules | folders if name not in text) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_page_of_a_package_names_no_module_that_is_not_there(page):
    """A name is a path from the package, or from the root of all packages, or below one of its folders."""
    root = SOURCE.parent.parent
    named = MODULE.findall(page.read_text("utf-8"))
    places = [page.parent, SOURCE, root, *(path for path in page.parent.iterdir() if path.is_dir())]
    assert [name for name in named if not any((place / name).exists() for place in places)] == []
