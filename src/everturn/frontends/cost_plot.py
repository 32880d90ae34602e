"""The cost of a session as bars in a terminal, one for each round, coloured by what was paid for."""

from everturn.core.bill import Bill, Entry
from everturn.core.money import share_out
from everturn.frontends.ansi import CYAN, YELLOW, Style
from everturn.frontends.cost import KINDS, NAMES, decimals_of, kinds_of, render_units, render_when, round_paid

MAGENTA = "35"
GREEN = "32"
DIM_WHITE = "37"
COLOURS = dict(zip(KINDS, (YELLOW, CYAN, MAGENTA, GREEN, DIM_WHITE), strict=True))
LETTERS = dict(zip(KINDS, "iowr?", strict=True))
MAX_BARS = 40
"""More turns share their bars."""
MIN_BAR = 10


def render_plot(bill: Bill, *, width: int, style: Style, block: str = "█") -> str:
    """Where there is no colour each kind has its letter. Empty for a session that cost nothing, or a single turn."""
    bars = _group(bill.by_turn)
    most = max((entry.paid.total for _, entry in bars), default=0)
    if most <= 0 or len(bars) < 2:  # noqa: PLR2004 (one bar shows nothing)
        return ""
    decimals = decimals_of(bill)
    amounts = [f"${render_units(units, decimals)}" for units in _add_units(bill, decimals, len(bars))]
    left, right = max(len(label) for label, _ in bars), max(map(len, amounts))
    room = max(width - left - right - 4, MIN_BAR)
    lines = [
        f"{label:>{left}}  {_draw(entry, most, room, style, block)}  {amount:>{right}}"
        for (label, entry), amount in zip(bars, amounts, strict=True)
    ]
    return "\n".join([*lines, _legend(bill, style, block)]) + "\n"


def _bar_size(turns: int) -> int:
    return max(-(-turns // MAX_BARS), 1)


def _add_units(bill: Bill, decimals: int, bars: int) -> list[int]:
    """The rounded amounts of the table, added up for each bar."""
    turns = [(turn.query, turn.turn, turn.after) for turn in bill.by_turn]
    size = _bar_size(len(turns))
    bar_of = {turn: at // size for at, turn in enumerate(turns)}
    sums = [0] * bars
    for entry, units in zip(bill.entries, round_paid(bill.entries, decimals), strict=True):
        sums[bar_of[entry.query, entry.turn, entry.after]] += sum(units)
    return sums


def _group(turns: list[Entry]) -> list[tuple[str, Entry]]:
    size = _bar_size(len(turns))
    bars = []
    for at in range(0, len(turns), size):
        first, *others = turns[at : at + size]
        label = f"{render_when(first)}-{render_when(others[-1])}" if others else render_when(first)
        for other in others:
            first += other
        bars.append((label, first))
    return bars


def _draw(entry: Entry, most: int, room: int, style: Style, block: str) -> str:
    """What cost anything is seen, if only as one mark."""
    total = entry.paid.total
    marks = max(round(total * room / most), 1) if total > 0 else 0
    lengths = share_out(marks, kinds_of(entry.paid))
    drawn = "".join(
        style.paint((block if style.colour else LETTERS[kind]) * length, COLOURS[kind])
        for kind, length in zip(KINDS, lengths, strict=True)
    )
    return drawn + " " * (room - marks)


def _legend(bill: Bill, style: Style, block: str) -> str:
    paid = bill.total.paid
    return "  ".join(
        f"{style.paint(block if style.colour else LETTERS[kind], COLOURS[kind])} {NAMES[kind]}"
        for kind, amount in zip(KINDS, kinds_of(paid), strict=True)
        if amount
    )
