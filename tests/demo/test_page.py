"""The page: prose that hangs behind its head, plain text where colours are not wanted, and a reader who leaves."""

import io

import pytest

from everturn.cli.demo.page import DemoScreen
from everturn.frontends.ansi import DIM, Style
from everturn.frontends.headless.sink import Sink


class Deaf(io.BytesIO):
    def write(self, data):
        raise BrokenPipeError


def written(out, *, colour=False, ascii_only=False):
    return DemoScreen(Sink(out), Style(colour=colour, control=colour), lambda: (41, 24), ascii_only=ascii_only)


def test_a_paragraph_breaks_between_words_and_hangs_behind_its_head():
    out = io.BytesIO()
    written(out).put_row("tools", "one two three four five six seven eight")

    assert out.getvalue().decode() == "  tools        one two three four five\n               six seven eight\n"


def test_what_an_output_cannot_take_is_written_in_ascii():
    out = io.BytesIO()
    written(out, ascii_only=True).put_line("→ “done” ✓", DIM)

    assert out.getvalue() == b"> ?done? +\n"


def test_a_reader_who_leaves_is_noticed():
    with pytest.raises(BrokenPipeError):
        written(Deaf()).put("Nobody hears it.")
