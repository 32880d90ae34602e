"""Session files read without being opened for writing: the replay of a file, its records one by one, and its titles."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from everturn.core.errors import JournalError
from everturn.ports.disk import Disk
from everturn.ports.store import Replay
from everturn.sessions.blobs import BlobStore
from everturn.sessions.disk import LocalDisk
from everturn.sessions.formats import Told, decode_line, find_newer_format
from everturn.sessions.patience import Patience
from everturn.sessions.places import blobs_folder
from everturn.sessions.reading import is_json, read_lines
from everturn.sessions.replay import MOST_HELD, MOST_IN_VIEW, Fold, RewoundError
from everturn.sessions.skipping import MESSAGE, TooMuchError, find_start


class Tail(msgspec.Struct, frozen=True, kw_only=True):
    """How a file ends."""

    begin: int = 0
    """Offset of the last line."""
    torn: int = 0
    """Its size, if it was cut by a crash or never reached the disk."""
    unended: bool = False
    """It is whole but for its end: another program wrote it, or ours was cut at the very last byte."""


def load_fold(
    disk: Disk,
    handle: int,
    session_id: str,
    blobs: BlobStore,
    *,
    most_held: int = MOST_HELD,
    most_in_view: int = MOST_IN_VIEW,
) -> tuple[Fold, Tail]:
    """Of a very large file, messages that nobody needs are passed over.

    Raises `OSError`, and `JournalError` for a file that is not for us to read.
    """
    patience = Patience(size := disk.size(handle))
    start = 0
    if size > most_held:
        try:
            start = find_start(disk, handle, patience, most=most_in_view)
        except TooMuchError:
            raise Fold.refusal(session_id, most_in_view) from None
    try:
        return _fold_from(start, read_lines(disk, handle, patience=patience), session_id, blobs)
    except RewoundError:
        return _fold_from(0, read_lines(disk, handle, patience=patience), session_id, blobs)


def _fold_from(start: int, lines: Iterator[tuple[int, bytes]], session_id: str, blobs: BlobStore) -> tuple[Fold, Tail]:
    fold = Fold(blobs, session_id=session_id)
    begin, last = 0, b""
    for at, line in lines:
        if at < start and line.startswith(MESSAGE):
            fold.pass_over(line)
            continue
        refuse_newer(session_id, line)
        if at < start:
            fold.skim(line)
            continue
        if last:
            fold.read(last)
        elif start:
            fold.begin_here()
        begin, last = at, line
    if last and not last.strip().strip(b"\0") and b"\0" not in last:
        return fold, Tail(begin=begin)
    if last and not is_json(last):
        return fold, Tail(begin=begin, torn=len(last))
    if last:
        fold.read(last)
    return fold, Tail(begin=begin, unended=bool(last) and not last.endswith(b"\n"))


def refuse_newer(session_id: str, line: bytes) -> None:
    if (newer := find_newer_format(line)) is not None:
        raise JournalError(
            f"Session {session_id} was written by a later version of Everturn (format {newer}); "
            "it was left untouched. Update Everturn to open it."
        )


def load_session(path: Path, *, disk: Disk | None = None) -> tuple[Replay, tuple[str, ...]]:
    """The session in this file and what is wrong with it. Takes no lock and changes nothing, so it may run beside a writer.

    Raises `JournalError`.
    """
    disk = disk or LocalDisk()
    try:
        handle = disk.open_for_reading(path)
        try:
            fold, _ = load_fold(disk, handle, path.stem, BlobStore(disk, blobs_folder(path)))
        finally:
            disk.close(handle)
    except OSError as error:
        raise JournalError(f"Session file {path} cannot be read: {error.strerror}.") from error
    return fold.replay(path.stem), fold.warnings


def stream_told(
    path: Path, *, disk: Disk | None = None, newer: bool = True, messages: bool = True
) -> Iterator[tuple[Told, bytes]]:
    """Every line with what it tells, broken ones left out; media stays named by its hash. Raises `JournalError`.

    `newer`: of a session in a later format, whatever can be understood. Without `messages` it is several times quicker.
    """
    disk = disk or LocalDisk()
    try:
        handle = disk.open_for_reading(path)
        try:
            for _, line in read_lines(disk, handle):
                if not messages and line.startswith(MESSAGE):
                    continue
                if not newer:
                    refuse_newer(path.stem, line)
                try:
                    told = decode_line(line)
                except JournalError:
                    continue
                yield told, line
        finally:
            disk.close(handle)
    except OSError as error:
        raise JournalError(f"Session file {path} cannot be read: {error.strerror}.") from error
