"""Journals without a file: of sessions that are not kept, and of new ones whose disk cannot be written yet."""

import time
from collections.abc import Callable
from pathlib import Path

from everturn.core.errors import JournalError
from everturn.core.records import Record
from everturn.ports.store import Replay
from everturn.sessions.journal import FileJournal
from everturn.sessions.lines import LineEncoder
from everturn.sessions.replay import fold_lines


class MemoryJournal:
    """Keeps the encoded lines, not the records: what is replayed went through the same door as on disk."""

    path = None

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.warnings: tuple[str, ...] = ()
        self.lines: list[bytes] = []
        self._encoder = LineEncoder(session_id)
        self._closed = False

    @property
    def is_kept(self) -> bool:
        return False

    def append(self, record: Record) -> None:
        if self._closed:
            raise JournalError(f"Session {self.session_id} is closed.")
        self.lines.append(self._encoder.encode(record))

    async def sync(self, *, end: bool = False) -> None:  # noqa: ARG002 (the port's name; without a disk nothing waits)
        if self._closed:
            raise JournalError(f"Session {self.session_id} is closed.")

    def replay(self) -> Replay:
        replay, self.warnings = fold_lines(self.session_id, self.lines)
        return replay

    def close(self) -> None:
        self._closed = True


_PAUSE_S = 1.0
"""Between two tries: a record is written many times a second, and a home that is read-only stays so."""


class WaitingJournal:
    """Raises like a journal whose disk is full, until `open_file` gives a file; then it is that file's journal."""

    def __init__(self, session_id: str, open_file: Callable[[], FileJournal]) -> None:
        self.session_id = session_id
        self._open_file = open_file
        self._file: FileJournal | None = None
        self._held: list[Record] = []
        self._next_try_s = 0.0
        self._trouble = ""
        self._closed = False

    @property
    def path(self) -> Path | None:
        """Of the file, once there is one."""
        return self._file.path if self._file is not None else None

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._file.warnings if self._file is not None else ()

    @property
    def is_kept(self) -> bool:
        return self._file is not None

    def append(self, record: Record) -> None:
        if self._closed:
            raise JournalError(f"Session {self.session_id} is closed.")
        if self._file is not None:
            self._file.append(record)
            return
        self._held.append(record)
        if time.monotonic() < self._next_try_s:
            raise JournalError(self._trouble)
        self._move()

    async def sync(self, *, end: bool = False) -> None:
        if self._closed:
            raise JournalError(f"Session {self.session_id} is closed.")
        file = self._file or self._move()
        await file.sync(end=end)

    def replay(self) -> Replay:
        if self._file is not None:
            return self._file.replay()
        memory = MemoryJournal(self.session_id)
        for record in self._held:
            memory.append(record)
        return memory.replay()

    def close(self) -> None:
        self._closed = True
        if self._file is not None:
            self._file.close()

    def _move(self) -> FileJournal:
        """Everything that was held goes to the file, in order; what the disk does not take, the file holds."""
        self._next_try_s = time.monotonic() + _PAUSE_S
        try:
            self._file = file = self._open_file()
        except JournalError as error:
            self._trouble = f"{error} It is kept in memory, and saved as soon as that is possible."
            raise JournalError(self._trouble) from error
        held, self._held, refused = self._held, [], None
        for record in held:
            try:
                file.append(record)
            except JournalError as error:
                refused = error
        if refused is not None:
            raise refused
        return file
