"""What stands below the finished text, as rows: what runs, what is queued, the prompt or a question, the status. Pure."""

from collections.abc import Sequence
from typing import Protocol

from everturn.frontends.ansi import DIM, Style
from everturn.frontends.flow import cut_line
from everturn.frontends.harmless import make_line
from everturn.frontends.terminal.status_line import Status, lay_status

MAX_QUEUED = 3
MIN_ROOM = 12
"""With fewer rows nothing sets what runs apart from the text."""


class Answering(Protocol):
    """The prompt, or a question in its place."""

    def lay(self, style: Style, columns: int, room: int) -> tuple[list[str], tuple[int, int] | None]: ...


def lay_live_area(
    answering: Answering,
    *,
    activity: Sequence[str],
    queued: Sequence[str],
    status: Status,
    style: Style,
    columns: int,
    rows: int,
) -> tuple[list[str], tuple[int, int] | None]:
    """Rows, and where the cursor stands in them."""
    room = max(rows - 3, 1)
    above = [*activity[: max(room // 2, 1)], *lay_queued(queued, style, columns)]
    if activity and room > MIN_ROOM:
        above.insert(0, "")
    above.append("")
    laid, cursor = answering.lay(style, columns, max(room - len(above), 2))
    shown = [*above, *laid, lay_status(status, style, columns)]
    return shown, (cursor[0] + len(above), cursor[1]) if cursor else None


def lay_queued(queued: Sequence[str], style: Style, columns: int) -> list[str]:
    rows = [style.paint(cut_line(f"  next: {make_line(text)}", columns - 1), DIM) for text in queued[:MAX_QUEUED]]
    if len(queued) > MAX_QUEUED:
        rows.append(style.paint(f"  and {len(queued) - MAX_QUEUED} more", DIM))
    return rows
