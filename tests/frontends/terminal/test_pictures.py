"""The pictures of the terminal in the documents show what the program shows now."""

import re
from xml.etree import ElementTree as ET

import pytest
from development.terminal_pictures import AGAIN, DOCS, PICTURES, Look, Picture, Run, draw, find_look, render_svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", PICTURES)
async def test_a_picture_shows_what_the_program_shows_now(name):
    """Except for figures."""
    assert read_rows((DOCS / name).read_text("utf-8")) == read_rows(await draw(name)), f"to draw them again: {AGAIN}"


@pytest.mark.parametrize("page", ["terminal.md"])
def test_every_picture_is_shown_with_a_text_for_those_who_do_not_see_it(page):
    text = (DOCS / "how-to" / page).read_text("utf-8")
    assert [name for name in PICTURES if not re.search(rf"!\[[^]]{{20,}}\]\(\.\./{re.escape(name)}\)", text)] == []


def test_pieces_stand_at_their_columns_in_their_looks():
    plain = Look("#d8dee9")
    row = [Run(0, 8, "a  <b> c", plain), Run(8, 4, "漢字", plain._replace(bold=True, paper="#112233"))]
    drawn = ET.fromstring(render_svg(Picture("label", [row], (3, 0))))  # noqa: S314 (our own drawing)

    (line,) = drawn.iter(f"{SVG}text")
    assert [(piece.get("x"), piece.get("textLength"), piece.get("font-weight"), piece.text) for piece in line] == [
        ("20", "8", None, "a"),
        ("44", "40", None, "<b> c"),
        ("84", "32", "bold", "漢字"),
    ]
    assert [rect.get("fill") for rect in drawn.iter(f"{SVG}rect")] == ["#1a1e28", "#112233", "#d8dee9"]


@pytest.mark.parametrize(
    ("style", "look"),
    [
        ({}, Look("#d8dee9")),
        ({"faint": True}, Look("#8791a3")),
        ({"fg": ("palette", 1), "bold": True}, Look("#f7768e", bold=True)),
        ({"fg": ("palette", 110)}, Look("#87afd7")),
        ({"bg": ("palette", 237)}, Look("#d8dee9", "#3a3a3a")),
        ({"inverse": True}, Look("#1a1e28", "#d8dee9")),
        ({"fg": ("rgb", 1, 2, 255)}, Look("#0102ff")),
    ],
)
def test_a_cell_looks_as_the_emulator_has_it(style, look):
    assert find_look(style) == look


def read_rows(picture):
    """Without figures, and without the mark that moves."""
    rows = ET.fromstring(picture).iter(f"{SVG}text")  # noqa: S314 (our own drawing)
    told = [" ".join(piece.text for piece in row) for row in rows]
    return [re.sub(r"^[\u2800-\u28ff]", "*", re.sub(r"\d[\d.,]*", "#", row)) for row in told]
