"""The session file: records in, one line each, and the same session out after any crash."""

import asyncio
import errno
import fcntl
import io
import json
import math
import os
import re
import stat
import time
from pathlib import Path

from everturn.core.errors import JournalError
from everturn.core.records import Record
from everturn.ports.store import Replay
from everturn.sessions.replay import encode_line, find_newer_format, fold_lines

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_flush_content = getattr(os, "fdatasync", os.fsync)
"""macOS has no fdatasync."""
_QUICK_S = 0.005
"""Where the last flush took less, the next is done in place: handing it to a thread and back costs as much again."""


def is_session_id(text: str) -> bool:
    """Safe as a file name on every system."""
    return _ID.fullmatch(text) is not None


def session_file(home: Path, session_id: str) -> Path:
    if not is_session_id(session_id):
        raise JournalError(
            f"{session_id[:80]!r} is not a session id: it may hold letters, digits, dots, dashes and underscores, "
            "and starts with a letter or a digit."
        )
    return home / "sessions" / f"{session_id}.jsonl"


def make_sessions_folder(home: Path) -> Path:
    """Readable by its owner only. Raises `JournalError` where there can be none: then keep the session in memory."""
    folder = home / "sessions"
    try:
        home.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        folder.mkdir(FOLDER_MODE, exist_ok=True)
        if stat.S_IMODE(folder.stat().st_mode) & ~FOLDER_MODE:
            folder.chmod(FOLDER_MODE)
    except OSError as error:
        raise JournalError(f"Sessions cannot be kept in {folder}: {error.strerror}.") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise JournalError(f"Sessions cannot be kept in {folder}: it is not writable.")
    return folder


class FileJournal:
    """One engine writes: the file is locked from opening to closing.

    A line that was cut by a crash is removed at opening, and only the last can be one; a broken line elsewhere is
    skipped and kept. `warnings` tells of both. After a write that failed, none is tried again: a record that is
    missing in the middle would be worse than a session that ends here.
    """

    def __init__(self, home: Path, session_id: str, *, must_exist: bool = False) -> None:
        self.session_id = session_id
        self.path = session_file(home, session_id)
        self._failure: str | None = None
        self._unsynced = True
        self._entry_synced = False
        self._flush_s = math.inf
        self._tail: tuple[str, ...] = ()
        self.warnings: tuple[str, ...] = ()
        make_sessions_folder(home)
        self._descriptor = self._open(must_exist)
        try:
            self._lock()
            self._check_and_repair()
        except BaseException:
            os.close(self._descriptor)
            raise
        self.warnings = self._tail

    def append(self, record: Record) -> None:
        if self._failure is not None:
            raise JournalError(self._failure)
        line = encode_line(record)
        end = -1
        try:
            end = os.fstat(self._descriptor).st_size
            self._write(line)
        except OSError as error:
            self._fail(error)
            self._cut(end)
            raise JournalError(self._failure or "") from error
        self._unsynced = True

    async def sync(self) -> None:
        if self._failure is not None:
            raise JournalError(self._failure)
        if not self._unsynced:
            return
        # Cleared first: a record that is appended while the disk works needs a flush of its own.
        self._unsynced = False
        try:
            if self._flush_s < _QUICK_S:
                self._flush()
            else:
                await asyncio.to_thread(self._flush)
        except OSError as error:
            self._fail(error)
            raise JournalError(self._failure or "") from error
        except BaseException:
            self._unsynced = True
            raise

    def replay(self) -> Replay:
        replay, skipped = fold_lines(self.session_id, split_lines(self._read()))
        self.warnings = self._tail + skipped
        return replay

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            self._failure = f"Session {self.session_id} is closed."

    def _open(self, must_exist: bool) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | (0 if must_exist else os.O_CREAT)
        try:
            descriptor = os.open(self.path, flags, FILE_MODE)
        except FileNotFoundError as error:
            raise JournalError(f"There is no session {self.session_id} in {self.path.parent}.") from error
        except OSError as error:
            raise JournalError(f"Session file {self.path} cannot be opened: {error.strerror}.") from error
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            os.close(descriptor)
            raise JournalError(f"Session file {self.path} is not a regular file.")
        return descriptor

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalError(f"Session {self.session_id} is open elsewhere; close it there first.") from error
        except OSError as error:
            # Some network file systems know no locks: a session without one beats no session.
            if error.errno not in {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP}:
                raise JournalError(f"Session file {self.path} cannot be locked: {error.strerror}.") from error

    def _check_and_repair(self) -> None:
        content = self._read()
        lines = split_lines(content)
        if (newer := find_newer_format(lines)) is not None:
            raise JournalError(
                f"Session {self.session_id} was written by a later version of Everturn (format {newer}); "
                "it was left untouched. Update Everturn to open it."
            )
        try:
            if stat.S_IMODE(os.fstat(self._descriptor).st_mode) & ~FILE_MODE:
                os.fchmod(self._descriptor, FILE_MODE)
            if lines and is_torn(lines[-1]):
                os.ftruncate(self._descriptor, len(content) - len(lines[-1]))
                size = len(lines[-1])
                self._tail = (f"The last line was incomplete and was removed ({size:,} bytes).",)
        except OSError as error:
            raise JournalError(f"Session file {self.path} cannot be repaired: {error.strerror}.") from error

    def _flush(self) -> None:
        """The first time the file's name too: it must survive a power cut as well as its content."""
        began = time.monotonic()
        _flush_content(self._descriptor)
        if not self._entry_synced:
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
            self._entry_synced = True
        self._flush_s = time.monotonic() - began

    def _read(self) -> bytes:
        try:
            size = os.fstat(self._descriptor).st_size
            pieces: list[bytes] = []
            at = 0
            while at < size and (piece := os.pread(self._descriptor, size - at, at)):
                pieces.append(piece)
                at += len(piece)
        except OSError as error:
            raise JournalError(
                self._failure or f"Session file {self.path} cannot be read: {error.strerror}."
            ) from error
        return b"".join(pieces)

    def _write(self, line: bytes) -> None:
        """One write in all but rare cases; a full disk may take a part of the line and refuse the rest."""
        written = os.write(self._descriptor, line)
        while written < len(line):
            written += os.write(self._descriptor, line[written:])

    def _fail(self, error: OSError) -> None:
        self._failure = (
            f"Session file {self.path} cannot be written: {error.strerror}. The session is saved up to here."
        )

    def _cut(self, end: int) -> None:
        """Takes back a part of a line. Where even that fails, the next opening does it."""
        try:
            if os.fstat(self._descriptor).st_size > end >= 0:
                os.ftruncate(self._descriptor, end)
        except OSError:
            return


def split_lines(content: bytes) -> list[bytes]:
    """With their ends. Only a newline ends one: a carriage return may stand in a foreign line."""
    return io.BytesIO(content).readlines()


def is_torn(line: bytes) -> bool:
    """Cut by a crash, or never written to the disk: no end, or no JSON. A blank line is merely foreign."""
    if not line.endswith(b"\n"):
        return True
    try:
        json.loads(line)
    except RecursionError:
        return False
    except ValueError:
        return bool(line.strip())
    return False
