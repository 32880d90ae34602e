"""Searches in a folder whose author means harm."""

import re
import sys

import pytest
from tests.pace import measured

from everturn.ports.abort import AbortSignal
from everturn.tools.grep.program import run_program
from everturn.tools.wildcards import translate_glob
from everturn.workspace.programs import find_program


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 60 + "*b", "a" * 250),
        ("**/a/" * 10 + "b", "a/" * 1000 + "c"),
        ("**/*a*/" * 8 + "b", "aaaa/" * 400 + "c"),
        ("{*a,*b}" * 8 + "c", "a" * 250),
        ("*{a,b}" * 20 + "c", "a" * 60),
    ],
)
def test_no_pattern_takes_long(pattern, path):
    with measured() as spent:
        assert not re.compile(translate_glob(pattern), re.DOTALL).fullmatch(path)

    assert spent.seconds < 1


@pytest.mark.needs("Landlock")
async def test_a_search_takes_no_more_memory_than_it_may(tmp_path):
    taking = "import os; os.read(0, 1); print(len(bytearray(2 * 1024**3)))"

    output = await run_program(
        [sys.executable, "-c", taking], str(tmp_path), AbortSignal(), most_bytes=100, given=b"now"
    )

    assert output.code != 0
    assert not output.data


def test_a_program_of_the_repository_around_the_folder_is_not_ours(tmp_path):
    program = tmp_path / "bin" / "rg"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    inner = tmp_path / "inner"
    inner.mkdir()

    assert find_program("rg", (str(inner),), str(program.parent)) == str(program)
    (tmp_path / ".git").mkdir()
    assert find_program("rg", (str(inner),), str(program.parent)) == ""
