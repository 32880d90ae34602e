"""`everturn sessions search`: what was said, and in which session."""

import os
import time
from typing import Any

from everturn.cli.console import complain
from everturn.cli.folder import find_folder
from everturn.cli.sessions.display import (
    build_mask,
    encode_card,
    find_width,
    render_age,
    render_title,
    say,
    say_json,
    shorten_ids,
)
from everturn.cli.sessions.words import SEE, parse_count
from everturn.cli.usage import UsageError
from everturn.cli.words import Words
from everturn.compose.cli import program_home
from everturn.core.state import Exit
from everturn.frontends.figures import render_count
from everturn.frontends.flow import cut_line
from everturn.frontends.harmless import make_line
from everturn.sessions.index.index import Found, SessionIndex

MOST_SESSIONS = 20
MOST_LINES = 3


def run_search(words: Words) -> int:
    """Exit code 1 where nothing is found, as programs that search do."""
    query = " ".join(f'"{name}"' if " " in name and '"' not in name else name for name in words.names)
    if not query.strip():
        raise UsageError("this is how it is written: everturn sessions search WORDS", see=SEE)
    folder = "" if "--all" in words else str(find_folder())
    most = parse_count("--limit", words.last("--limit")) if "--limit" in words else MOST_SESSIONS
    with SessionIndex(program_home(os.environ), tell=complain) as index:
        short = shorten_ids(index.cards())
        findings = index.search(query, folder=folder, most=most)
        for notice in index.notices:
            complain(notice)
    if "--json" in words:
        say_json([encode_found(found, short[found.card.id]) for found in findings.found])
    elif findings.found:
        say("\n".join(render_found(found, short[found.card.id], time.time()) for found in findings.found))
        if (more := findings.sessions - len(findings.found)) > 0:
            say(f"\n… and {render_count(more, 'more session')} (--limit 0 shows all)\n")
    else:
        place = f"a session of {folder} (--all looks everywhere)" if folder else "any session"
        say(f"{query} was not found in {place}.\n")
    return Exit.OK if findings.found else Exit.ERROR


def render_found(found: Found, short: str, now: float) -> str:
    mask, width = build_mask(), find_width()
    head = f"{short}  {render_age(now - found.card.written)}  {render_title(found.card, mask)}"
    lines = [f"  {hit.speaker + ':':<9}{mask(make_line(hit.snippet))}" for hit in found.hits[:MOST_LINES]]
    more = [f"  … {found.count - MOST_LINES:,} more"] if found.count > MOST_LINES else []
    return "".join(f"{cut_line(line, width)}\n" for line in (head, *lines, *more))


def encode_found(found: Found, short: str) -> dict[str, Any]:
    mask = build_mask()
    hits = [{"message": hit.message, "speaker": hit.speaker, "snippet": mask(hit.snippet)} for hit in found.hits]
    return {**encode_card(found.card, short, mask), "count": found.count, "hits": hits}
