"""Media beside the journal: stored once by its hash, and named in the line in place of its bytes."""

import binascii
import contextlib
import re
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.errors import JournalError
from everturn.core.messages import text_block
from everturn.core.records import MessageAdded
from everturn.ports.disk import Disk

SMALLEST = 4_096
"""Shorter media stays in its line: a file of its own would take as much room."""
PREFIX = b"everturn-blob:"
_MEDIA = re.compile(rb'"data": ?"([A-Za-z0-9+/]{%d,}={0,2})"' % SMALLEST)
"""Unescaped quotes stand around a key or a value, never inside a text: what matches is a field of the block itself."""
_NAMED = re.compile(rb'"%b([0-9a-f]{64})"' % PREFIX)
_GONE = "[This media is no longer there: the file that held it was deleted.]"


class BlobStore:
    """One session's media. A blob is on disk, and would survive a power cut, before `put` returns."""

    def __init__(self, disk: Disk, folder: Path) -> None:
        self._disk = disk
        self._folder = folder
        self._known: set[str] = set()

    def put(self, content: bytes) -> str:
        """The hash under which it is found again. Raises `OSError`."""
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
        """None for one that is gone or damaged."""
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
    """The message with a name in place of each large piece, and these names. Raises `OSError`."""
    if all(len(raw) < SMALLEST for raw in map(bytes, record.blocks)):
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
    """The message byte for byte as it was, and whether all its media was there; what is gone is said in its place."""
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
    """A block that is the media itself, or that holds it among its parts, says so; any other keeps the name."""
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
