"""The picture of the demo is a drawing of its lines."""

from xml.etree import ElementTree as ET

from everturn.cli.demo.lines import Span, Style, line
from everturn.cli.demo.picture import render_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_every_piece_of_a_line_stands_at_its_column_in_its_style():
    drawn = ET.fromstring(render_svg([line("  ", Span("<a> & b", Style.RETRACTED), Span(" c", Style.GOOD)), ()]))  # noqa: S314 (our own drawing)

    [row] = drawn.iter(f"{SVG}text")
    assert [(piece.get("x"), piece.get("class"), piece.text) for piece in row] == [
        ("36", "retracted", "<a> & b"),
        ("92", "good", " c"),
    ]
