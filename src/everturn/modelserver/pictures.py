"""How large a picture is, read from the first bytes of its file; the token estimate and the media rules ask."""

import base64
import binascii
import struct

_HEAD = 256 * 1024
"""Base64 characters that are looked at: a JPEG may carry a long preamble."""
_JPEG_MARKER = 0xFF
_JPEG_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Starts of a frame, which tell its size; the three taken out are tables in the same range."""


def parse_size(data: str) -> tuple[int, int] | None:
    """Width and height in pixels of a base64 picture; None when its head does not say."""
    try:
        head = base64.b64decode(data[:_HEAD] + "=" * (-len(data[:_HEAD]) % 4))
    except (binascii.Error, ValueError):
        return None
    try:
        return _size(head)
    except (struct.error, IndexError):
        return None


def _size(head: bytes) -> tuple[int, int] | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        width, height = struct.unpack(">II", head[16:24])
        return width, height
    if head[:6] in {b"GIF87a", b"GIF89a"}:
        width, height = struct.unpack("<HH", head[6:10])
        return width, height
    if head.startswith(b"\xff\xd8"):
        return _jpeg_size(head)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp_size(head)
    return None


def _jpeg_size(head: bytes) -> tuple[int, int] | None:
    at = 2
    while head[at] == _JPEG_MARKER:
        if head[at + 1] in _JPEG_FRAMES:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", head[at + 2 : at + 4])[0]
    return None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    match head[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack("<HH", head[26:30])
            return width & 0x3FFF, height & 0x3FFF
    return None
