"""The pictures of the interactive terminal: `python -m development.terminal_pictures` writes docs/terminal-*.svg.

Each is a real run of the program in a pseudo-terminal, with a scripted model, read cell by cell from the emulator that the tests use.
"""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from tests.frontends.terminal.stage import Stage

from everturn.cli.demo.repository import FAULTY, FILES, MENDED
from everturn.frontends.flow import width_of
from everturn.modelserver import calls, say, text, thinking

DOCS = Path(__file__).parents[1] / "docs"
AGAIN = "python -m development.terminal_pictures"
COLUMNS, ROWS = 88, 40
_ROW, _COLUMN, _MARGIN = 19, 8, 20
_PAPER, _INK, _STRONG, _FAINT = "#1a1e28", "#d8dee9", "#ffffff", "#8791a3"
_SIXTEEN = (
    *("#1a1e28", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#d8dee9"),
    *("#687183", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#ffffff"),
)
_LEVELS = (0, 95, 135, 175, 215, 255)
_CUBE, _GREYS = 16, 232


_PIECE = re.compile(r"\S+(?: \S+)*")


class Look(NamedTuple):
    """How a cell is painted."""

    ink: str
    paper: str = ""
    bold: bool = False
    italic: bool = False
    underlined: bool = False
    struck: bool = False


class Run(NamedTuple):
    """Cells of a row that look alike, side by side."""

    column: int
    width: int
    text: str
    look: Look


# What is played.

ANSWER = """\
The fault is in `renewals/plan.py`:

```python
while len(dates) < count:
    dates.append(add_months(dates[-1], 1))  # from the date before
```

Each date is counted from **the one before**, so a short month cuts all that follow:

| month | due    | should be |
|-------|--------|-----------|
| 1     | 31 Jan | 31 Jan    |
| 2     | 28 Feb | 28 Feb    |
| 3     | 28 Mar | **31 Mar** |

I would count every date from the *first* one instead. Shall I?
"""
CHECK = """\
rm -f gate; mkfifo gate
for name in same_day year_ends leap_year; do echo "test_$name ... ok"; done
echo "test_every_day_of_a_century ..."
read line < gate; rm gate
"""


async def show_conversation() -> "Picture":
    answers = [
        say(
            thinking("After February the plan stays on the 28th."),
            "I look at the plan, and at what uses `add_months`.",
            calls(
                ("Read", {"file_path": "renewals/plan.py"}),
                ("Grep", {"pattern": r"add_months\(", "output_mode": "content"}),
            ),
        ),
        text(ANSWER),
    ]
    async with Stage(script=answers, files=FILES, columns=COLUMNS, rows=ROWS) as stage:
        await stage.see("% context")
        await stage.type("Why does a test fail?\n")
        await stage.see("Shall I?", "rounds", at_rest)
        picture = read_picture(stage, "A conversation: two calls, then an answer with code and a table")
        await stage.leave()
    return picture


async def show_question() -> "Picture":
    edit = ("Edit", {"file_path": "renewals/plan.py", "old_string": FAULTY, "new_string": MENDED})
    answers = [
        say("I read the plan first.", calls(("Read", {"file_path": "renewals/plan.py"}))),
        say("I count every date from the first one.", calls(edit)),
        "As you wish.",
    ]
    async with Stage(script=answers, files=FILES, columns=COLUMNS, rows=ROWS) as stage:
        await stage.see("% context")
        await stage.type("Mend it, please\n")
        await stage.see("[n] no", "a key, or")
        picture = read_picture(stage, "A question: the change, and the answers with their keys")
        await stage.press("n")
        await stage.see("As you wish.", at_rest)
        await stage.leave()
    return picture


async def show_menu() -> "Picture":
    async with Stage(script=["All four tests pass now."], files=FILES, columns=COLUMNS, rows=ROWS) as stage:
        await stage.see("% context")
        await stage.type("Do all tests pass?\n")
        await stage.see("All four tests pass now.", "round", at_rest)
        await stage.type("/")
        await stage.see("/clear", "of 3")
        await stage.press("down", "down", "down")
        await stage.see("4 of 3")
        picture = read_picture(stage, "The menu of commands, below it the status line")
        await stage.press("escape", "ctrl-c")
        await stage.see(at_rest)
        await stage.leave()
    return picture


async def show_queue() -> "Picture":
    answers = [say("I run the long tests.", calls(("Bash", {"command": "sh check.sh"}))), "All of them pass."]
    settings = {"permissions": {"allow": ["Bash(sh check.sh)"]}}
    files = {**FILES, "check.sh": CHECK}
    async with Stage(script=answers, files=files, settings=settings, columns=COLUMNS, rows=ROWS) as stage:
        await stage.see("% context")
        await stage.type("Run the long tests\n")
        await stage.see("century ...")
        await stage.type("Then write down in README.md what was wrong\n")
        await stage.see("next: Then write")
        await stage.type("and mention the leap")
        await stage.see("and mention the leap", lambda stage: re.search(r"check\.sh +\d", stage.text) is not None)
        picture = read_picture(
            stage, "A command at work with the end of its output, and a prompt that waits for its turn"
        )
        (stage.folder / "gate").write_text("\n")
        await stage.see("All of them pass.", "2 rounds")
        await stage.press("ctrl-c")
        await stage.see(at_rest)
        await stage.leave()
    return picture


def at_rest(stage: Stage) -> bool:
    return "\n>\n" in stage.text


PICTURES: dict[str, Callable[[], Awaitable["Picture"]]] = {
    "terminal-conversation.svg": show_conversation,
    "terminal-question.svg": show_question,
    "terminal-menu.svg": show_menu,
    "terminal-queue.svg": show_queue,
}

# How it is drawn.


class Picture(NamedTuple):
    label: str
    rows: list[list[Run]]
    cursor: tuple[int, int] | None


def read_picture(stage: Stage, label: str) -> Picture:
    """From the first prompt to the last row with something in it."""
    shown = stage.screen
    first = next(at for at, row in enumerate(shown) if row.startswith("> "))
    last = max(at for at, row in enumerate(shown) if row)
    rows = [list(read_row(stage, at)) for at in range(first, last + 1)]
    column, row = stage.cursor
    return Picture(label, rows, (column, row - first) if stage.emulator.is_cursor_shown else None)


def read_row(stage: Stage, row: int) -> Iterator[Run]:
    run: Run | None = None
    cells = list(stage.emulator.cells(row))
    for cell, after in zip(cells, [*(cell.column for cell in cells[1:]), COLUMNS], strict=True):
        look, width = find_look(stage.emulator.style(cell.column, row)), after - cell.column
        if run is not None and run.look == look:
            run = run._replace(width=run.width + width, text=run.text + cell.text)
            continue
        if run is not None:
            yield run
        run = Run(cell.column, width, cell.text, look)
    if run is not None:
        yield run


def find_look(style: dict[str, Any]) -> Look:
    ink, paper = find_colour(style.get("fg")), find_colour(style.get("bg"))
    if style.get("inverse"):
        ink, paper = paper or _PAPER, ink or _INK
    usual = _FAINT if style.get("faint") else _STRONG if style.get("bold") else _INK
    return Look(
        ink or usual,
        paper,
        bold=bool(style.get("bold")),
        italic=bool(style.get("italic")),
        underlined=bool(style.get("underline")),
        struck=bool(style.get("strikethrough")),
    )


def find_colour(told: Any) -> str:
    """Empty where it is the terminal's own."""
    match told:
        case ("palette", int(number)) if number < _CUBE:
            return _SIXTEEN[number]
        case ("palette", int(number)) if number < _GREYS:
            red, rest = divmod(number - _CUBE, 36)
            green, blue = divmod(rest, 6)
            return f"#{_LEVELS[red]:02x}{_LEVELS[green]:02x}{_LEVELS[blue]:02x}"
        case ("palette", int(number)):
            return f"#{8 + 10 * (number - _GREYS):02x}" + f"{8 + 10 * (number - _GREYS):02x}" * 2
        case ("rgb", *parts):
            red, green, blue = parts[0] if len(parts) == 1 else parts
            return f"#{red:02x}{green:02x}{blue:02x}"
        case _:
            return ""


def render_svg(picture: Picture) -> str:
    width, height = COLUMNS * _COLUMN + 2 * _MARGIN, len(picture.rows) * _ROW + 2 * _MARGIN
    drawn = [part for at, row in enumerate(picture.rows) for part in render_row(row, _MARGIN + at * _ROW)]
    if picture.cursor is not None:
        column, row = picture.cursor
        place = f'x="{_MARGIN + column * _COLUMN}" y="{_MARGIN + row * _ROW + 1}"'
        drawn.append(f'<rect {place} width="{_COLUMN}" height="{_ROW - 2}" fill="{_INK}"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(picture.label)}">\n'
        "<style>text{font:13px ui-monospace,Menlo,Consolas,monospace;white-space:pre}</style>\n"
        f'<rect width="{width}" height="{height}" rx="10" fill="{_PAPER}"/>\n' + "\n".join(drawn) + "\n</svg>\n"
    )


def render_row(row: list[Run], top: int) -> Iterator[str]:
    """Each piece is put at its column and given its width, so that any monospaced font lines up."""
    for run in row:
        if run.look.paper:
            place = f'x="{_MARGIN + run.column * _COLUMN}" y="{top}" width="{run.width * _COLUMN}" height="{_ROW}"'
            yield f'<rect {place} fill="{run.look.paper}"/>'
    pieces = "".join(part for run in row for part in render_run(run))
    if pieces:
        yield f'<text y="{top + 0.72 * _ROW:g}">{pieces}</text>'


def render_run(run: Run) -> Iterator[str]:
    """A piece ends where more than one space follows: these would be drawn as one."""
    look = run.look
    more = "".join(
        (
            ' font-weight="bold"' if look.bold else "",
            ' font-style="italic"' if look.italic else "",
            ' text-decoration="underline"' if look.underlined else "",
            ' text-decoration="line-through"' if look.struck else "",
        )
    )
    for found in _PIECE.finditer(run.text):
        x = _MARGIN + (run.column + width_of(run.text[: found.start()])) * _COLUMN
        length = width_of(found[0]) * _COLUMN
        yield f'<tspan x="{x}" textLength="{length}" fill="{look.ink}"{more}>{escape(found[0])}</tspan>'


async def draw(name: str) -> str:
    return render_svg(await PICTURES[name]())


def main() -> int:
    for name in PICTURES:
        (DOCS / name).write_text(asyncio.run(draw(name)), encoding="utf-8")
        sys.stdout.write(f"{DOCS / name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
