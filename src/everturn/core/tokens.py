"""Token estimates: of what is sent, on the high side; of what was received, in the middle and on the low side."""

import math

import msgspec

BYTES_PER_TOKEN = 3
MEDIA_TOKENS = 4_784
"""The most that one picture costs after the API scaled it down (the newer models' limit)."""
BLOCK_OVERHEAD = 4
WRITTEN_BYTES_PER_TOKEN = 4
"""What a model writes has about so many bytes of UTF-8 in a token: prose a few more, code a few less."""
MOST_WRITTEN_CHARACTERS = 6
"""Longer than this the tokens of a text are not, on average."""
MARGIN = 1.1
"""Estimates stay so much above what they turned out to be worth."""
PLAUSIBLE = (0.2, 2.0)
"""Counts per estimate. Outside of it, something else than the estimate was wrong."""
LEAST_SEEN = 50
"""Tokens of a step that says anything about the rest."""
MOST_SEEN = 200_000
"""Tokens after which what was seen first counts half."""


class Meter(msgspec.Struct, frozen=True, kw_only=True):
    """The truth as of the last response: what the API counted, and how many messages of the view it covers."""

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
    """Tokens that so many characters have at least."""
    return characters // MOST_WRITTEN_CHARACTERS


class Scale(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How estimates for one model compare with what the API counted, over all that was seen of both."""

    estimated: int = 0
    counted: int = 0

    def seen(self, *, estimated: int, counted: int) -> "Scale":
        """One step more. A step that cannot be right (the view was changed between) is passed over; old ones fade."""
        if not PLAUSIBLE[0] * estimated <= counted <= PLAUSIBLE[1] * estimated or estimated < LEAST_SEEN:
            return self
        before = self if self.estimated < MOST_SEEN else Scale(estimated=self.estimated // 2, counted=self.counted // 2)
        return Scale(estimated=before.estimated + estimated, counted=before.counted + counted)

    def apply(self, estimate: int) -> int:
        """On the high side still, and never below what was seen."""
        if not self.estimated:
            return estimate
        return math.ceil(estimate * self.counted / self.estimated * MARGIN)
