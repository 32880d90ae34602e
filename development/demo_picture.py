"""The picture of the demo in the README and the docs, drawn from a real run: `python -m development.demo_picture` writes docs/demo.svg."""

import io
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from everturn.cli.demo.main import demo_folder
from everturn.cli.demo.page import DemoScreen
from everturn.cli.demo.script import PROMPT
from everturn.cli.demo.show import run_show
from everturn.frontends.ansi import BOLD, CYAN, DIM, GREEN, RED, STRUCK, YELLOW, Style
from everturn.frontends.headless.sink import Sink

PICTURE = Path(__file__).parents[1] / "docs" / "demo.svg"
_WIDTH = 92
_ROW, _COLUMN, _MARGIN = 18, 8, 20
_COLOURS = {
    "": "#d8dee9",
    BOLD: "#ffffff",
    DIM: "#8791a3",
    GREEN: "#9ece6a",
    RED: "#f7768e",
    YELLOW: "#e0af68",
    CYAN: "#7dcfff",
    STRUCK: "#687183",
}
_CLASSES = {codes: f"c{codes.replace(';', '-')}" for codes in _COLOURS}
_PAINTED = re.compile(r"\x1b\[([0-9;]+)m(.*?)\x1b\[0m|([^\x1b]+)")


def render_svg(lines: Sequence[str]) -> str:
    """`lines` as a terminal gets them."""
    width, height = _WIDTH * _COLUMN + 2 * _MARGIN, len(lines) * _ROW + 2 * _MARGIN
    styles = "".join(f".{_CLASSES[codes]}{{fill:{colour}}}" for codes, colour in _COLOURS.items())
    rows = "\n".join(_row(text, _MARGIN + (at + 0.75) * _ROW) for at, text in enumerate(lines) if text)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="everturn demo in a terminal">\n'
        f"<style>text{{font:13px ui-monospace,Menlo,Consolas,monospace;white-space:pre}}{styles}"
        f".{_CLASSES[BOLD]}{{font-weight:bold}}.{_CLASSES[STRUCK]}{{text-decoration:line-through}}</style>\n"
        f'<rect width="{width}" height="{height}" rx="10" fill="#1a1e28"/>\n{rows}\n</svg>\n'
    )


def _row(line: str, y: float) -> str:
    """Each piece is put at its column and given its width, so that any monospaced font lines up."""
    drawn, column = [], 0
    for text, codes in split_painted(line):
        if text.strip():
            x, length = _MARGIN + column * _COLUMN, len(text) * _COLUMN
            drawn.append(
                f'<tspan x="{x}" textLength="{length}" class="{_CLASSES.get(codes, "c")}">{escape(text)}</tspan>'
            )
        column += len(text)
    return f'<text y="{y:g}">{"".join(drawn)}</text>'


def split_painted(line: str) -> Iterator[tuple[str, str]]:
    """The pieces of a line, each with how it is painted."""
    for found in _PAINTED.finditer(line):
        codes, painted, plain = found.groups()
        yield (plain, "") if plain is not None else (painted, codes)


FIRST_TURN = "turn 3"
"""The picture begins here. The first two turns only find the fault, and the README has little space."""


def draw_demo(*, fast: bool) -> str:
    """The prompt, and the turns that repair the fault, up to the goal. `fast` leaves out the pauses of the scripted model."""
    out = io.BytesIO()
    page = DemoScreen(Sink(out), Style(colour=True, control=False), lambda: (_WIDTH, 24), ascii_only=False)
    with demo_folder(keep=False) as folder:
        run_show(folder, page, fast=fast)
    lines = out.getvalue().decode().splitlines()
    plain = ["".join(text for text, _ in split_painted(line)) for line in lines]
    prompt, first = plain.index(f"> {PROMPT}"), plain.index(FIRST_TURN)
    last = next(at for at, line in enumerate(plain) if line.startswith("The diff ("))
    shown = [lines[prompt], "", Style(colour=True).paint("⋮", DIM), "", *lines[first : last - 1]]
    return render_svg(shown)


if __name__ == "__main__":
    PICTURE.write_text(draw_demo(fast=False), encoding="utf-8")
