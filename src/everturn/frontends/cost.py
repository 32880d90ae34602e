"""A bill as people read it: the short form of `/cost`, and the table of `everturn cost`, whose figures add up."""

from collections.abc import Iterable, Sequence

from everturn.core.bill import Bill, Entry, Paid
from everturn.core.budget import Usage
from everturn.core.money import PICO, round_table
from everturn.frontends.figures import render_count
from everturn.frontends.flow import cut_line
from everturn.frontends.harmless import make_line

KINDS = ("input", "output", "cache_write", "cache_read", "unsplit")
NAMES = {
    "input": "input",
    "output": "output",
    "cache_write": "cache write",
    "cache_read": "cache read",
    "unsplit": "not split",
}
DECIMALS = 4
DECIMALS_OF_LITTLE = 6
LITTLE = PICO // 10
"""Of a few cents four decimals would hide too much."""
ABOUT = "~"
"""Before a number of tokens that is wholly or partly an estimate."""
MAX_NAME = 28
THOUSAND = 1_000

Row = tuple[str, ...]


def render_bill(bill: Bill, width: int) -> str:
    """The table by round, the sums by model and by purpose, and the cache. Without the tokens where the width is short."""
    parts = [
        _render_rows(bill.entries, bill, width, title="round"),
        _render_sums(bill.by_model, bill, width, title="model"),
        _render_sums(bill.by_purpose, bill, width, title="for"),
        *render_remarks(bill),
    ]
    return "\n".join(part for part in parts if part)


def render_summary(bill: Bill) -> str:
    """A line for each model, what each kind cost, and the cache."""
    decimals, models = decimals_of(bill), bill.by_model
    lines = []
    for (model, entry), paid in zip(models.items(), round_paid(models.values(), decimals), strict=True):
        calls, kinds = render_count(entry.calls, "call"), _render_kinds(entry, paid, decimals)
        lines.append(f"  {make_line(model)}: ${render_units(sum(paid), decimals)}, {calls}, {kinds}")
    return "\n".join([*lines, *(f"  {remark}" for remark in render_remarks(bill))])


def render_remarks(bill: Bill) -> list[str]:
    paid, usage, decimals = bill.total.paid, bill.total.usage, decimals_of(bill)
    remarks = []
    if usage.estimated_output:
        remarks.append(
            f"{ABOUT} marks an estimate: {render_tokens(usage.estimated_output)} of {render_tokens(usage.output)} output "
            "tokens are estimated from what was received, because the API has not counted them."
        )
    if usage.cache_read or usage.cache_write:
        verb = "was worth" if paid.net_saved >= 0 else "did not pay: it cost"
        remarks.append(
            f"The cache {verb} ${abs(paid.net_saved) / PICO:,.{decimals}f}: reading from it saved "
            f"${paid.saved / PICO:,.{decimals}f} against plain input, "
            f"writing to it cost ${paid.premium / PICO:,.{decimals}f} more."
        )
    unknown = [make_line(model) for model, entry in bill.by_model.items() if entry.paid.unsplit]
    changed = [
        make_line(model) for model, entry in bill.by_model.items() if not entry.paid.exact and not entry.paid.unsplit
    ]
    if unknown:
        remarks.append(f"No prices are known for {', '.join(unknown)}: the sum is the one that was recorded.")
    if changed:
        remarks.append(
            f"The prices of {', '.join(changed)} are not those of the session: the sums are the recorded ones, "
            "split in proportion to today's prices."
        )
    return remarks


def render_tokens(count: int) -> str:
    """At most five characters: 999, 1.2k, 12k, 999k, 1.2M."""
    value = float(count)
    for suffix in ("", "k", "M", "G"):
        if round(value) < THOUSAND:
            return f"{value:.1f}{suffix}" if suffix and round(value, 1) < 10 else f"{round(value)}{suffix}"  # noqa: PLR2004 (one digit)
        value /= THOUSAND
    return f"{round(value)}T"


def render_when(entry: Entry) -> str:
    """`2.7` is the seventh round of the second prompt, `2+` came when that had ended."""
    if entry.after:
        return f"{entry.query}+"
    turn = str(entry.turn) if entry.turn else ""
    query = str(entry.query) if entry.query else ""
    return ".".join(part for part in (query, turn) if part) or "-"


