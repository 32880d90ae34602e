"""Finding a session: the newest one of a folder by a look at its files, any other by what the index knows."""

from pathlib import Path
from typing import TYPE_CHECKING

from everturn.cli.console import complain
from everturn.cli.usage import UnknownSessionError, UsageError
from everturn.core.spelled_paths import spell_path
from everturn.sessions.newest import find_newest_file, stream_newest_first
from everturn.sessions.places import find_session_file, is_session_id

if TYPE_CHECKING:
    from everturn.sessions.index.card import Card

NEAR = 3
RECENT = 5


def find_newest(home: Path, folder: Path) -> str:
    """The session of this folder that was written last. Raises `UnknownSessionError`."""
    if (newest := find_newest_file(home, folder)) is None:
        raise UnknownSessionError(f"there is no session to continue in {spell_path(str(folder))}")
    return newest.stem


def find_session(home: Path, folder: Path, name: str) -> Path:
    """By its id, else by a beginning of it, a title or `latest`. Raises `UnknownSessionError` that names what could be meant."""
    if is_session_id(name) and (path := find_session_file(home, name, folder)) is not None:
        return path
    return Path(find_card(load_cards(home), home, folder, name).path)


def find_card(cards: "list[Card]", home: Path, folder: Path, name: str) -> "Card":
    """Raises `UnknownSessionError`."""
    from everturn.sessions.index.finding import judge_name

    meant = judge_name(cards, name, str(folder))
    if len(meant.cards) == 1:
        return meant.cards[0]
    if not meant.cards:
        near = find_near(home, name)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UnknownSessionError(f"there is no session {name} in {home}{hint}")
    from everturn.cli.sessions.display import render_candidates

    raise UnknownSessionError(f"{len(meant.cards)} sessions {meant.by} {name}:\n{render_candidates(meant.cards)}")


def render_recent(home: Path, folder: Path) -> str:
    """The newest ones of this folder as the end of a sentence; `--continue` for the newest of them."""
    from everturn.cli.sessions.display import render_candidates
    from everturn.sessions.index.finding import is_of

    recent = [card for card in load_cards(home) if is_of(card, str(folder)) and card.told.messages][:RECENT]
    if not recent:
        return f": give its id or its title (there is none in {spell_path(str(folder))} yet)"
    return f": give its id or its title, or use --continue for the newest:\n{render_candidates(recent)}"


def load_cards(home: Path) -> "list[Card]":
    """Newest first. What is wrong with the index is said and does no harm."""
    from everturn.sessions.index.index import SessionIndex

    with SessionIndex(home, tell=complain) as index:
        cards = index.cards()
        for notice in index.notices:
            complain(notice)
    return cards


def check_new(home: Path, session_id: str) -> None:
    if find_session_file(home, session_id) is not None:
        raise UsageError(f"there is a session {session_id} already; go on with it by --resume {session_id}")


def find_near(home: Path, session_id: str) -> list[str]:
    import difflib

    known = [path.stem for path in stream_newest_first(home)]
    begun = [name for name in known if name.startswith(session_id)]
    return begun[:NEAR] or difflib.get_close_matches(session_id, known, n=NEAR)
