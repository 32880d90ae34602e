"""The picture of the demo is a drawing of its lines, and shows what the demo prints."""

import re
from xml.etree import ElementTree as ET

from development.demo_picture import PICTURE, draw_demo, render_svg

from everturn.frontends.ansi import GREEN, STRUCK, Style

SVG = "{http://www.w3.org/2000/svg}"


def test_every_piece_of_a_line_stands_at_its_column_in_its_style():
    style = Style()
    painted = f"  {style.paint('<a> & b', STRUCK)}{style.paint(' c', GREEN)}"

    drawn = ET.fromstring(render_svg([painted, ""]))  # noqa: S314 (our own drawing)

    [row] = drawn.iter(f"{SVG}text")
    assert [(piece.get("x"), piece.get("class"), piece.text) for piece in row] == [
        ("36", "c2-9", "<a> & b"),
        ("92", "c32", " c"),
    ]


def test_the_picture_in_the_documents_shows_what_the_demo_prints_now():
    """Except for times. If it fails, `python -m development.demo_picture` draws it again."""
    assert read_lines(PICTURE.read_text("utf-8")) == read_lines(draw_demo(fast=True))


def read_lines(picture):
    rows = ET.fromstring(picture).iter(f"{SVG}text")  # noqa: S314 (our own drawing)
    return [re.sub(r"\d+ ms", "# ms", " ".join(piece.text for piece in row)) for row in rows]
