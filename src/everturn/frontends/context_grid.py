"""The use of the window as a picture: a grid of cells by category with a legend, and the same as JSON."""

from collections.abc import Sequence
from typing import Any

import msgspec

from everturn.core.money import share_out
from everturn.core.window import MCP_PREFIX, Category, WindowUse
from everturn.frontends.ansi import BOLD, DIM, Style
from everturn.frontends.cost import render_tokens
from everturn.frontends.flow import cut_line
from everturn.frontends.harmless import make_line

CELLS = 200
ROW = 20
"""Cells in a row, where there is room."""
CELL_COLUMNS = 2
GAP = 3
LEGEND_COLUMNS = 34
PLAIN_COLUMNS = 80
"""Width of what is read elsewhere than on a terminal."""
FULL, EMPTY, KEPT = "■", "·", "░"

LOOKS: dict[Category, tuple[str, str]] = {
    Category.SYSTEM: ("S", "34"),
    Category.TOOLS: ("T", "36"),
    Category.MCP_TOOLS: ("M", "96"),
    Category.MEMORY: ("F", "33"),
    Category.SKILLS: ("K", "93"),
    Category.CONTEXT: ("C", "94"),
    Category.SUMMARIES: ("Z", "95"),
    Category.USER_TEXT: ("u", "32"),
    Category.ASSISTANT_TEXT: ("a", "35"),
    Category.THINKING: ("t", "90"),
    Category.CALLS: ("c", "92"),
    Category.RESULTS: ("r", "31"),
    Category.MEDIA: ("m", "91"),
    Category.NOTES: ("n", "37"),
    Category.FREE: (".", DIM),
    Category.RESERVE: ("x", DIM),
}
"""The letter that stands for it where there are no colours, and its colour."""


def render_window(use: WindowUse, style: Style, columns: int) -> str:
    """The legend stands beside the grid where there is room, below it where there is less, alone where there is none."""
    head = _render_head(use, style, columns)
    legend = _render_legend(use, style)
    row = min(ROW, columns // CELL_COLUMNS)
    if row < ROW // 4:
        return "\n".join([*head, *(cut for cut, _ in legend)]) + "\n"
    grid = _render_grid(use, style, row)
    if columns < ROW * CELL_COLUMNS + GAP + LEGEND_COLUMNS:
        return "\n".join([*head, *(line for line, _ in grid), "", *(line for line, _ in legend)]) + "\n"
    height = max(len(grid), len(legend))
    rows = zip(_padded(grid, height), _padded(legend, height), strict=True)
    beside = [f"{line}{' ' * (row * CELL_COLUMNS - wide + GAP)}{words}".rstrip() for (line, wide), (words, _) in rows]
    return "\n".join([*head, *beside]) + "\n"


def render_plain(use: WindowUse) -> str:
    return render_window(use, Style(colour=False, control=False), PLAIN_COLUMNS)


def encode_window(use: WindowUse) -> dict[str, Any]:
    """In the form that programs know as `context_usage`."""
    kinds = {Category.FREE: "free", Category.RESERVE: "buffer"}
    page: dict[str, Any] = {
        "model": use.model,
        "total_tokens": use.total,
        "raw_max_tokens": use.window,
        "percentage": round(use.percentage, 1),
        "is_estimate": not use.is_counted,
        "categories": [
            {"name": str(category), "tokens": tokens, "kind": kinds.get(category, "used")}
            for category, tokens in use.shares
        ],
        "tools": _list_items(use, Category.TOOLS),
        "mcp_tools": [
            {**item, "server_name": item["name"].removeprefix(MCP_PREFIX).partition("__")[0]}
            for item in _list_items(use, Category.MCP_TOOLS)
        ],
        "memory_files": [{"path": item["name"], **item} for item in _list_items(use, Category.MEMORY)],
        "skills": _list_items(use, Category.SKILLS),
    }
    if use.compaction is not None:
        page["compaction"] = msgspec.to_builtins(use.compaction)
    if use.over:
        page["over_limit"] = {"tokens_over": use.over, "kind": "hard_limit"}
    return page


def _list_items(use: WindowUse, category: Category) -> list[dict[str, Any]]:
    return [{"name": item.name, "tokens": item.tokens} for item in use.items if item.category is category]


def _render_head(use: WindowUse, style: Style, columns: int) -> list[str]:
    share, known = f"{use.percentage:.0f} %", "" if use.is_counted else ", an estimate"
    told = f"{make_line(use.model)} · {render_tokens(use.total)} of {render_tokens(use.window)} tokens ({share}{known})"
    head = [style.paint(cut_line(told, columns), BOLD)]
    if use.over:
        head.append(cut_line(f"The window is too small by {render_tokens(use.over)} tokens.", columns))
    if (last := use.compaction) is not None:
        since = "1 turn ago" if last.turns_since == 1 else f"{last.turns_since:,} turns ago"
        often = "once" if last.count == 1 else f"{last.count:,} times, the last time"
        head.append(cut_line(f"Compacted {often} {since} ({make_line(last.id)})", columns))
    return [*head, ""]


def _render_grid(use: WindowUse, style: Style, row: int) -> list[tuple[str, int]]:
    """Each line with its width: colours take none."""
    cells = [
        style.paint(_mark(category, style), LOOKS[category][1])
        for category, count in _share_cells(use)
        for _ in range(count)
    ]
    rows = [cells[at : at + row] for at in range(0, len(cells), row)]
    return [(" ".join(cells), len(cells) * CELL_COLUMNS - 1) for cells in rows]


def _share_cells(use: WindowUse) -> list[tuple[Category, int]]:
    """Whatever takes anything is seen: at least one cell each, given by those that have most."""
    counts = share_out(CELLS, [tokens for _, tokens in use.shares])
    for at, count in enumerate(counts):
        if not count:
            counts[counts.index(max(counts))] -= 1
            counts[at] = 1
    return [(category, count) for (category, _), count in zip(use.shares, counts, strict=True)]


def _render_legend(use: WindowUse, style: Style) -> list[tuple[str, int]]:
    lines = []
    for category, tokens in use.shares:
        mark = style.paint(_mark(category, style), LOOKS[category][1])
        percent = 100 * tokens / max(use.window, 1)
        lines.append((f"{mark} {category:<18} {render_tokens(tokens):>5}  {percent:4.1f} %", 0))
    return lines


def _mark(category: Category, style: Style) -> str:
    if not style.colour:
        return LOOKS[category][0]
    return {Category.FREE: EMPTY, Category.RESERVE: KEPT}.get(category, FULL)


def _padded(lines: Sequence[tuple[str, int]], height: int) -> list[tuple[str, int]]:
    return [*lines, *[("", 0)] * (height - len(lines))]
