"""Which colours a terminal gets, and that each of them is a style that a terminal knows."""

import pytest
from tests.frontends.terminal.sequences import find_unknown, parse_sequences

from everturn.frontends.ansi import Style
from everturn.frontends.terminal.palette import (
    DARK,
    LIGHT,
    PLAIN,
    SIXTEEN,
    CodeKind,
    ColourDepth,
    choose_palette,
    find_depth,
)


@pytest.mark.parametrize(
    ("env", "depth"),
    [
        ({"TERM": "xterm"}, ColourDepth.SIXTEEN),
        ({"TERM": "linux"}, ColourDepth.SIXTEEN),
        ({"TERM": "screen"}, ColourDepth.SIXTEEN),
        ({"TERM": "xterm-256color"}, ColourDepth.MANY),
        ({"TERM": "xterm-direct"}, ColourDepth.MANY),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, ColourDepth.MANY),
        ({"TERM": "xterm", "TERM_PROGRAM": "WezTerm"}, ColourDepth.MANY),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, ColourDepth.NONE),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, ColourDepth.MANY),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, ColourDepth.NONE),
        ({}, ColourDepth.NONE),
        ({"TERM": "vt100"}, ColourDepth.NONE),
    ],
)
def test_how_many_colours_a_terminal_has(env, depth):
    assert find_depth(env) is depth


def test_a_palette_for_each_depth_and_background():
    assert choose_palette(ColourDepth.NONE, light=True) is PLAIN
    assert choose_palette(ColourDepth.SIXTEEN, light=True) is SIXTEEN
    assert choose_palette(ColourDepth.MANY, light=True) is LIGHT
    assert choose_palette(ColourDepth.MANY, light=False) is DARK


def codes_of(palette):
    named = {name: getattr(palette, name) for name in palette.__struct_fields__ if name != "code"}
    return {**named, **palette.code}


@pytest.mark.parametrize("palette", [SIXTEEN, DARK, LIGHT], ids=["sixteen", "dark", "light"])
def test_every_meaning_has_a_style_that_terminals_know(palette):
    assert set(palette.code) == set(CodeKind) - {CodeKind.WORD}
    for name, codes in codes_of(palette).items():
        painted = Style().paint("x", codes)
        assert painted != "x", name
        assert find_unknown(parse_sequences(painted.encode())) == []


def test_without_colours_nothing_is_painted():
    assert set(codes_of(PLAIN).values()) == {""}
