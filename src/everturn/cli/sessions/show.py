"""`everturn sessions show` and `export`: what is known of a session and what was said in it, on the screen or as a file."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from everturn.cli.errors import UsageError
from everturn.cli.folder import find_folder
from everturn.cli.sessions.display import (
    build_mask,
    encode_card,
    render_cost,
    render_moment,
    render_size,
    say,
    say_json,
    shorten_ids,
)
from everturn.cli.sessions.lookup import find_card, load_cards
from everturn.cli.syntax import JSON, Arguments
from everturn.core.errors import JournalError
from everturn.core.messages import Kind
from everturn.core.state import Exit
from everturn.frontends.figures import render_count
from everturn.frontends.harmless import make_harmless, make_line
from everturn.sessions.export.markdown import SPEAKERS, render_time
from everturn.sessions.export.save import find_format, render_export, save_export
from everturn.sessions.export.spoken import SessionFacts, Spoken, find_result_text, render_call, stream_spoken
from everturn.sessions.index.card import Card
from everturn.settings.program_files import program_home

FIRST_LINES = 4
"""Of a tool's result; `export` has the rest."""


def run_show(asked: Arguments) -> int:
    [name] = asked.words
    home = program_home(os.environ)
    cards = load_cards(home)
    card = find_card(cards, home, find_folder(), name)
    mask = build_mask()
    if JSON.name in asked:
        say_json(encode_card(card, shorten_ids(cards)[card.id], mask))
        return Exit.OK
    facts = plan_facts(card)
    say(f"{facts.title}\n\n" + "".join(f"{label:<10}{value}\n" for label, value in facts.rows.items()))
    check_readable(card)
    for spoken in stream_spoken(Path(card.path), mask=mask):
        say("".join(render_spoken(spoken)))
    return Exit.OK


def check_readable(card: Card) -> None:
    if card.told.newer:
        raise JournalError(
            f"Session {card.id} was written by a later version of Everturn (format {card.told.newer}); "
            "it was left untouched. Update Everturn to read it."
        )


def plan_facts(card: Card) -> SessionFacts:
    """Only what is known."""
    told, mask = card.told, build_mask()
    rows = {
        "Session": card.id,
        "Folder": make_line(told.folder),
        "Branch": make_line(told.branch),
        "Model": make_line(told.model),
        "Began": make_line(told.began)[:19].replace("T", " "),
        "Written": render_moment(card.written)[:19].replace("T", " "),
        "Rounds": f"{told.turns:,} ({told.messages:,} messages)",
        "Cost": render_cost(card),
        "Size": render_size(card.size),
        "Tag": mask(make_line(told.tag)),
        "State": card.state,
    }
    title = mask(make_line(card.title)) or "Untitled session"
    return SessionFacts(id=card.id, title=title, rows={label: value for label, value in rows.items() if value})


def render_spoken(spoken: Spoken) -> Iterator[str]:
    if spoken.kind is not Kind.RESULTS:
        yield f"\n── {' · '.join(filter(None, (SPEAKERS.get(spoken.kind, spoken.kind), render_time(spoken.at))))}\n"
    for block in spoken.blocks:
        yield from _render_block(block)


def _render_block(block: dict[str, Any]) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(text)}:
            yield f"{make_harmless(text).strip()}\n"
        case {"type": "tool_use" | "server_tool_use"}:
            yield f"  > {make_line(render_call(block))}\n"
        case {"type": "tool_result"}:
            lines = make_harmless(find_result_text(block)).rstrip().strip("\n").splitlines()
            more = [f"… {render_count(len(lines) - FIRST_LINES, 'more line')}"] if len(lines) > FIRST_LINES else []
            yield "".join(f"    {line[:200]}\n" for line in (*lines[:FIRST_LINES], *more))
        case {"type": "image" | "document" as kind}:
            yield f"  [{kind}]\n"


def run_export(asked: Arguments) -> int:
    [name] = asked.words
    output = asked.text("--output") or "-"
    format_ = asked.text("--format") or find_format(output)
    home = program_home(os.environ)
    cards = load_cards(home)
    card = find_card(cards, home, find_folder(), name)
    check_readable(card)
    pieces = stream_export(card, format_, shorten_ids(cards)[card.id])
    if output == "-":
        _print_pieces(pieces)
    else:
        path = Path(output).expanduser()
        if path.exists() and "--force" not in asked:
            raise UsageError(f"{path} is there already; --force replaces it", see="everturn sessions export --help")
        save_export(path, pieces, replace=True)
        say(
            f"Session {card.id} was exported to {output}. Keys that were recognised are masked; look before you share.\n"
        )
    return Exit.OK


def stream_export(card: Card, format_: str, short: str) -> Iterator[str]:
    mask = build_mask()
    session = {**encode_card(card, short, mask), "path": None}
    return render_export(format_, plan_facts(card), session, stream_spoken(Path(card.path), mask=mask))


def _print_pieces(pieces: Iterator[str]) -> None:
    """Always UTF-8: a file is what it usually becomes."""
    say("")
    for piece in pieces:
        sys.stdout.buffer.write(piece.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