def round_paid(entries: Iterable[Entry], decimals: int) -> list[list[int]]:
    """By kind, in units of the last decimal; whatever is added up from them agrees with what is shown elsewhere."""
    rows = [kinds_of(entry.paid) for entry in entries]
    return round_table(rows, PICO // 10**decimals) if rows else []


def kinds_of(paid: Paid) -> list[int]:
    return [paid.input, paid.output, paid.cache_write, paid.cache_read, paid.unsplit]


def decimals_of(bill: Bill) -> int:
    return DECIMALS if bill.total.paid.total >= LITTLE else DECIMALS_OF_LITTLE


def _render_kinds(entry: Entry, paid: Iterable[int], decimals: int) -> str:
    cells = zip(KINDS, paid, render_used(entry.usage, KINDS), strict=True)
    return ", ".join(
        f"{NAMES[kind]} {f'{used} ' if used else ''}${render_units(units, decimals)}"
        for kind, units, used in cells
        if units or used
    )


def render_used(usage: Usage, kinds: Sequence[str]) -> list[str]:
    """Tokens of each kind; empty where there are none."""
    counts = [getattr(usage, kind, 0) for kind in kinds]
    marks = [ABOUT if kind == "output" and usage.estimated_output else "" for kind in kinds]
    return [f"{mark}{render_tokens(count)}" if count else "" for mark, count in zip(marks, counts, strict=True)]


def _render_rows(entries: Sequence[Entry], bill: Bill, width: int, *, title: str) -> str:
    several = len(bill.by_model) > 1
    heads = (title, "for", "model") if several else (title, "for")
    names = [
        (render_when(entry), make_line(entry.purpose), *((make_line(entry.model),) if several else ()))
        for entry in entries
    ]
    return _render_table(heads, names, entries, bill, width, closing="total")


def _render_sums(sums: dict[str, Entry], bill: Bill, width: int, *, title: str) -> str:
    """A single sum would only repeat the total."""
    if len(sums) < 2:  # noqa: PLR2004 (one is none)
        return ""
    names = [(make_line(name), render_count(entry.calls, "call")) for name, entry in sums.items()]
    return _render_table((title, ""), names, list(sums.values()), bill, width, closing="")


def _render_table(
    heads: Row, names: Sequence[Row], entries: Sequence[Entry], bill: Bill, width: int, *, closing: str
) -> str:
    kinds = [kind for kind in KINDS if kind != "unsplit" or bill.total.paid.unsplit]
    decimals = decimals_of(bill)
    money = [row[: len(kinds)] for row in round_paid(entries, decimals)]
    usages = [entry.usage for entry in entries]
    names = [tuple(cut_line(name, MAX_NAME) for name in row) for row in names]
    if closing:
        names.append((closing, *[""] * (len(heads) - 1)))
        money.append([sum(column) for column in zip(*money, strict=True)])
        usages.append(sum(usages, Usage()))
    for with_tokens in (True, False):
        rows = [
            (
                *name,
                *_render_cells(paid, render_used(usage, kinds), decimals, with_tokens=with_tokens),
                render_units(sum(paid), decimals),
            )
            for name, paid, usage in zip(names, money, usages, strict=True)
        ]
        lines = _align((*heads, *(NAMES[kind] for kind in kinds), "USD"), rows, left=len(heads))
        if len(lines[0]) <= width:
            break
    return "\n".join(lines) + "\n"


def _render_cells(paid: Iterable[int], used: Iterable[str], decimals: int, *, with_tokens: bool) -> list[str]:
    """Nothing used and nothing paid is shown as a dash, so that the eye finds what counts."""
    cells = []
    for amount, tokens in zip(paid, used, strict=True):
        if not amount and not tokens:
            cells.append("-")
        elif with_tokens and tokens:
            cells.append(f"{tokens:>5} {render_units(amount, decimals)}")
        else:
            cells.append(render_units(amount, decimals))
    return cells


def render_units(units: int, decimals: int) -> str:
    """Of units of the last decimal."""
    whole, part = divmod(units, 10**decimals)
    return f"{whole:,}.{part:0{decimals}d}"


def _align(heads: Row, rows: Sequence[Row], *, left: int) -> list[str]:
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    return [
        "  ".join(
            cell.ljust(wide) if at < left else cell.rjust(wide)
            for at, (cell, wide) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (heads, *rows)
    ]
