"""The page on headless use says what the code does."""

import re
from pathlib import Path

from tests.docs.blocks import take

from everturn.frontends.commands import COMMANDS, render_table
from everturn.frontends.headless import stream_json, system_lines
from everturn.frontends.headless.run import BROKEN_PIPE

PAGE = (Path(__file__).parents[2] / "docs/reference/headless.md").read_text()
BLOCKS = take(lambda block: block.page == "docs/reference/headless.md" and block.language == "text")


def test_the_page_lists_the_commands():
    assert f"```text\n{render_table(COMMANDS)}\n```" in PAGE


def test_the_page_names_every_kind_of_line():
    source = Path(stream_json.__file__).read_text() + Path(system_lines.__file__).read_text()
    kinds = set(re.findall(r'(?:_(?:system|line)\(\s*|return )"(\w+)"', source))

    assert len(kinds) > 15
    assert {kind for kind in kinds if f"`{kind}`" not in PAGE} == set()


def test_the_page_names_the_code_of_a_broken_pipe():
    assert f"| {BROKEN_PIPE} |" in PAGE
