"""A body is undone from its compression as it comes, whatever the pieces are and however many layers there are."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.compression import MAX_LAYERS, MAX_STEP, CompressionError, Inflater, UnknownCodingError

PACK = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "deflate, gzip": lambda text: gzip.compress(zlib.compress(text)),
}


@given(coding=st.sampled_from(sorted(PACK)), text=st.binary(max_size=500), size=st.integers(1, 50))
def test_the_pieces_of_a_body_make_no_difference(coding, text, size):
    packed = PACK[coding](text)
    inflater = Inflater(coding)

    read = b"".join(step for at in range(0, len(packed), size) for step in inflater.feed(packed[at : at + size]))

    assert read == text
    assert not inflater.broken_off


def test_deflate_without_its_header_is_read_too():
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    assert b"".join(Inflater("deflate").feed(packing.compress(b"a page") + packing.flush())) == b"a page"


def test_several_members_of_a_gzip_body_follow_each_other():
    assert b"".join(Inflater("gzip").feed(gzip.compress(b"one ") + gzip.compress(b"two"))) == b"one two"


def test_a_bomb_is_unpacked_step_by_step():
    steps = Inflater("gzip").feed(gzip.compress(bytes(10_000_000)))
    assert max(map(len, steps)) == MAX_STEP


def test_half_a_body_is_known_as_broken_off():
    inflater = Inflater("gzip")
    list(inflater.feed(gzip.compress(b"a page")[:-4]))
    assert inflater.broken_off


def test_what_is_not_packed_as_it_says_is_an_error():
    with pytest.raises(CompressionError):
        list(Inflater("gzip").feed(b"a page"))


@pytest.mark.parametrize("encoding", ["br", "gzip, zstd", ", ".join(["gzip"] * (MAX_LAYERS + 1))])
def test_what_was_not_asked_for_is_named(encoding):
    with pytest.raises(UnknownCodingError) as raised:
        Inflater(encoding)
    assert raised.value.name in encoding
