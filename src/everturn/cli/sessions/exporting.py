"""`everturn sessions export`: a conversation as Markdown, HTML or JSON, on standard output or in a file of its own."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from everturn.cli.folder import find_folder
from everturn.cli.sessions.display import build_mask, encode_card, say, shorten_ids
from everturn.cli.sessions.finding import find_card, load_cards
from everturn.cli.sessions.showing import check_readable, plan_facts
from everturn.cli.sessions.words import SEE, take_one
from everturn.cli.usage import UsageError
from everturn.cli.words import Words
from everturn.compose.cli import program_home
from everturn.core.state import Exit
from everturn.sessions.export.saving import FORMATS, find_format, render_export, save_export
from everturn.sessions.export.telling import stream_spoken
from everturn.sessions.index.card import Card
from everturn.settings.checks import nearest


def run_export(words: Words) -> int:
    name = take_one(words, "export", "SESSION [--format markdown|html|json] [--output FILE]")
    output = words.last("--output") or "-"
    format_ = words.last("--format") or find_format(output)
    if format_ not in FORMATS:
        raise UsageError(
            f"--format must be one of {', '.join(FORMATS)}, not {format_[:40]!r}{nearest(format_, FORMATS)}", see=SEE
        )
    home = program_home(os.environ)
    cards = load_cards(home)
    card = find_card(cards, home, find_folder(), name)
    check_readable(card)
    pieces = stream_export(card, format_, shorten_ids(cards)[card.id])
    if output == "-":
        _print(pieces)
    else:
        path = Path(output).expanduser()
        if path.exists() and "--force" not in words:
            raise UsageError(f"{path} is there already; --force replaces it", see=SEE)
        save_export(path, pieces, replace=True)
        say(
            f"Session {card.id} was exported to {output}. Keys that were recognised are masked; look before you share.\n"
        )
    return Exit.OK


def stream_export(card: Card, format_: str, short: str) -> Iterator[str]:
    mask = build_mask()
    session = {**encode_card(card, short, mask), "path": None}
    return render_export(format_, plan_facts(card), session, stream_spoken(Path(card.path), mask=mask))


def _print(pieces: Iterator[str]) -> None:
    """Always UTF-8: a file is what it usually becomes."""
    say("")
    for piece in pieces:
        sys.stdout.buffer.write(piece.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
