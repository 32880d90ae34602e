"""`everturn cost`: what a session cost, round by round and kind by kind, read from its journal."""

import os
import sys
from typing import Any

import msgspec

from everturn.cli.console import complain, measure_output, render_json, write
from everturn.cli.sessions.lookup import find_file, load_records
from everturn.cli.syntax import JSON, Arguments
from everturn.core.bill import Bill, Entry, PriceLists, fold_bill
from everturn.core.budget import Prices
from everturn.core.errors import OptionError
from everturn.core.money import PICO
from everturn.core.state import Exit
from everturn.settings.program_files import find_roots, load_program_settings


def run_cost(asked: Arguments) -> int:
    """Raises `UsageError`, and `JournalError` for a session that cannot be read."""
    path = find_file("cost", asked.words)
    bill = fold_bill(load_records(path), load_prices())
    write(encode_bill(path.stem, bill) if JSON.name in asked else render_page(path.stem, bill))
    return Exit.OK


def load_prices() -> PriceLists:
    """Those of the catalogue, with what the settings add. Settings that nobody could run with do not hide what was spent."""
    from everturn.compose.catalog import build_catalog
    from everturn.settings.options import Options

    merged, _ = load_program_settings(find_roots(os.environ), os.environ)
    for problem in merged.problems:
        complain(str(problem))
    added = merged.options().get("models", ())
    try:
        catalog = build_catalog(Options(models=added))
    except OptionError as problem:
        complain(f"{problem}; prices are those that Everturn brings along")
        catalog = build_catalog(Options())

    def lists(model: str) -> tuple[Prices, ...]:
        card = catalog.card(model)
        return tuple(prices for prices in (card.prices, card.fast_prices) if prices is not None)

    return lists


def render_page(session_id: str, bill: Bill) -> str:
    from everturn.frontends.cost import decimals_of, render_bill
    from everturn.frontends.cost_plot import render_plot
    from everturn.frontends.figures import render_count

    total = bill.total
    if not total.calls:
        return f"Session {session_id} has cost nothing: no call to a model was charged.\n"
    style, width = measure_output()
    block = "█" if "utf" in (sys.stdout.encoding or "").lower() else "#"
    rounds, calls = render_count(len(bill.by_turn), "round"), render_count(total.calls, "call")
    amount = f"${total.paid.total / PICO:,.{decimals_of(bill)}f}"
    head = (
        f"Session {session_id} cost {amount} in {rounds} with the model and {calls} (an estimate from list prices).\n"
    )
    plot = render_plot(bill, width=width, style=style, block=block)
    return "\n".join(part for part in (head, plot, render_bill(bill, width)) if part) + "\n"


def encode_bill(session_id: str, bill: Bill) -> str:
    total = bill.total
    page = {
        "session_id": session_id,
        "total_usd": total.paid.total / PICO,
        "calls": total.calls,
        "total": encode_entry(total),
        "rounds": [
            {
                "query": entry.query,
                "round": entry.turn,
                "after_query": entry.after,
                "purpose": entry.purpose,
                "model": entry.model,
                **encode_entry(entry),
            }
            for entry in bill.entries
        ],
        "models": {name: encode_entry(entry) for name, entry in bill.by_model.items()},
        "purposes": {name: encode_entry(entry) for name, entry in bill.by_purpose.items()},
    }
    return render_json(page, indent=2) + "\n"


def encode_entry(entry: Entry) -> dict[str, Any]:
    paid, usage = entry.paid, entry.usage
    return {
        "calls": entry.calls,
        "tokens": msgspec.structs.asdict(usage),
        "usd": {
            "input": paid.input / PICO,
            "output": paid.output / PICO,
            "cache_write": paid.cache_write / PICO,
            "cache_read": paid.cache_read / PICO,
            "not_split": paid.unsplit / PICO,
            "total": paid.total / PICO,
        },
        "cache": {
            "saved_usd": paid.saved / PICO,
            "write_premium_usd": paid.premium / PICO,
            "net_usd": paid.net_saved / PICO,
        },
        "prices_match": paid.exact,
    }
