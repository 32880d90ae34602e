"""A session copied under a new id, whole or up to a message: the first one is not touched, and need not be closed."""

import contextlib
from pathlib import Path

from everturn.core.errors import JournalError
from everturn.core.records import FORMAT, CommandChanged, MessageAdded, SessionOpened
from everturn.ports.disk import Disk
from everturn.sessions.blobs import BlobStore
from everturn.sessions.disk import LocalDisk
from everturn.sessions.lines import LineEncoder
from everturn.sessions.places import blobs_folder, make_folder
from everturn.sessions.session_files import stream_told

_PIECE = 1 << 20


def fork_session(
    source: Path,
    target: Path,
    *,
    folder: str,
    version: str,
    upto: str | None = None,
    disk: Disk | None = None,
) -> int:
    """Copies what happened until and with the message `upto`, or everything; gives the number of messages.

    Titles and tags stay with the first session, and so do commands that wait there. Raises `JournalError`: for a message
    that is not there, for a target that is, and where the disk fails; then there is no target.
    """
    disk = disk or LocalDisk()
    if disk.exists(target):
        raise JournalError(f"There is a session {target.stem} already.")
    unfinished = target.with_name(f"{target.name}.part")
    make_folder(disk, target.parent)
    try:
        with contextlib.suppress(FileNotFoundError):
            disk.unlink(unfinished)
        copied = _copy(disk, source, unfinished, target, upto=upto, folder=folder, version=version)
        disk.rename(unfinished, target)
        disk.sync_folder(target.parent)
    except OSError as error:
        raise JournalError(f"Session {target.stem} cannot be made: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            disk.unlink(unfinished)
    return copied


def _copy(
    disk: Disk, source: Path, unfinished: Path, target: Path, *, upto: str | None, folder: str, version: str
) -> int:
    encoder = LineEncoder(target.stem, now=lambda: 0.0)
    had, has = (BlobStore(disk, blobs_folder(path)) for path in (source, target))
    opened = SessionOpened(format=FORMAT, session_id=target.stem, at=0.0, folder=folder, version=version)
    lines, size, copied, found = [encoder.encode(opened)], 0, 0, upto is None
    handle = disk.open(unfinished, create=True)
    try:
        for told, _ in stream_told(source, disk=disk, newer=False):
            record = told.record
            if record is None or isinstance(record, SessionOpened | CommandChanged):
                continue
            encoder.time = max(encoder.time, told.time)
            _copy_blobs(told.blobs, had, has)
            lines.append(encoder.encode(record, blobs=told.blobs))
            size += len(lines[-1])
            copied += isinstance(record, MessageAdded)
            if isinstance(record, MessageAdded) and record.id == upto:
                found = True
                break
            if size > _PIECE:
                _write(disk, handle, b"".join(lines))
                lines, size = [], 0
        if not found:
            raise JournalError(f"There is no message {upto} in session {source.stem}.")
        _write(disk, handle, b"".join(lines))
        disk.sync(handle)
    finally:
        disk.close(handle)
    return copied


def _copy_blobs(names: tuple[str, ...], had: BlobStore, has: BlobStore) -> None:
    for name in names:
        if (content := had.get(name)) is not None:
            has.put(content)


def _write(disk: Disk, handle: int, data: bytes) -> None:
    written = 0
    while written < len(data):
        written += disk.write(handle, data[written:])
