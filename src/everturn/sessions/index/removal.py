"""Removes sessions: named ones, or those that are too old or too large; each whole, and none that is open."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from everturn.core.errors import JournalError
from everturn.ports.disk import Disk
from everturn.sessions.disk import LocalDisk
from everturn.sessions.index.card import Card


class SizedSession(msgspec.Struct, frozen=True, kw_only=True):
    card: Card
    size: int
    """In bytes, with everything that lies in the session's own folder."""


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """A session goes when it is older and larger than what is given here. None = whatever its age or size."""

    older_than_s: float | None = None
    larger_than: int | None = None
    keep_total: int | None = None
    """Then the oldest go until all that stay take no more than this."""


def session_folder(path: Path) -> Path:
    """Of its media, its results and its agents."""
    return path.parent / path.stem


def load_weights(cards: Sequence[Card]) -> list[SizedSession]:
    return [SizedSession(card=card, size=card.size + _weigh(session_folder(Path(card.path)))) for card in cards]


def plan_removal(sessions: Sequence[SizedSession], retention: Retention, now: float) -> list[SizedSession]:
    """The oldest first. Never one that is open, of another program or of a later Everturn."""
    removable = sorted((each for each in sessions if is_removable(each.card)), key=lambda each: each.card.written)
    has_rule = retention.older_than_s is not None or retention.larger_than is not None
    chosen = [each for each in removable if has_rule and _is_due(each, retention, now)]
    if retention.keep_total is not None:
        left = sum(each.size for each in sessions) - sum(each.size for each in chosen)
        for each in removable:
            if left <= retention.keep_total:
                break
            if each not in chosen:
                chosen.append(each)
                left -= each.size
    return sorted(chosen, key=lambda each: each.card.written)


def is_removable(card: Card) -> bool:
    return card.told.ours and not card.opened and not card.told.newer


def remove_session(path: Path, *, disk: Disk | None = None) -> None:
    """The file first: whatever happens then, no session is left that has lost its media. Raises `JournalError`."""
    disk = disk or LocalDisk()
    try:
        handle = disk.open(path, create=False)
        try:
            if not disk.lock(handle):
                raise JournalError(f"Session {path.stem} is open elsewhere; close it there first.")
            disk.unlink(path)
        finally:
            disk.close(handle)
        folder = session_folder(path)
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)
    except OSError as error:
        raise JournalError(
            f"Session {path.stem} cannot be removed whole: {error.filename}: {error.strerror}."
        ) from error


def _is_due(each: SizedSession, retention: Retention, now: float) -> bool:
    old = retention.older_than_s is None or now - each.card.written > retention.older_than_s
    large = retention.larger_than is None or each.size > retention.larger_than
    return old and large


def _weigh(folder: Path) -> int:
    """Links count as themselves."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(f"{parent}/{name}").st_size
            except OSError:
                continue
    return total
