"""Finding a session: the newest one of a folder by a look at its files, any other by what the index knows."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from everturn.cli.console import complain
from everturn.cli.errors import UnknownSessionError, UsageError
from everturn.cli.folder import find_folder
from everturn.core.spelled_paths import spell_path
from everturn.sessions.places import find_session_file, is_session_id
from everturn.sessions.session_files import find_newest_file, stream_newest_first
from everturn.settings.program_files import program_home

if TYPE_CHECKING:
    from everturn.core.records import Record
    from everturn.sessions.index.card import Card
    from everturn.sessions.index.index import SessionIndex

MAX_NEAR = 3
MAX_RECENT = 5


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
    from everturn.sessions.index.name_lookup import judge_name

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
    from everturn.sessions.index.name_lookup import is_of

    recent = [card for card in load_cards(home) if is_of(card, str(folder)) and card.told.messages][:MAX_RECENT]
    if not recent:
        return f": give its id or its title (there is none in {spell_path(str(folder))} yet)"
    return f": give its id or its title, or use --continue for the newest:\n{render_candidates(recent)}"


@contextmanager
def open_index(home: Path) -> "Iterator[SessionIndex]":
    """What is wrong with it is said and does no harm; so is a session that takes long to read."""
    from everturn.sessions.index.index import SessionIndex
    from everturn.sessions.line_reader import tell_slow_reading

    tell_slow_reading(complain)
    with SessionIndex(home, tell=complain) as index:
        yield index
        for notice in index.notices:
            complain(notice)


def load_cards(home: Path) -> "list[Card]":
    """Newest first."""
    with open_index(home) as index:
        return index.cards()


def find_file(command: str, names: Sequence[str]) -> Path:
    """The session that `everturn cost` and `everturn cache` are asked about: without a name the newest of this folder.

    Raises `UsageError`.
    """
    home, folder = program_home(os.environ), find_folder()
    if names:
        return find_session(home, folder, names[0])
    try:
        return find_session(home, folder, find_newest(home, folder))
    except UsageError:
        raise UsageError(
            f"there is no session of {spell_path(str(folder))} yet", see=f"everturn {command} --help"
        ) from None


def load_records(path: Path) -> "Iterator[Record]":
    """Broken lines are passed over, as in a replay. Raises `JournalError` for a session that cannot be read."""
    from everturn.sessions.line_reader import tell_slow_reading
    from everturn.sessions.session_files import stream_told

    tell_slow_reading(complain)
    for told, _ in stream_told(path, messages=False):
        if told.record is not None:
            yield told.record


def check_new(home: Path, session_id: str) -> None:
    if find_session_file(home, session_id) is not None:
        raise UsageError(f"there is a session {session_id} already; go on with it by --resume {session_id}")


def find_near(home: Path, session_id: str) -> list[str]:
    import difflib

    known = [path.stem for path in stream_newest_first(home)]
    begun = [name for name in known if name.startswith(session_id)]
    return begun[:MAX_NEAR] or difflib.get_close_matches(session_id, known, n=MAX_NEAR)
