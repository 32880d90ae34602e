"""Finds a session by an id, the beginning of one, a title, or `latest`."""

from collections.abc import Callable, Sequence

import msgspec

from everturn.core.spelled_paths import spell_path
from everturn.sessions.index.card import Card

LATEST = "latest"


class NameMatch(msgspec.Struct, frozen=True, kw_only=True):
    """One card: that is it. Several: it could be any of them. None: there is no such session."""

    cards: tuple[Card, ...] = ()
    by: str = ""
    """How the several were found, as the middle of a sentence: `begin with`, `are called`."""


def judge_name(cards: Sequence[Card], name: str, folder: str) -> NameMatch:
    """`cards` stand newest first. What is said more exactly wins; then what lies in this folder."""
    wanted = " ".join(name.split()).casefold()
    ways: tuple[tuple[str, Callable[[Card], bool]], ...] = (
        ("have the id", lambda card: card.id == name),
        ("are called", lambda card: card.title.casefold() == wanted),
        ("begin with", lambda card: card.id.startswith(name)),
        ("have a title that begins with", lambda card: card.title.casefold().startswith(wanted)),
        ("have a title with", lambda card: wanted in card.title.casefold()),
    )
    if not wanted:
        return NameMatch()
    if name == LATEST and not any(card.id == LATEST for card in cards):
        return NameMatch(cards=tuple(card for card in cards if is_of(card, folder) and card.told.messages)[:1])
    for by, fits in ways:
        found = [card for card in cards if fits(card)]
        here = [card for card in found if is_of(card, folder)]
        # An id that stands for two files is the one of this folder, as for the engine.
        if len(found) > 1 and len(here) == 1 and by in {"have the id", "are called"}:
            found = here
        if found:
            return NameMatch(cards=tuple(found), by=by)
    return NameMatch()


def is_of(card: Card, folder: str) -> bool:
    return card.told.folder == spell_path(folder)
