"""Every fenced block of the documents. Each test module that runs some of them names these in `BLOCKS`."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
NOT_RUN = "not run: "
FIGURES = "figures differ"
"""The note of a block whose output has other figures on each machine."""


class Block(NamedTuple):
    page: str
    """Path in the repository."""
    line: int
    language: str
    text: str
    note: str
    """The comment right above the fence."""

    @property
    def id(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def list_blocks() -> tuple[Block, ...]:
    found = []
    for page in list_pages():
        text = page.read_text("utf-8")
        for fence in FENCE.finditer(text):
            line = text.count("\n", 0, fence.start("language")) + 1
            name = page.relative_to(ROOT).as_posix()
            found.append(Block(name, line, fence["language"], fence["text"], fence["note"] or ""))
    return tuple(found)


def list_pages() -> list[Path]:
    folders = (ROOT / name for name in ("docs", "src", "examples", ".github", "development", "bench"))
    return sorted([*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))])


def take(matches: Callable[[Block], bool]) -> list[Block]:
    """The blocks that a test module runs, without those that say why they are not run."""
    return [block for block in list_blocks() if not block.note.startswith(NOT_RUN) and matches(block)]
