"""Git's index, read for one thing: which folders it knows as repositories of their own, since git enters those.

The format is gitformat-index(5), versions 2 to 4. Whatever git might read in another way than this module is refused.
"""

import os
from posixpath import join
from typing import NamedTuple

from everturn.core.git_config import UnclearError
from everturn.permissions.git.plain_files import ByteAllowance

_MAX_LINKS = 400
_HEADER = 12
_PACKED = 4
"""The version that writes a name as what differs from the one before."""
_STATUS = 40
"""Bytes of times, ids and sizes before an entry's hash; the mode's third byte, which has the kind, is at 26."""
_KIND = 26
_LINK = 0xE0
_SPARSE = 0x40
"""Kind of an entry that stands for a folder whose entries are in the history."""
_LONG = 0xFFF
"""Length of a name that is as long as this or longer."""
_EXTENDED = 0x40


class _Entries(NamedTuple):
    links: list[bytes]
    starts: list[int]
    """Where each entry begins."""
    whole: list[bool]
    """Whether its name needs none before it. Empty for versions that write all names in full."""
    end: int


def find_links(git: str, hash_size: int, allowance: ByteAllowance) -> list[str]:
    """Names of the repositories inside, below the working tree. Raises `UnclearError` where they cannot be told."""
    path = join(git, "index")
    data = allowance.read(path)
    if data is None:
        return []
    try:
        links, base = _parse_index(data, hash_size)
        if base:
            # Entries of the shared part that were replaced or removed do no harm here.
            path = join(git, f"sharedindex.{base}")
            shared, second = _parse_index(allowance.read(path) or b"", hash_size)
            if second:
                raise UnclearError(path)
            links += shared
    except (IndexError, ValueError) as error:
        raise UnclearError(path) from error
    if len(links) > _MAX_LINKS or not all(map(_is_below, links)):
        raise UnclearError(path)
    return [os.fsdecode(link) for link in links]


def _is_below(name: bytes) -> bool:
    return b"\0" not in name and not {b"", b".", b"..", b".git"} & set(name.lower().split(b"/"))


def _parse_index(data: bytes, hash_size: int) -> tuple[list[bytes], str]:
    """Links, and the hash of the shared index that this one adds to, if any."""
    version = int.from_bytes(data[4:8])
    if data[:4] != b"DIRC" or version not in {2, 3, _PACKED}:
        raise UnclearError("header")
    body = data[:-hash_size]
    count = int.from_bytes(body[8:_HEADER])
    entries = _parse_packed(body, count, hash_size) if version == _PACKED else _parse_padded(body, count, hash_size)
    return entries.links, _parse_extensions(body, entries, hash_size)


def _parse_padded(body: bytes, count: int, hash_size: int) -> _Entries:
    links: list[bytes] = []
    starts: list[int] = []
    at, flags = _HEADER, _STATUS + hash_size
    for _ in range(count):
        starts.append(at)
        high = body[at + flags]
        begin = at + flags + (4 if high & _EXTENDED else 2)
        length = (high & 0x0F) << 8 | body[at + flags + 1]
        if length == _LONG:
            length = body.index(0, begin) - begin
        kind = body[at + _KIND] & 0xF0
        if kind == _LINK:
            links.append(body[begin : begin + length])
        elif kind == _SPARSE:
            raise UnclearError("sparse")
        # At least one NUL after the name, and as many as make eight.
        at += (begin - at + length + 8) & ~7
    return _Entries(links, starts, [], at)


def _parse_packed(body: bytes, count: int, hash_size: int) -> _Entries:
    """Version 4: a name is written as how much of the one before to drop, and what follows then."""
    links: list[bytes] = []
    starts: list[int] = []
    whole: list[bool] = []
    at, flags, name = _HEADER, _STATUS + hash_size, b""
    for _ in range(count):
        starts.append(at)
        high = body[at + flags]
        kind = body[at + _KIND] & 0xF0
        length = (high & 0x0F) << 8 | body[at + flags + 1]
        begin = at + flags + (4 if high & _EXTENDED else 2)
        drop = body[begin]
        begin += 1
        if drop & 0x80:
            drop, begin = _parse_number(body, begin - 1)
        if drop > len(name):
            raise UnclearError("name")
        at = body.index(0, begin)
        whole.append(drop == len(name))
        name = name[: len(name) - drop] + body[begin:at]
        # Git goes by the length in the flags; an index of git's making has the same in both places.
        if length != min(len(name), _LONG):
            raise UnclearError("length")
        at += 1
        if kind == _LINK:
            links.append(name)
        elif kind == _SPARSE:
            raise UnclearError("sparse")
    return _Entries(links, starts, whole, at)


def _parse_number(body: bytes, at: int) -> tuple[int, int]:
    byte = body[at]
    number = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = body[at]
        number = (number + 1) << 7 | byte & 0x7F
    return number, at + 1


def _parse_extensions(body: bytes, entries: _Entries, hash_size: int) -> str:
    """What follows the entries, from which git may read entries in another order or from another file."""
    at, base = entries.end, ""
    ending = body[-(12 + hash_size) :]
    if ending[:4] == b"EOIE" and int.from_bytes(ending[8:12]) != entries.end:
        raise UnclearError("EOIE")
    while at < len(body):
        name, size = body[at : at + 4], int.from_bytes(body[at + 4 : at + 8])
        content = body[at + 8 : at + 8 + size]
        at += 8 + size
        if name == b"link":
            base = content[:hash_size].hex() if any(content[:hash_size]) else ""
        elif name == b"IEOT":
            _check_blocks(content, entries)
        elif not name[:1].isupper():
            raise UnclearError("extension")
    if at != len(body):
        raise UnclearError("end")
    return base


def _check_blocks(content: bytes, entries: _Entries) -> None:
    """Git reads large indexes in blocks with several threads: they must be the entries that we have read, in their order."""
    passed = 0
    for at in range(4, len(content), 8):
        start, count = int.from_bytes(content[at : at + 4]), int.from_bytes(content[at + 4 : at + 8])
        if entries.starts[passed] != start or (entries.whole and not entries.whole[passed]):
            raise UnclearError("IEOT")
        passed += count
    if passed != len(entries.starts):
        raise UnclearError("IEOT")
