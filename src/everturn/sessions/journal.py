"""The session file: records are written one line each, and read back after any crash."""

import asyncio
import contextlib
import math
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from everturn.core.errors import JournalError
from everturn.core.records import ContextsKept, MessageAdded, QueryBegan, Record, SessionOpened
from everturn.ports.disk import Disk
from everturn.ports.store import Replay
from everturn.sessions.blobs import BlobStore, put_media
from everturn.sessions.disk import LocalDisk
from everturn.sessions.lines import LineEncoder
from everturn.sessions.places import UnkeptError, blobs_folder, make_folder
from everturn.sessions.replay import ReplayFold
from everturn.sessions.session_files import load_fold
from everturn.workspace.git_branch import load_branch

SyncPolicy = Literal["always", "end", "off"]
MAX_UNKEPT = 1 << 26
"""Bytes kept in memory that no flush has confirmed; beyond it the oldest are dropped."""
_QUICK_S = 0.005
"""Seconds; where the last flush took less, the next is done on the event loop: a thread would cost as much again."""


class FileJournal:
    """One engine writes: the file is locked from opening to closing. Others may append whole lines, which are kept.

    A line that was cut by a crash is removed at opening, and only the last can be one; a broken line elsewhere is
    skipped and kept. `warnings` tells of both. Records that the disk does not take are held, in order, and written before
    the next that it takes. After a flush that failed the system may have dropped what it had taken: that is written again,
    in its place, before the next flush. A new session to which nothing was added leaves no file.
    """

    def __init__(
        self,
        path: Path,
        session_id: str,
        *,
        must_exist: bool = False,
        sync: SyncPolicy = "always",
        disk: Disk | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Raises `JournalError` for a session that is open elsewhere or of a later format, `UnkeptError` without a place."""
        self.session_id = session_id
        self.path = path
        self.warnings: tuple[str, ...] = ()
        self._removed: tuple[str, ...] = ()
        self._disk: Disk = disk or LocalDisk()
        self._policy = sync
        self._folder = Path()
        self._encoder = LineEncoder(session_id, now=now)
        self._blobs = BlobStore(self._disk, blobs_folder(path))
        self._held: deque[bytes] = deque()
        """Encoded lines that the disk has not taken yet."""
        self._torn = False
        """The file ends in an incomplete line that could not be removed."""
        self._closed = False
        self._unkept: deque[bytes] = deque()
        """Pieces that the disk took since the last confirmed flush."""
        self._unkept_size = self._let_go = 0
        """Bytes of these pieces, and the number of pieces before them."""
        self._failures = 0
        self._kept = 0
        """Offset of these pieces in the file, if nobody else wrote."""
        self._doubtful = False
        """A flush failed since the last confirmed one."""
        self._unsynced = True
        self._entry_synced = False
        self._flush_s = math.inf
        self._blank_size: int | None = None
        """Size of a new file that holds only its opening and its contexts, 0 before these are written; None for any other file."""
        self._fold: ReplayFold | None = None
        """The state of the session as read at opening; None once records were added that it does not include."""
        if not must_exist:
            make_folder(self._disk, path.parent)
        self._handle = self._open(must_exist)
        try:
            self._take_over()
        except BaseException:
            self._disk.close(self._handle)
            raise

    @property
    def is_kept(self) -> bool:
        return True

    def append(self, record: Record) -> None:
        if self._closed:
            raise JournalError(f"Session {self.session_id} is closed.")
        line = self._encode(record)
        if self._blank_size is not None:
            is_opening = isinstance(record, SessionOpened) and not record.after and not self._blank_size
            is_before_it = isinstance(record, ContextsKept) and not record.message
            self._blank_size = self._blank_size + len(line) if is_opening or is_before_it else None
        self._held.append(line)
        self._drain()

    async def sync(self, *, end: bool = False) -> None:
        if self._closed:
            raise JournalError(f"Session {self.session_id} is closed.")
        if self._held:
            self._drain()
        if not self._unsynced or self._policy == "off" or (self._policy == "end" and not end):
            return
        # Cleared first: a record that is appended during the flush needs another one.
        self._unsynced = False
        try:
            if self._doubtful:
                self._write_again()
            failures, upto, size = self._failures, self._let_go + len(self._unkept), self._disk.size(self._handle)
            if self._flush_s < _QUICK_S:
                self._flush()
            else:
                await asyncio.to_thread(self._flush)
        except OSError as error:
            self._unsynced = self._doubtful = True
            self._failures += 1
            raise self._failure(error) from error
        except BaseException:
            self._unsynced = True
            raise
        if self._failures == failures:
            self._doubtful = False
            self._release(upto)
            self._kept = max(self._kept, size)

    def replay(self) -> Replay:
        if self._fold is None:
            try:
                self._fold, _ = load_fold(self._disk, self._handle, self.session_id, self._blobs)
            except OSError as error:
                raise JournalError(f"Session file {self.path} cannot be read: {error.strerror}.") from error
            self.warnings = self._removed + self._fold.warnings
        return self._fold.replay(self.session_id)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if self._held:
                self._drain()
        except JournalError:
            # It was reported when it happened.
            pass
        finally:
            self._remove_blank()
            self._disk.close(self._handle)

    def _remove_blank(self) -> None:
        """Removes the file of a new session without any message, unless another program has given it a title."""
        with contextlib.suppress(OSError):
            if self._blank_size and self._disk.size(self._handle) == self._blank_size:
                self._disk.unlink(self.path)

    def _open(self, must_exist: bool) -> int:
        try:
            handle = self._disk.open(self.path, create=not must_exist)
        except FileNotFoundError as error:
            raise JournalError(f"There is no session {self.session_id} in {self.path.parent}.") from error
        except OSError as error:
            raise UnkeptError(f"Session file {self.path} cannot be opened: {error.strerror}.") from error
        try:
            ours = self._disk.lock(handle)
        except OSError as error:
            self._disk.close(handle)
            raise JournalError(f"Session file {self.path} cannot be locked: {error.strerror}.") from error
        if not ours:
            self._disk.close(handle)
            raise JournalError(
                f"Session {self.session_id} is open elsewhere. Close it there first, or go on with a copy of it: "
                "--fork-session, or the option fork_session."
            )
        return handle

    def _take_over(self) -> None:
        """Reads the file, then repairs its end; a file of a later format is not changed."""
        try:
            fold, tail = load_fold(self._disk, self._handle, self.session_id, self._blobs)
        except OSError as error:
            raise JournalError(f"Session file {self.path} cannot be read: {error.strerror}.") from error
        try:
            self._disk.narrow(self._handle)
            if tail.torn:
                self._disk.truncate(self._handle, tail.begin)
            elif tail.unended:
                self._disk.write(self._handle, b"\n")
        except OSError as error:
            raise JournalError(f"Session file {self.path} cannot be repaired: {error.strerror}.") from error
        self._fold = fold
        self._encoder.parent, self._encoder.time = fold.last_message, fold.last_time
        self._encoder.first_format = fold.first_format
        self._kept = self._disk.size(self._handle)
        self._blank_size = None if self._kept else 0
        if tail.torn:
            self._removed = (f"The last line was incomplete and was removed ({tail.torn:,} bytes).",)
        self.warnings = self._removed + fold.warnings

    def _encode(self, record: Record) -> bytes:
        if type(record) is SessionOpened:
            self._folder = Path(record.folder)
            return self._encoder.encode(record)
        self._fold = None
        if type(record) is MessageAdded:
            try:
                record, names = put_media(record, self._blobs)
            except OSError:
                # The line holds the media then, and reports it if that fails, too.
                names = ()
            return self._encoder.encode(record, blobs=names)
        if type(record) is QueryBegan:
            self._encoder.check_out(load_branch(self._folder))
        return self._encoder.encode(record)

    def _drain(self) -> None:
        """Writes the held lines, almost always with one write; a full disk may take a part and refuse the rest."""
        data = self._held[0] if len(self._held) == 1 else b"".join(self._held)
        if self._torn:
            data = b"\n" + data
        written = 0
        try:
            while written < len(data):
                written += self._disk.write(self._handle, data[written:] if written else data)
        except OSError as error:
            self._take_back(data[:written])
            raise self._failure(error) from error
        self._held.clear()
        self._torn = False
        self._unsynced = True
        self._note_unkept(data)

    def _take_back(self, part: bytes) -> None:
        """Removes the written part of a refused piece, unless somebody has written since; then the next line begins on its own."""
        if not part:
            return
        try:
            begin = self._disk.size(self._handle) - len(part)
            if self._disk.pread(self._handle, len(part), begin) == part:
                self._disk.truncate(self._handle, begin)
                return
        except OSError:
            pass
        for _ in range(part.count(b"\n") - self._torn):
            self._held.popleft()
        self._torn = not part.endswith(b"\n")
        self._note_unkept(part)

    def _note_unkept(self, piece: bytes) -> None:
        if self._policy == "off":
            return
        self._unkept.append(piece)
        self._unkept_size += len(piece)
        while self._unkept_size > MAX_UNKEPT:
            self._kept += len(self._unkept[0])
            self._release(self._let_go + 1)

    def _release(self, upto: int) -> None:
        """Drops confirmed pieces. Two flushes may run at once, and the second may confirm what the first did."""
        while self._let_go < upto:
            self._unkept_size -= len(self._unkept.popleft())
            self._let_go += 1

    def _write_again(self) -> None:
        """Writes unconfirmed pieces again, in the same place. Lines of others between them are kept; missing pieces are added at the end."""
        begin, size = self._kept, self._disk.size(self._handle)
        if size - begin == self._unkept_size:
            self._disk.rewrite(self._handle, b"".join(self._unkept), begin)
            return
        found, at = self._disk.pread(self._handle, size - begin, begin) if size > begin else b"", 0
        for piece in self._unkept:
            if (place := found.find(piece, at)) < 0:
                self._held.append(piece)
            else:
                at = place + len(piece)
        self._disk.rewrite(self._handle, found, begin)
        if self._held:
            self._drain()

    def _flush(self) -> None:
        """Flushes the file, the first time its folder entry, too: both must survive a power cut."""
        began = time.monotonic()
        self._disk.sync(self._handle)
        if not self._entry_synced:
            self._disk.sync_folder(self.path.parent)
            self._entry_synced = True
        self._flush_s = time.monotonic() - began

    def _failure(self, error: OSError) -> JournalError:
        held = f" {len(self._held):,} records wait in memory." if len(self._held) > 1 else ""
        return JournalError(
            f"Session file {self.path} cannot be written: {error.strerror}. "
            f"What was saved before is safe; the rest follows when the disk takes it.{held}"
        )
