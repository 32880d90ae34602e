"""`everturn sessions delete` and `prune`: shown first, removed on a word, and never what is in use."""

import os
import re
import sys
import time
from pathlib import Path

from everturn.cli.console import complain
from everturn.cli.errors import UsageError
from everturn.cli.folder import find_folder
from everturn.cli.sessions.display import (
    build_mask,
    encode_card,
    find_width,
    render_age,
    render_size,
    render_table,
    render_title,
    say,
    say_json,
    shorten_ids,
)
from everturn.cli.sessions.lookup import find_card, load_cards
from everturn.cli.syntax import JSON, Arguments
from everturn.core.errors import JournalError
from everturn.core.state import Exit
from everturn.frontends.figures import render_count
from everturn.sessions.index.card import Card
from everturn.sessions.index.removal import Retention, SizedSession, load_weights, plan_removal, remove_session
from everturn.settings.program_files import load_user_settings, program_home

SEE = "everturn sessions prune --help"
DAY_S = 86_400
PERIOD = "cleanupPeriodDays"
HEAD = ("ID", "AGE", "SIZE", "TITLE")
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*(h|d|w|y)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_SECONDS = {"h": 3_600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}


def run_delete(asked: Arguments) -> int:
    home, folder = program_home(os.environ), find_folder()
    cards = load_cards(home)
    chosen = list(dict.fromkeys(find_card(cards, home, folder, name) for name in asked.words))
    for card in chosen:
        _check_removable(card)
    weighed = load_weights(chosen)
    if "--yes" not in asked and not _agrees(weighed, shorten_ids(cards)):
        say("Nothing was removed.\n")
        return Exit.ERROR
    return _remove(weighed)


def run_prune(asked: Arguments) -> int:
    """Without `--yes` only shows what would go."""
    home = program_home(os.environ)
    cards = load_cards(home)
    chosen = plan_removal(load_weights(cards), _plan_retention(asked), time.time())
    does_it, short = "--yes" in asked, shorten_ids(cards)
    if JSON.name in asked:
        mask = build_mask()
        sessions = [{**encode_card(each.card, short[each.card.id], mask), "size_bytes": each.size} for each in chosen]
        code = _remove(chosen, quiet=True) if does_it else Exit.OK
        say_json({"removed": does_it, "size_bytes": sum(each.size for each in chosen), "sessions": sessions})
        return code
    if not chosen:
        say("No session needs to go.\n")
        return Exit.OK
    say(_render(chosen, short))
    if does_it:
        return _remove(chosen)
    say(f"{_render_sum(chosen)} would be removed. Nothing was removed yet; --yes does it.\n")
    return Exit.OK


def parse_age(flag: str, text: str) -> float:
    """Seconds. Raises `UsageError`."""
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise UsageError(
            f"{flag} must be a number of hours, days, weeks or years, such as 30d, not {text[:40]!r}", see=SEE
        )
    return float(found[1]) * _SECONDS[found[2]]


def parse_size(flag: str, text: str) -> int:
    """Bytes: 1 GB is 10⁹ of them, 1 GiB is 2³⁰. Raises `UsageError`."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{flag} must be a size such as 500MB or 1.5GB, not {text[:40]!r}", see=SEE)
    power = " kmgt".index(found[2].lower() or " ")
    return int(float(found[1]) * (1_024 if found[3] else 1_000) ** power)


def _plan_retention(asked: Arguments) -> Retention:
    older = parse_age("--older-than", asked.text("--older-than")) if "--older-than" in asked else None
    larger = parse_size("--larger-than", asked.text("--larger-than")) if "--larger-than" in asked else None
    total = parse_size("--keep-total", asked.text("--keep-total")) if "--keep-total" in asked else None
    if older is None and larger is None and total is None:
        days = load_user_settings(os.environ).found.get(PERIOD)
        if days is None:
            raise UsageError(
                f"say which: --older-than 30d, --larger-than 1GB, --keep-total 10GB, or set {PERIOD}", see=SEE
            )
        older = float(days.value) * DAY_S
    return Retention(older_than_s=older, larger_than=larger, keep_total=total)


def _check_removable(card: Card) -> None:
    if card.opened:
        raise JournalError(f"Session {card.id} is open; close it first.")
    if card.told.newer:
        raise JournalError(f"Session {card.id} was written by a later version of Everturn; remove it with that.")
    if not card.told.ours:
        raise JournalError(f"Session {card.id} was written by another program, which may still need {card.path}.")


def _agrees(chosen: list[SizedSession], short: dict[str, str]) -> bool:
    """Raises `UsageError` where there is nobody to ask."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            "removing a session cannot be undone; add --yes to do it", see="everturn sessions delete --help"
        )
    say(_render(chosen, short))
    say(f"Remove {_render_sum(chosen)} for good? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _remove(chosen: list[SizedSession], *, quiet: bool = False) -> int:
    """One that cannot go does not keep the others."""
    gone: list[SizedSession] = []
    for each in chosen:
        try:
            remove_session(Path(each.card.path))
        except JournalError as error:
            complain(str(error))
        else:
            gone.append(each)
    if not quiet:
        say(f"{_render_sum(gone)} removed.\n" if gone else "Nothing was removed.\n")
    return Exit.OK if len(gone) == len(chosen) else Exit.ERROR


def _render(chosen: list[SizedSession], short: dict[str, str]) -> str:
    mask, now = build_mask(), time.time()
    rows = [
        (
            short[each.card.id],
            render_age(now - each.card.written),
            render_size(each.size),
            render_title(each.card, mask),
        )
        for each in chosen
    ]
    return render_table(HEAD, rows, right=frozenset({"AGE", "SIZE"}), width=find_width())


def _render_sum(chosen: list[SizedSession]) -> str:
    return f"{render_count(len(chosen), 'session')} ({render_size(sum(each.size for each in chosen))})"
