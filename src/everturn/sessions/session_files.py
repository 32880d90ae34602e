"""Session files read without being opened for writing: the replay of a file, its records one by one; the newest of a folder, one by its name."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from everturn.core.errors import JournalError
from everturn.core.messages import derive_id
from everturn.core.records import MessageAdded, SessionOpened
from everturn.core.spelled_paths import spell_path
from everturn.ports.disk import Disk
from everturn.ports.store import Replay
from everturn.sessions.blobs import BlobStore
from everturn.sessions.disk import LocalDisk
from everturn.sessions.formats import DecodedLine, decode_line, find_newer_format
from everturn.sessions.line_reader import ReadProgress, is_json, read_lines
from everturn.sessions.places import blobs_folder, list_session_files
from everturn.sessions.replay import MAX_HELD, MAX_IN_VIEW, ReplayFold, RewoundError
from everturn.sessions.skip import MESSAGE, TooMuchError, find_start


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
    most_held: int = MAX_HELD,
    most_in_view: int = MAX_IN_VIEW,
) -> tuple[ReplayFold, Tail]:
    """Of a very large file, messages that nobody needs are passed over.

    Raises `OSError`, and `JournalError` for a file that is not for us to read.
    """
    progress = ReadProgress(size := disk.size(handle))
    start = 0
    if size > most_held:
        try:
            start = find_start(disk, handle, progress, most=most_in_view)
        except TooMuchError:
            raise ReplayFold.refusal(session_id, most_in_view) from None
    try:
        return _fold_from(start, read_lines(disk, handle, progress=progress), session_id, blobs)
    except RewoundError:
        return _fold_from(0, read_lines(disk, handle, progress=progress), session_id, blobs)


def _fold_from(
    start: int, lines: Iterator[tuple[int, bytes]], session_id: str, blobs: BlobStore
) -> tuple[ReplayFold, Tail]:
    fold = ReplayFold(blobs, session_id=session_id)
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
) -> Iterator[tuple[DecodedLine, bytes]]:
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


MAX_LINES = 50
"""Of a file, in which its first message must stand to count as a conversation."""


def find_newest_file(home: Path, folder: Path | str) -> Path | None:
    """The session of this folder that was written last, and in which something was said, or that was asked for by `/clear`."""
    for path in stream_newest_first(home):
        opened = load_opening(path)
        if opened is not None and opened.folder == spell_path(str(folder)):
            return path
    return None


def load_opening(path: Path) -> SessionOpened | None:
    """The first record of a session that counts as a conversation."""
    try:
        records = [told.record for told, _ in islice(stream_told(path), MAX_LINES)]
    except JournalError:
        return None
    first = records[0] if records else None
    has_message = any(isinstance(record, MessageAdded) for record in records)
    return first if isinstance(first, SessionOpened) and (has_message or first.after) else None


def stream_newest_first(home: Path) -> Iterator[Path]:
    def written(path: Path) -> int:
        try:
            return path.stat().st_mtime_ns
        except OSError:
            return 0

    try:
        found = sorted(list_session_files(home), key=written, reverse=True)
    except OSError:
        return iter(())
    return iter(found)


def find_by_name(home: Path, folder: Path, name: str) -> Path:
    """By a beginning of its id, or by its title. Raises `JournalError`."""
    from everturn.sessions.index.index import SessionIndex
    from everturn.sessions.index.name_lookup import judge_name

    with SessionIndex(home) as index:
        meant = judge_name(index.cards(), name, str(folder))
    if not meant.cards:
        raise JournalError(f"There is no session {name[:80]!r} in {home}.")
    if len(meant.cards) > 1:
        ids = ", ".join(card.id for card in meant.cards[:5])
        raise JournalError(f"{len(meant.cards)} sessions {meant.by} {name[:80]!r}: {ids}. Give the id of one.")
    return Path(meant.cards[0].path)


def find_message(source: Path, wanted: str, disk: Disk | None) -> str:
    """Its id in the session; it may also be given by the API's, or by one under which a part of it was shown. Raises `JournalError`."""
    replay, _ = load_session(source, disk=disk)
    for message in reversed(replay.messages):
        if message.answer is not None and message.answer.api_id == wanted:
            return message.id
        if wanted in {derive_id(message.id, place) for place in range(2 * len(message.blocks) or 1)}:
            return message.id
    raise JournalError(f"There is no message {wanted[:80]} in session {source.stem} to go on from.")
