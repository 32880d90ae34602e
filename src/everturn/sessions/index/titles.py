"""Titles and tags: one line at the end of a session's file, as other programs write and read it."""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from everturn.core.errors import JournalError
from everturn.core.messages import repair_surrogates
from everturn.ports.disk import Disk
from everturn.sessions.disk import LocalDisk

MAX_LENGTH = 200


class _Title(msgspec.Struct, frozen=True, tag="custom-title", tag_field="type"):
    title: str = msgspec.field(name="customTitle")
    session: str = msgspec.field(name="sessionId")


class _Tag(msgspec.Struct, frozen=True, tag="tag", tag_field="type"):
    tag: str
    session: str = msgspec.field(name="sessionId")


def append_title(path: Path, title: str, *, disk: Disk | None = None) -> None:
    """Raises `JournalError`. The session may be open: its engine keeps lines of others."""
    _append(path, _Title(title=_clean(title), session=path.stem), disk or LocalDisk())


def append_tag(path: Path, tag: str, *, disk: Disk | None = None) -> None:
    """An empty one takes the tag away. Raises `JournalError`."""
    _append(path, _Tag(tag=_clean(tag), session=path.stem), disk or LocalDisk())


def _clean(text: str) -> str:
    return " ".join(repair_surrogates(text).split())[:MAX_LENGTH]


def _append(path: Path, line: msgspec.Struct, disk: Disk) -> None:
    """In one write, so that it stands whole between the lines of an engine that writes at the same time."""
    try:
        times = path.stat()
        handle = disk.open(path, create=False)
        try:
            data = msgspec.json.encode(line) + b"\n"
            size = disk.size(handle)
            if size and disk.pread(handle, 1, size - 1) != b"\n":
                # The file ends in a cut line, which must not swallow this one.
                data = b"\n" + data
            while data:
                data = data[disk.write(handle, data) :]
        finally:
            disk.close(handle)
    except OSError as error:
        raise JournalError(f"Session file {path} cannot be written: {error.strerror}.") from error
    # To be named is not to be used: the session keeps its place in lists, and its age.
    with suppress(OSError):
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
