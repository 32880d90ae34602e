"""`everturn sessions rename` and `tag`: a word at the end of the session's file."""

import os
from pathlib import Path

from everturn.cli.errors import UsageError
from everturn.cli.folder import find_folder
from everturn.cli.sessions.display import say
from everturn.cli.sessions.lookup import find_card, load_cards
from everturn.cli.sessions.show import check_readable
from everturn.cli.syntax import Arguments
from everturn.core.state import Exit
from everturn.sessions.index.card import Card
from everturn.sessions.index.titles import append_tag, append_title
from everturn.settings.program_files import program_home


def run_rename(asked: Arguments) -> int:
    card, title = _take(asked)
    if not title:
        raise UsageError("a title must say something", see="everturn sessions rename --help")
    append_title(Path(card.path), title)
    say(f"Session {card.id} is called {title!r} now.\n")
    return Exit.OK


def run_tag(asked: Arguments) -> int:
    is_cleared = "--clear" in asked
    if is_cleared == (len(asked.words) > 1):
        raise UsageError(
            "this is how it is written: everturn sessions tag SESSION TAG, or --clear",
            see="everturn sessions tag --help",
        )
    card, tag = _take(asked)
    append_tag(Path(card.path), tag)
    say(f"Session {card.id} has {f'the tag {tag!r}' if tag else 'no tag'} now.\n")
    return Exit.OK


def _take(asked: Arguments) -> tuple[Card, str]:
    """Of several words behind the session, one text."""
    home = program_home(os.environ)
    card = find_card(load_cards(home), home, find_folder(), asked.words[0])
    check_readable(card)
    return card, " ".join(" ".join(asked.words[1:]).split())
