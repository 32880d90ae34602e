"""`everturn sessions rename` and `tag`: a word at the end of the session's file."""

import os
from pathlib import Path

from everturn.cli.folder import find_folder
from everturn.cli.sessions.display import say
from everturn.cli.sessions.finding import find_card, load_cards
from everturn.cli.sessions.showing import check_readable
from everturn.cli.sessions.words import SEE
from everturn.cli.usage import UsageError
from everturn.cli.words import Words
from everturn.compose.cli import program_home
from everturn.core.state import Exit
from everturn.sessions.index.annotating import append_tag, append_title
from everturn.sessions.index.card import Card


def run_rename(words: Words) -> int:
    card, title = _take(words, "rename SESSION TITLE")
    if not title:
        raise UsageError("a title must say something", see=SEE)
    append_title(Path(card.path), title)
    say(f"Session {card.id} is called {title!r} now.\n")
    return Exit.OK


def run_tag(words: Words) -> int:
    is_cleared = "--clear" in words
    if is_cleared == (len(words.names) > 1):
        raise UsageError("this is how it is written: everturn sessions tag SESSION TAG, or --clear", see=SEE)
    card, tag = _take(words, "tag SESSION --clear" if is_cleared else "tag SESSION TAG", least=1 if is_cleared else 2)
    append_tag(Path(card.path), tag)
    say(f"Session {card.id} has {f'the tag {tag!r}' if tag else 'no tag'} now.\n")
    return Exit.OK


def _take(words: Words, form: str, *, least: int = 2) -> tuple[Card, str]:
    """Of several words behind the session, one text."""
    if len(words.names) < least:
        raise UsageError(f"this is how it is written: everturn sessions {form}", see=SEE)
    home = program_home(os.environ)
    card = find_card(load_cards(home), home, find_folder(), words.names[0])
    check_readable(card)
    return card, " ".join(" ".join(words.names[1:]).split())
