"""Token estimates: cheap, made once per block, and on the high side."""

import msgspec

BYTES_PER_TOKEN = 3
MEDIA_TOKENS = 4_784
"""The most that one picture costs after the API scaled it down (the newer models' limit)."""
BLOCK_OVERHEAD = 4


class Meter(msgspec.Struct, frozen=True, kw_only=True):
    """The truth as of the last response: what the API counted, and how many messages of the view it covers."""

    tokens: int
    messages: int


def estimate_block(raw: bytes, *, media: int) -> int:
    """Media is priced by the piece: its base64 says nothing about its cost."""
    if media:
        return media * MEDIA_TOKENS + BLOCK_OVERHEAD
    return len(raw) // BYTES_PER_TOKEN + BLOCK_OVERHEAD


def estimate_bytes(size: int) -> int:
    return size // BYTES_PER_TOKEN + BLOCK_OVERHEAD
