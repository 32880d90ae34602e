"""Token estimates: of what is sent, on the high side; of what was received, in the middle and on the low side."""

import math

import msgspec

BYTES_PER_TOKEN = 3
MEDIA_TOKENS = 4_784
"""The most that one picture costs after the API scaled it down (the newer models' limit)."""
BLOCK_OVERHEAD = 4
WRITTEN_BYTES_PER_TOKEN = 4
"""What a model writes has about so many bytes of UTF-8 in a token: prose a few more, code a few less."""
MAX_WRITTEN_CHARACTERS = 6
"""Characters of the longest average token."""
MARGIN = 1.1
"""Factor by which estimates stay above the counts seen so far."""
PLAUSIBLE = (0.2, 2.0)
"""Lowest and highest plausible ratio of count to estimate. Outside of them, something else than the estimate was wrong."""
MIN_SEEN = 50
"""Tokens that a step must have to be used."""
MAX_SEEN = 200_000
"""Tokens after which earlier steps count half."""


class Meter(msgspec.Struct, frozen=True, kw_only=True):
    """What the API counted with the last response, and how many messages of the view that covers."""

    tokens: int
    messages: int


def estimate_block(size: int, *, media: int = 0) -> int:
    """`size`: bytes without the media, which is priced by the piece: its base64 says nothing about its cost."""
    return size // BYTES_PER_TOKEN + media * MEDIA_TOKENS + BLOCK_OVERHEAD


def estimate_bytes(size: int) -> int:
    return size // BYTES_PER_TOKEN + BLOCK_OVERHEAD


def estimate_written(size: int) -> int:
    """Tokens of `size` bytes that a model wrote."""
    return -(-size // WRITTEN_BYTES_PER_TOKEN)


def count_least_written(characters: int) -> int:
    """The fewest tokens that so many characters can have."""
    return characters // MAX_WRITTEN_CHARACTERS


class Scale(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Corrects estimates for one model by what the API counted."""

    estimated: int = 0
    counted: int = 0

    def seen(self, *, estimated: int, counted: int) -> "Scale":
        """Takes one step into account. A step that cannot be right (the view changed in between) is passed over; old steps fade."""
        if not PLAUSIBLE[0] * estimated <= counted <= PLAUSIBLE[1] * estimated or estimated < MIN_SEEN:
            return self
        before = self if self.estimated < MAX_SEEN else Scale(estimated=self.estimated // 2, counted=self.counted // 2)
        return Scale(estimated=before.estimated + estimated, counted=before.counted + counted)

    def apply(self, estimate: int) -> int:
        """The corrected estimate: on the high side, and never below the ratio seen."""
        if not self.estimated:
            return estimate
        return math.ceil(estimate * self.counted / self.estimated * MARGIN)
