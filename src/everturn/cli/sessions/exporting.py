"""`everturn sessions export`: a conversation as Markdown, HTML or JSON, on standard output or in a file of its own."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from everturn.cli.run import find_folder
from everturn.cli.sessions.display import build_mask, encode_card, say, shorten_ids
from everturn.cli.sessions.finding import find_card, load_cards
from everturn.cli.sessions.showing import check_readable, plan_facts
from everturn.cli.sessions.words import SEE, Words, take_one
from everturn.cli.usage import UsageError
from everturn.compose.cli import program_home
from everturn.core.state import Exit
from everturn.ports.disk import FILE_MODE
from everturn.sessions.export.telling import stream_spoken
from everturn.sessions.index.card import Card
from everturn.settings.checks import nearest

FORMATS = ("markdown", "html", "json")
SUFFIXES = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".json": "json"}


def run_export(words: Words) -> int:
    name = take_one(words, "export", "SESSION [--format markdown|html|json] [--output FILE]")
    output = words.flags.get("--output", "-")
    format_ = words.flags.get("--format") or SUFFIXES.get(Path(output).suffix.lower(), "markdown")
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
        _save(Path(output).expanduser(), pieces, replace="--force" in words)
        say(
            f"Session {card.id} was exported to {output}. Keys that were recognised are masked; look before you share.\n"
        )
    return Exit.OK


def stream_export(card: Card, format_: str, short: str) -> Iterator[str]:
    mask = build_mask()
    spoken = stream_spoken(Path(card.path), mask=mask)
    match format_:
        case "html":
            from everturn.sessions.export.page import render_page

            return render_page(plan_facts(card), spoken)
        case "json":
            from everturn.sessions.export.document import render_document

            return render_document({**encode_card(card, short, mask), "path": None}, spoken)
        case _:
            from everturn.sessions.export.markdown import render_markdown

            return render_markdown(plan_facts(card), spoken)


def _print(pieces: Iterator[str]) -> None:
    """Always UTF-8: a file is what it usually becomes."""
    say("")
    for piece in pieces:
        sys.stdout.buffer.write(piece.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def _save(path: Path, pieces: Iterator[str], *, replace: bool) -> None:
    """Whole or not at all, and for its owner alone: it may hold more secrets than can be recognised."""
    if path.exists() and not replace:
        raise UsageError(f"{path} is there already; --force replaces it", see=SEE)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece.encode("utf-8", "replace"))
        unfinished.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            unfinished.unlink()
