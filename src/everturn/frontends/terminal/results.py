"""What a call brought, under its line: the change of a file, the end of a command's output. Folded; the whole of it can be opened. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from everturn.core.events import CallEnded
from everturn.core.masking import mask_keys
from everturn.frontends.ansi import BOLD, CYAN, DIM, GREEN, RED, Style
from everturn.frontends.flow import cut_line
from everturn.frontends.harmless import make_harmless, make_line
from everturn.frontends.hunk_lines import list_hunk_lines
from everturn.frontends.terminal.code_rows import lay_code
from everturn.frontends.terminal.diff_lines import DiffHunk, lay_diff
from everturn.frontends.terminal.palette import SIXTEEN, Palette

MAX_OUTPUT = 6
"""Lines of output, the last ones."""
MAX_CHANGED = 24
"""Lines of a change, the first ones."""
MAX_CHARACTERS = 200_000
"""Of a result that is looked at for the screen; the rest is in the session."""
MAX_CREATED = 10
"""Lines of a new file, the first ones."""
MAX_COMMAND = 40
"""Rows of a command."""
GUTTER = "  │ "
COMMAND_GUTTER = "  $ "
_PATCH = {"+": GREEN, "-": RED, "@": CYAN}


class NewFile:
    """A file as the hunk of a patch that adds all of it."""

    old_start, new_start = 0, 1

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = [f"+{line}" for line in lines]


class Details(msgspec.Struct, frozen=True):
    """All of a result, to be opened."""

    title: str
    lines: tuple[tuple[str, str], ...]
    """Each with its colour."""


def lay_result(
    event: CallEnded, style: Style, columns: int, palette: Palette = SIXTEEN
) -> tuple[list[str], Details | None]:
    """Rows that fit the width, and the whole of the result."""
    hunks = getattr(event.shown, "structured_patch", None)
    if hunks:
        return lay_change(hunks, style, columns, palette, title=make_line(event.call_line) or event.name)
    title = make_line(event.call_line) or event.name
    if getattr(event.shown, "type", "") == "create":
        return lay_created(event.shown.content, style, columns, palette, title=title)
    return fold(list_lines(event.shown), style, columns, most=-MAX_OUTPUT, title=title)


def lay_change(
    hunks: Sequence[Any], style: Style, columns: int, palette: Palette, *, title: str
) -> tuple[list[str], Details | None]:
    """With line numbers, and the changed words of a line marked."""
    told = [DiffHunk(hunk.old_start, hunk.new_start, hunk.lines) for hunk in hunks]
    rows = lay_diff(told, columns - len(GUTTER) - 1, max_rows=MAX_CHANGED, palette=palette)
    gutter = style.paint(GUTTER, DIM)
    painted = [gutter + "".join(style.paint(piece.text, piece.codes) for piece in row) for row in rows]
    lines = tuple(list_hunk_lines(hunks, clean_line))
    return painted, Details(title, lines) if lines else None


def lay_created(
    content: str, style: Style, columns: int, palette: Palette, *, title: str
) -> tuple[list[str], Details | None]:
    """The first lines of a new file."""
    lines = content[:MAX_CHARACTERS].removesuffix("\n").split("\n")
    rows, _ = lay_change([NewFile(lines[:MAX_CREATED])], style, columns, palette, title=title)
    if left := len(lines) - MAX_CREATED if len(lines) > MAX_CREATED else 0:
        rows.append(style.paint(cut_line(f"  … {left:,} more lines, Ctrl-O shows all", columns - 1), DIM))
    return rows, Details(title, tuple(list_hunk_lines([NewFile(lines)], clean_line)))


def lay_command(command: str, style: Style, columns: int, palette: Palette) -> list[str]:
    """All of a command that did not fit in the line of its call; of one that is very long the beginning and the end."""
    rows = lay_code(mask_keys(command), "bash", columns - len(GUTTER) - 1, palette=palette)
    painted = ["".join(style.paint(piece.text, piece.codes) for piece in row) for row in rows]
    if left := max(len(rows) - MAX_COMMAND, 0):
        half = MAX_COMMAND // 2
        painted[half : len(rows) - half] = [style.paint(f"… {left:,} more rows", DIM)]
    return [f"{style.paint(COMMAND_GUTTER, DIM)}{row}" for row in painted]


def fold(
    lines: list[tuple[str, str]], style: Style, columns: int, *, most: int, title: str
) -> tuple[list[str], Details | None]:
    """The first `most` lines as rows; where `most` is negative, the last ones."""
    if not lines:
        return [], None
    kept = lines[:most] if most > 0 else lines[most:]
    rows = [paint(text, codes, style, columns) for text, codes in kept]
    if left := len(lines) - len(kept):
        told = style.paint(cut_line(f"  … {left:,} more lines, Ctrl-O shows all", columns - 1), DIM)
        rows = [*rows, told] if most > 0 else [told, *rows]
    return rows, Details(title, tuple(lines))


def paint_patch(diff: str) -> list[tuple[str, str]]:
    """Lines of a patch as git writes it, with their colours."""
    text = mask_keys(make_harmless(diff)).rstrip("\n")
    return [(line.expandtabs(4), _PATCH.get(line[:1], DIM if line[:1] == " " else BOLD)) for line in text.split("\n")]


def list_lines(shown: Any) -> list[tuple[str, str]]:
    """Lines of a result and their colours; none where its own line says enough."""
    output = getattr(shown, "stdout", None)
    if not isinstance(output, str) or not output.strip():
        return []
    text = mask_keys(make_harmless(output[-MAX_CHARACTERS:])).strip("\n")
    return [(line, DIM) for line in text.split("\n")]


def list_words(text: str) -> tuple[tuple[str, str], ...]:
    """Of a text that is no result, such as what the model thought."""
    return tuple((line, "") for line in mask_keys(make_harmless(text)).strip("\n").split("\n"))


def clean_line(text: str) -> str:
    return mask_keys(make_harmless(text.expandtabs(4)))


def paint(text: str, codes: str, style: Style, columns: int) -> str:
    return f"{style.paint(GUTTER, DIM)}{style.paint(cut_line(text, max(columns - len(GUTTER) - 1, 4)), codes)}"
