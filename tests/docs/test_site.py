"""The docs site builds without a warning and has every page."""

import json
import tomllib
from pathlib import Path

import pytest
from development.docs_site import build_site, name_outside_files, name_pages
from tests.shelf import find_python

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.mark.needs("package registry")
def test_the_site_builds_without_a_warning_and_can_be_searched(tmp_path, capfd):
    zensical = find_python("docs-site", "-r", ROOT / "requirements-docs.txt").with_name("zensical")

    code = build_site(str(zensical), tmp_path)

    assert code == 0, capfd.readouterr()
    site = tmp_path / "build" / "docs"
    assert {page.relative_to(DOCS).with_suffix("") for page in DOCS.rglob("*.md")} <= {
        page.relative_to(site).with_suffix("") for page in site.rglob("*.html")
    }
    assert "kill -9" in json.dumps(json.loads((site / "search.json").read_text("utf-8")))


def test_its_navigation_has_every_page_but_single_decisions():
    listed = list(find_files(tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert set(listed) == {page for page in pages if not page.startswith("decisions/")} | {"decisions/index.md"}
    assert len(listed) == len(set(listed))


def find_files(nav):
    for entry in nav:
        for below in entry.values():
            yield from find_files(below) if isinstance(below, list) else [below]


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("[loop.py](../../src/everturn/engine/loop.py)", "`src/everturn/engine/loop.py`"),
        ("[the loop](../../src/everturn/engine/loop.py)", "the loop (`src/everturn/engine/loop.py`)"),
        ("[cost.md](../how-to/cost.md#budgets)", "[cost.md](../how-to/cost.md#budgets)"),
        ("[uv](https://docs.astral.sh/uv)", "[uv](https://docs.astral.sh/uv)"),
        ("[below](#below)", "[below](#below)"),
        ("![A picture](loop.svg)", "![A picture](loop.svg)"),
    ],
)
def test_a_link_to_a_file_outside_becomes_its_path(link, shown):
    assert name_outside_files(link, "explanation/loop.md") == shown


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("[cost.md](../how-to/cost.md#budgets)", "[Money](../how-to/cost.md#budgets)"),
        ("[how-to/cost.md](../how-to/cost.md)", "[Money](../how-to/cost.md)"),
        ("[the bill](../how-to/cost.md)", "[the bill](../how-to/cost.md)"),
    ],
)
def test_a_link_that_names_the_file_of_a_page_shows_its_title(link, shown):
    assert name_pages(link, "explanation/loop.md", {"how-to/cost.md": "Money"}) == shown
