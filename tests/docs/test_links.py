"""Every link between our pages leads somewhere: to a file that is there, and to a heading that it has."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in (*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "src").rglob("*.md"))
    if page.name != "CHANGELOG.md"
)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """As GitHub and the docs site make them of headings."""
    text = FENCE.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    return made.union(re.findall(r'<a id="([^"]+)">', text))


def find_dead(page: Path) -> list[str]:
    dead = []
    for place, heading in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if "://" in place or place.startswith("mailto:"):
            continue
        target = (page.parent / place).resolve() if place else page
        if not target.exists() or (heading and target.suffix == ".md" and heading not in anchors(target)):
            dead.append(f"{place}#{heading}" if heading else place)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_the_page_lead_somewhere(page):
    assert find_dead(page) == []


def test_an_index_names_every_page():
    indexes = [DOCS / "index.md", DOCS / "decisions" / "index.md"]
    linked = {
        (index.parent / place).resolve() for index in indexes for place, _ in LINK.findall(index.read_text("utf-8"))
    }
    assert set(DOCS.rglob("*.md")) - linked == {DOCS / "index.md"}
