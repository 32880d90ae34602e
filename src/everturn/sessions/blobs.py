"""Large values (media, results) beside the journal, each in a file named by the hash of its content."""

import binascii
import contextlib
import re
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.errors import JournalError
from everturn.core.messages import text_block
from everturn.core.patterns import compile_late
from everturn.core.records import MessageAdded
from everturn.ports.disk import Disk
from everturn.ports.outputs import Outputs
from everturn.sessions.disk import LocalDisk

MIN_SIZE = 4_096
"""Bytes; smaller media stays in its line, because a file of its own would take as much room."""
PREFIX = b"everturn-blob:"
_MEDIA = compile_late(rb'"data": ?"([A-Za-z0-9+/]{%d,}={0,2})"' % MIN_SIZE)
"""Unescaped quotes stand around a key or a value, never inside a text: what matches is a field of the block itself."""
_NAMED = compile_late(rb'"%b([0-9a-f]{64})"' % PREFIX)
_GONE = "[This media is no longer there: the file that held it was deleted.]"


class BlobStore:
    """The blobs of one session. A blob would survive a power cut before `put` returns."""

    def __init__(self, disk: Disk, folder: Path) -> None:
        self._disk = disk
        self._folder = folder
        self._known: set[str] = set()

    def put(self, content: bytes) -> str:
        """Stores the content and returns its hash. Raises `OSError`."""
        name = hash_content(content)
        path = self._folder / name
        if name in self._known or self._disk.exists(path):
            return name
        self._disk.make_folder(self._folder)
        unfinished = self._folder / f"{name}.part"
        with contextlib.suppress(FileNotFoundError):
            self._disk.unlink(unfinished)
        handle = self._disk.open(unfinished, create=True)
        try:
            written = 0
            while written < len(content):
                written += self._disk.write(handle, content[written:])
            self._disk.sync(handle)
        finally:
            self._disk.close(handle)
        self._disk.rename(unfinished, path)
        self._disk.sync_folder(self._folder)
        self._known.add(name)
        return name

    def get(self, name: str) -> bytes | None:
        """The content of a blob; None where it is missing or damaged."""
        try:
            handle = self._disk.open_for_reading(self._folder / name)
            try:
                content = self._disk.pread(handle, self._disk.size(handle), 0)
            finally:
                self._disk.close(handle)
        except OSError:
            return None
        return content if hash_content(content) == name else None


def hash_content(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


def put_media(record: MessageAdded, blobs: BlobStore) -> tuple[MessageAdded, tuple[str, ...]]:
    """The message with a hash in place of each large piece of media, and these hashes. Raises `OSError`."""
    if all(len(raw) < MIN_SIZE for raw in map(bytes, record.blocks)):
        return record, ()
    names: list[str] = []

    def put(found: re.Match[bytes]) -> bytes:
        text = found[1]
        try:
            content = binascii.a2b_base64(text, strict_mode=True)
        except binascii.Error:
            return found[0]
        if binascii.b2a_base64(content, newline=False) != text:
            return found[0]
        names.append(blobs.put(content))
        return found[0].replace(text, PREFIX + names[-1].encode())

    blocks = tuple(msgspec.Raw(_MEDIA.sub(put, bytes(raw))) for raw in record.blocks)
    return (msgspec.structs.replace(record, blocks=blocks), tuple(names)) if names else (record, ())


def restore_media(record: MessageAdded, names: tuple[str, ...], blobs: BlobStore) -> tuple[MessageAdded, bool]:
    """The message byte for byte as it was, and whether all its media was found; a missing piece is replaced by a text."""
    gone = False

    def restore(raw: bytes) -> bytes:
        nonlocal gone
        wanted = {name.decode() for name in _NAMED.findall(raw)} & set(names)
        for name in wanted:
            content = blobs.get(name)
            if content is None:
                gone = True
                raw = _say_gone(raw, name)
            else:
                text = binascii.b2a_base64(content, newline=False)
                raw = raw.replace(b'"%b%b"' % (PREFIX, name.encode()), b'"%b"' % text)
        return raw

    blocks = tuple(msgspec.Raw(restore(bytes(raw))) for raw in record.blocks)
    return msgspec.structs.replace(record, blocks=blocks), not gone


def _say_gone(raw: bytes, name: str) -> bytes:
    """The block with a text in place of missing media; a block of another form keeps the hash."""
    try:
        block = msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        raise JournalError(f"a damaged block: {error}") from error
    reference = (PREFIX + name.encode()).decode()
    if _holds(block, reference):
        return text_block(_GONE).raw
    content = block.get("content")
    if isinstance(content, list):
        told = {"type": "text", "text": _GONE}
        block["content"] = [told if _holds(part, reference) else part for part in content]
        return msgspec.json.encode(block)
    return raw


def _holds(part: Any, reference: str) -> bool:
    source = part.get("source") if isinstance(part, dict) else None
    return isinstance(source, dict) and source.get("data") == reference


class ResultShelf:
    """`ports.outputs.Shelf`. `folder` is the session's own; None = one that is made at the first need, and removed at the end."""

    def __init__(self, folder: Path | None, outputs: Outputs, *, disk: Disk | None = None) -> None:
        self._folder = folder
        self._outputs = outputs
        self._disk = disk or LocalDisk()
        self._store: BlobStore | None = None
        self._passing: Path | None = None

    def put(self, text: str) -> str:
        folder = self._folder or self._make_passing()
        if self._store is None:
            self._store = BlobStore(self._disk, folder)
        path = str((folder / self._store.put(text.encode(errors="replace"))).resolve())
        self._outputs.add(path)
        return path

    def close(self) -> None:
        """May be called again. What a saved session put there stays."""
        if self._passing is not None:
            import shutil

            shutil.rmtree(self._passing, ignore_errors=True)
            self._passing = self._store = None

    def _make_passing(self) -> Path:
        if self._passing is None:
            from tempfile import mkdtemp

            self._passing = Path(mkdtemp(prefix="everturn-results-", dir=self._outputs.temporary or None))
        return self._passing
