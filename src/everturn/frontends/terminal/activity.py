"""What runs now, as rows of the live area: each call with its time, and the last lines of what it prints. Pure."""

from everturn.frontends.ansi import CYAN, DIM, Style
from everturn.frontends.flow import cut_line
from everturn.frontends.transcript.waiting import FRAMES, FRAMES_PER_S, Waiting

MAX_CALLS = 4
"""Rows of running calls; the others are counted."""
MAX_TAIL = 5
"""Lines of output under a call that runs alone."""
GUTTER = "  │ "


def lay_activity(waiting: Waiting, style: Style, columns: int, *, room: int, spins: bool) -> list[str]:
    """At most `room` rows. `spins`: a mark moves while something is waited for."""
    calls, now = waiting.calls, waiting.now
    mark = FRAMES[int(now * FRAMES_PER_S) % len(FRAMES)] if spins else "·"
    if not calls:
        told = waiting.render(columns - 2)
        return [f"{style.paint(mark, CYAN)} {style.paint(told[2:], DIM)}"] if told else []
    rows = []
    for call in calls[:MAX_CALLS]:
        took = call.render_time(now)
        shown = cut_line(call.line, max(columns - 4 - len(took), 8))
        rows.append(f"{style.paint(mark, CYAN)} {shown}{style.paint(took, DIM)}")
    if len(calls) > MAX_CALLS:
        rows.append(style.paint(f"  and {len(calls) - MAX_CALLS} more", DIM))
    if len(calls) == 1:
        tail = calls[0].tail[-MAX_TAIL:]
        rows += [style.paint(f"{GUTTER}{cut_line(line, columns - len(GUTTER) - 1)}", DIM) for line in tail]
    return rows[: max(room, 1)]
