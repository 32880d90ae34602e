"""The index of all sessions of a home: brought up to date, then asked. Errors of the index are handled here."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from everturn.core.errors import JournalError
from everturn.core.masking import mask_keys
from everturn.ports.disk import Disk
from everturn.sessions.disk import LocalDisk
from everturn.sessions.index.card import Card
from everturn.sessions.index.file_marks import load_marks
from everturn.sessions.index.name_lookup import is_of
from everturn.sessions.index.open_sessions import find_opened
from everturn.sessions.index.queries import is_spaced, parse_words, render_expression, render_patterns, render_snippet
from everturn.sessions.index.store import FileRow, Store, is_damage, remove_index
from everturn.sessions.index.update import STRETCH, follow_file, hear_more
from everturn.sessions.line_reader import ReadProgress

FILE_NAME = "index.sqlite"
MUCH = 100_000_000
"""Bytes whose reading somebody notices."""
MAX_HITS = 10
"""Messages of one session that a search shows."""
T = TypeVar("T")


class PassageHit(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    speaker: str
    """prompt, answer, result or summary."""
    snippet: str


class FoundSession(msgspec.Struct, frozen=True, kw_only=True):
    card: Card
    count: int
    """Messages that fit."""
    hits: tuple[PassageHit, ...]
    """The last of them first."""


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    sessions: int = 0
    found: tuple[FoundSession, ...] = ()
    """The session that was written last first."""


class SessionIndex:
    """Reads session files and changes none. Where its own file cannot be used, it does without: slower, and just as right.

    `notices` tells what happened to its file.
    """

    def __init__(
        self,
        home: Path,
        *,
        disk: Disk | None = None,
        full_text: bool = True,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`tell` hears of work that takes a while, before it begins."""
        self._tell = tell
        self.notices: list[str] = []
        self._home = home
        self._path = home / FILE_NAME
        self._disk: Disk = disk or LocalDisk()
        self._full_text = full_text
        self._store: Store | None = None
        self._rows: dict[str, FileRow] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def cards(self) -> list[Card]:
        """Of every session, the one that was written last first."""
        return self._ask(self._list)

    def search(self, query: str, *, folder: str = "", most: int = 0) -> Findings:
        """Sessions with a message that holds all words; of this folder only if there is one. `most` 0 = all of them."""
        words = parse_words(query)
        return self._ask(lambda store: self._search(store, words, folder, most)) if words else Findings()

    def rebuild(self) -> int:
        """From the files alone. Gives the number of sessions. Raises `JournalError` where the index cannot be replaced."""
        self.close()
        try:
            remove_index(self._path)
        except OSError as error:
            raise JournalError(f"The index {self._path} cannot be replaced: {error.strerror}.") from error

        def read(store: Store) -> int:
            cards = self._list(store)
            self._hear_all(store)
            return len(cards)

        return self._ask(read)

    def _ask(self, question: Callable[[Store], T]) -> T:
        try:
            return question(self._open())
        except sqlite3.Error as error:
            self.close()
            if not is_damage(error):
                return self._ask_in_memory(question, str(error))
            self.notices.append(f"The index {self._path} was damaged ({error}) and was built again.")
        except OSError as error:
            return self._ask_in_memory(question, error.strerror or str(error))
        try:
            remove_index(self._path)
            return question(self._open())
        except (sqlite3.Error, OSError) as error:
            self.close()
            return self._ask_in_memory(question, str(error))

    def _ask_in_memory(self, question: Callable[[Store], T], reason: str) -> T:
        self.notices.append(f"The index {self._path} cannot be used ({reason}); every session was read instead.")
        self._store = Store(None, full_text=self._full_text)
        return question(self._store)

    def _open(self) -> Store:
        if self._store is None:
            if not self._home.is_dir():
                # Where nothing was kept yet, nothing is made.
                self._store = Store(None, full_text=self._full_text)
            else:
                self._store = Store(self._path, full_text=self._full_text)
        return self._store

    def _list(self, store: Store) -> list[Card]:
        marks = load_marks(self._home)
        rows = store.files()
        gone = [path for path in rows if path not in marks]
        changed = [path for path, mark in marks.items() if path not in rows or rows[path].mark != mark]
        if gone or changed:
            new = {path: marks[path].size - (rows[path].place.offset if path in rows else 0) for path in changed}
            self._announce(sum(new.values()))
            progress, done = ReadProgress(sum(new.values())), 0
            for path, size in new.items():
                # A session that cannot be read is no session; the others are.
                with suppress(OSError):
                    follow_file(store, self._disk, self._home, path, marks[path])
                progress.note(done := done + size)
            with store.changing():
                for path in gone:
                    store.forget_file(path)
            rows = store.files()
        self._rows = {f"{self._home}/{path}": row for path, row in rows.items() if path in marks}
        opened = find_opened({path: row.mark.inode for path, row in self._rows.items()})
        cards = [
            Card(
                path=path,
                size=row.mark.size,
                written=row.mark.written / 1e9,
                told=row.told,
                opened=path in opened,
            )
            for path, row in self._rows.items()
        ]
        return sorted(cards, key=lambda card: (-card.written, card.id))

    def _announce(self, size: int) -> None:
        if size > MUCH:
            self._tell(
                f"Reading {size // 1_000_000:,} MB of sessions that are new to the index; next time it is quick."
            )

    def _search(self, store: Store, words: list[str], folder: str, most: int) -> Findings:
        cards = [card for card in self._list(store) if not folder or is_of(card, folder)]
        self._hear_all(store)
        is_indexed = store.full_text and is_spaced(words)
        numbers: dict[int, list[int]] = {}
        for file, number in (
            store.matching(render_expression(words)) if is_indexed else store.holding(render_patterns(words))
        ):
            numbers.setdefault(file, []).append(number)
        fitting = [(card, found) for card in cards if (found := numbers.get(self._rows[card.path].id))]
        return Findings(
            sessions=len(fitting),
            found=tuple(
                FoundSession(
                    card=card, count=len(found), hits=tuple(_hit(store, each, words) for each in found[:MAX_HITS])
                )
                for card, found in (fitting[:most] if most else fitting)
            ),
        )

    def _hear_all(self, store: Store) -> None:
        """Words are indexed when somebody searches, not when somebody lists: a list must not wait for them."""
        waiting = [row for row in self._rows.values() if row.heard_to < row.place.offset]
        size = sum(row.place.offset - row.heard_to for row in waiting)
        self._announce(size)
        progress, done = ReadProgress(size), 0
        for row in waiting:
            with suppress(OSError):
                while hear_more(store, self._disk, self._home, row.path):
                    progress.note(done := done + STRETCH)


def _hit(store: Store, number: int, words: list[str]) -> PassageHit:
    said = store.said(number)
    return PassageHit(message=said.message, speaker=said.speaker, snippet=render_snippet(mask_keys(said.text), words))
