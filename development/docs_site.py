"""Builds the docs site into build/docs: `make docs`, or `python -m development.docs_site ZENSICAL`.

The site holds docs/ alone. A link from there to a file outside, such as a module, becomes the path of that file. A link
whose text is the name of a page's file shows the page's title.
"""

import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(?:#[^)]*)?\)")


def build_site(zensical: str, place: Path = ROOT) -> int:
    """Makes build/docs in that folder. Gives the exit code of zensical, which fails at a warning."""
    pages = place / "build" / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages)
    texts = {page.relative_to(pages).as_posix(): page.read_text("utf-8") for page in pages.rglob("*.md")}
    titles = {place: text.partition("\n")[0].removeprefix("# ") for place, text in texts.items()}
    for name, text in texts.items():
        (pages / name).write_text(name_pages(name_outside_files(text, name), name, titles), "utf-8")
    if place != ROOT:
        shutil.copy(ROOT / "zensical.toml", place)
    return subprocess.run((zensical, "build", "--clean", "--strict"), cwd=place, check=False).returncode


def name_outside_files(markdown: str, place: str) -> str:
    """The text of the page that stands at `place` below docs/."""

    def name(found: re.Match[str]) -> str:
        words, target = found.groups()
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(place), target))
        if "://" in target or path.startswith("docs/"):
            return found[0]
        return f"`{path}`" if posixpath.basename(path) == words else f"{words} (`{path}`)"

    return LINK.sub(name, markdown)


def name_pages(markdown: str, place: str, titles: dict[str, str]) -> str:
    """The text of the page at `place`, with titles in place of file names."""

    def name(found: re.Match[str]) -> str:
        words, target = found.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
        if not words.endswith(".md") or path not in titles:
            return found[0]
        return found[0].replace(f"[{words}]", f"[{titles[path]}]", 1)

    return LINK.sub(name, markdown)


if __name__ == "__main__":
    sys.exit(build_site(sys.argv[1]))
