"""The last row: model, permission mode, how full the window is, how far the goal is, cost, branch, what runs in the background. Pure."""

import msgspec

from everturn.core.modes import PermissionMode
from everturn.frontends.ansi import CYAN, DIM, RED, YELLOW, Style
from everturn.frontends.figures import render_count, render_usd
from everturn.frontends.flow import cut_line, width_of
from everturn.frontends.harmless import make_line

FULL, FILLING = 90, 70
"""Percent of the window from which its figure is red, or yellow."""
SEPARATOR = " · "


class Status(msgspec.Struct, frozen=True, kw_only=True):
    model: str = ""
    mode: str = ""
    percent: int | None = None
    """Of the window; None where it is not known."""
    usd: float = 0.0
    goal: str = ""
    """How far it is."""
    branch: str = ""
    jobs: int = 0
    """Commands in the background."""
    editing: str = ""
    """Mode of vi."""
    row: str = ""
    """What the person's own command says, in place of all but the mode."""
    hint: str = ""
    """Stands in place of everything else for a moment."""


def lay_status(status: Status, style: Style, columns: int) -> str:
    """One row. What does not fit is left out from the right, whole."""
    if status.hint:
        return style.paint(cut_line(f"  {status.hint}", columns - 1), DIM)
    parts: list[tuple[str, str]] = []
    if status.editing:
        parts.append((f"-- {status.editing.upper()} --", CYAN))
    parts.append((status.mode, RED if status.mode == PermissionMode.BYPASS else YELLOW))
    if status.row:
        parts.append((make_line(status.row), DIM))
        return join_parts(parts, style, columns)
    parts.append((make_line(status.model), DIM))
    if status.percent is not None:
        level = RED if status.percent >= FULL else YELLOW if status.percent >= FILLING else DIM
        parts.append((f"{status.percent} % context", level))
    if status.goal:
        parts.append((status.goal, YELLOW))
    if status.usd:
        parts.append((render_usd(status.usd), DIM))
    if status.branch:
        parts.append((make_line(status.branch), DIM))
    if status.jobs:
        parts.append((f"{render_count(status.jobs, 'job')} in the background", CYAN))
    return join_parts(parts, style, columns)


def join_parts(parts: list[tuple[str, str]], style: Style, columns: int) -> str:
    row, width = "  ", 2
    for text, codes in parts:
        if not text:
            continue
        lead = SEPARATOR if width > 2 else ""  # noqa: PLR2004 (the indent)
        wide = width_of(lead) + width_of(text)
        if width + wide > columns - 1:
            break
        row += style.paint(lead, DIM) + style.paint(text, codes)
        width += wide
    return row
