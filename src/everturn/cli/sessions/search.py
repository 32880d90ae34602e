"""`everturn sessions search`: what was said, and in which session."""

import os
import time
from typing import Any

from everturn.cli.errors import UsageError
from everturn.cli.folder import find_folder
from everturn.cli.sessions.commands import LIMIT
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
from everturn.cli.sessions.lookup import open_index
from everturn.cli.syntax import JSON, Arguments
from everturn.core.state import Exit
from everturn.frontends.figures import render_count
from everturn.frontends.flow import cut_line
from everturn.frontends.harmless import make_line
from everturn.sessions.index.index import FoundSession
from everturn.settings.program_files import program_home

MAX_SESSIONS = 20
MAX_LINES = 3


def run_search(asked: Arguments) -> int:
    """Exit code 1 where nothing is found, as programs that search do."""
    query = " ".join(f'"{name}"' if " " in name and '"' not in name else name for name in asked.words)
    if not query.strip():
        raise UsageError("there are no words to search for", see="everturn sessions search --help")
    folder = "" if "--all" in asked else str(find_folder())
    most = asked.get(LIMIT.name) if LIMIT.name in asked else MAX_SESSIONS
    with open_index(program_home(os.environ)) as index:
        short = shorten_ids(index.cards())
        findings = index.search(query, folder=folder, most=most)
    if JSON.name in asked:
        say_json([encode_found(found, short[found.card.id]) for found in findings.found])
    elif findings.found:
        say("\n".join(render_found(found, short[found.card.id], time.time()) for found in findings.found))
        if (more := findings.sessions - len(findings.found)) > 0:
            say(f"\n… and {render_count(more, 'more session')} (--limit 0 shows all)\n")
    else:
        place = f"a session of {folder} (--all looks everywhere)" if folder else "any session"
        say(f"{query} was not found in {place}.\n")
    return Exit.OK if findings.found else Exit.ERROR


def render_found(found: FoundSession, short: str, now: float) -> str:
    mask, width = build_mask(), find_width()
    head = f"{short}  {render_age(now - found.card.written)}  {render_title(found.card, mask)}"
    lines = [f"  {hit.speaker + ':':<9}{mask(make_line(hit.snippet))}" for hit in found.hits[:MAX_LINES]]
    more = [f"  … {found.count - MAX_LINES:,} more"] if found.count > MAX_LINES else []
    return "".join(f"{cut_line(line, width)}\n" for line in (head, *lines, *more))


def encode_found(found: FoundSession, short: str) -> dict[str, Any]:
    mask = build_mask()
    hits = [{"message": hit.message, "speaker": hit.speaker, "snippet": mask(hit.snippet)} for hit in found.hits]
    return {**encode_card(found.card, short, mask), "count": found.count, "hits": hits}
