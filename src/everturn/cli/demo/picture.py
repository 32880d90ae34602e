"""A picture of the demo for the README, drawn from the lines of a real run: `python -m everturn.cli.demo.picture FILE`."""

import io
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from everturn.cli.demo.lines import Line, Span, Style, width_of
from everturn.cli.demo.main import demo_folder
from everturn.cli.demo.screen import Screen
from everturn.cli.demo.script import PROMPT
from everturn.cli.demo.show import run_show

_WIDTH = 92
_ROW, _COLUMN, _MARGIN = 18, 8, 20
_COLOURS = {
    Style.PLAIN: "#d8dee9",
    Style.STRONG: "#ffffff",
    Style.FAINT: "#8791a3",
    Style.GOOD: "#9ece6a",
    Style.BAD: "#f7768e",
    Style.TROUBLE: "#e0af68",
    Style.FLOW: "#7dcfff",
    Style.RETRACTED: "#687183",
}


def render_svg(lines: Sequence[Line]) -> str:
    width, height = _WIDTH * _COLUMN + 2 * _MARGIN, len(lines) * _ROW + 2 * _MARGIN
    styles = "".join(f".{style.name.lower()}{{fill:{colour}}}" for style, colour in _COLOURS.items())
    rows = "\n".join(_row(spans, _MARGIN + (at + 0.75) * _ROW) for at, spans in enumerate(lines) if width_of(spans))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="everturn demo in a terminal">\n'
        f"<style>text{{font:13px ui-monospace,Menlo,Consolas,monospace;white-space:pre}}{styles}"
        ".strong{font-weight:bold}.retracted{text-decoration:line-through}</style>\n"
        f'<rect width="{width}" height="{height}" rx="10" fill="#1a1e28"/>\n{rows}\n</svg>\n'
    )


def _row(spans: Line, y: float) -> str:
    """Each piece is put at its column and given its width, so that any monospaced font lines up."""
    drawn, column = [], 0
    for text, style in spans:
        if text.strip():
            x, length = _MARGIN + column * _COLUMN, len(text) * _COLUMN
            drawn.append(f'<tspan x="{x}" textLength="{length}" class="{style.name.lower()}">{escape(text)}</tspan>')
        column += len(text)
    return f'<text y="{y:g}">{"".join(drawn)}</text>'


def main(path: Path) -> None:
    """From the prompt to the last answer; what stands before and after is told better in words."""
    screen = Screen(io.StringIO(), live=False, width=_WIDTH, height=24)
    with demo_folder(keep=False) as folder:
        run_show(folder, screen, fast=False)
    first = next(at for at, spans in enumerate(screen.kept) if Span(PROMPT, Style.STRONG) in spans)
    last = next(at for at, spans in enumerate(screen.kept) if spans and spans[0].text.startswith("The diff"))
    path.write_text(render_svg(screen.kept[first : last - 1]), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
