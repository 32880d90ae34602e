"""`everturn sessions list`: this folder's sessions, or all, the newest first; `rebuild` makes the index that they are read from anew."""

import os
import time
from pathlib import Path

from everturn.cli.folder import find_folder
from everturn.cli.sessions.commands import LIMIT
from everturn.cli.sessions.display import (
    build_mask,
    encode_card,
    find_width,
    render_age,
    render_cost,
    render_table,
    render_title,
    say,
    say_json,
    shorten_ids,
)
from everturn.cli.sessions.lookup import load_cards, open_index
from everturn.cli.syntax import JSON, Arguments
from everturn.core.spelled_paths import spell_path
from everturn.core.state import Exit
from everturn.frontends.figures import render_count
from everturn.frontends.harmless import make_line
from everturn.sessions.index.card import Card
from everturn.sessions.index.name_lookup import is_of
from everturn.settings.program_files import program_home

MAX_SHOWN = 50
HEAD = ("ID", "AGE", "ROUNDS", "MSGS", "COST", "MODEL", "BRANCH", "STATE", "FOLDER", "TITLE")
RIGHT = frozenset({"AGE", "ROUNDS", "MSGS", "COST"})


def run_list(asked: Arguments) -> int:
    everywhere = "--all" in asked
    folder = find_folder()
    cards = load_cards(program_home(os.environ))
    short = shorten_ids(cards)
    shown = [card for card in cards if everywhere or is_of(card, str(folder))]
    most = asked.get(LIMIT.name)
    if "--ids" in asked:
        say("".join(f"{card.id}\n" for card in shown))
    elif JSON.name in asked:
        mask = build_mask()
        say_json([encode_card(card, short[card.id], mask) for card in (shown[:most] if most else shown)])
    elif shown:
        say(render_list(shown, short, everywhere=everywhere, most=MAX_SHOWN if most is None else most))
    else:
        elsewhere = f" ({len(cards)} in other folders: everturn sessions --all)" if cards and not everywhere else ""
        say(f"There is no session {'yet' if everywhere else f'of {spell_path(str(folder))} yet'}{elsewhere}.\n")
    return Exit.OK


def render_list(cards: list[Card], short: dict[str, str], *, everywhere: bool, most: int) -> str:
    """`most` 0 = all."""
    mask, now = build_mask(), time.time()
    rows = [
        (
            short[card.id],
            render_age(now - card.written),
            f"{card.told.turns:,}",
            f"{card.told.messages:,}",
            render_cost(card),
            make_line(card.told.model).removeprefix("claude-"),
            make_line(card.told.branch)[:24],
            card.state,
            shorten_folder(card.told.folder) if everywhere else "",
            render_title(card, mask),
        )
        for card in (cards[:most] if most else cards)
    ]
    more = f"… and {len(cards) - most:,} more (--limit 0 shows all)\n" if most and len(cards) > most else ""
    return render_table(HEAD, rows, right=RIGHT, width=find_width()) + more


def shorten_folder(folder: str) -> str:
    """`~/code/thing`; of a long one the end."""
    user, path = os.environ.get("HOME", ""), Path(folder)
    shown = f"~/{path.relative_to(user)}" if user and path.is_relative_to(user) else folder
    shown = make_line(shown)
    return shown if len(shown) <= 30 else f"…{shown[-29:]}"  # noqa: PLR2004 (a column)


def run_rebuild(_asked: Arguments) -> int:
    """The index anew, from the files alone."""
    with open_index(program_home(os.environ)) as index:
        count = index.rebuild()
    say(f"The index was built again from {render_count(count, 'session')}.\n")
    return Exit.OK
