"""Lines: strict, single, and never too long."""

import json

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.frontends.headless.lines import encode_line, encode_shown

MAX_COUNT = 1_000
TEXTS = st.text(max_size=40) | st.text(alphabet='a\x00\ud800\n"é😀', max_size=1_500)
NUMBERS = st.integers() | st.floats() | st.booleans() | st.none()
VALUES = st.recursive(
    TEXTS | NUMBERS,
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=9), inner, max_size=9),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=9), VALUES, max_size=9))
@settings(max_examples=60, deadline=None)
def test_every_value_becomes_one_line_of_strict_json_within_the_limit(value):
    line = encode_line({"type": "user", "uuid": "1", **value}, most=MAX_COUNT)

    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert len(line) <= MAX_COUNT
    assert isinstance(json.loads(line.decode("utf-8")), dict)


@given(st.dictionaries(st.text(alphabet="abc", max_size=9), st.text(alphabet="ab\n", max_size=90), max_size=9))
@settings(max_examples=50, deadline=None)
def test_what_fits_is_unchanged(value):
    assert json.loads(encode_line(value)) == value


def test_raw_parts_that_are_no_utf8_or_hold_a_line_end_are_mended():
    raw = msgspec.Raw(b'{"a":\n"\xff"}')

    assert encode_line({"raw": raw}) == '{"raw":{"a":"�"}}\n'.encode()


def test_an_image_that_does_not_fit_is_replaced_by_words_not_cut():
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 5_000}}

    line = json.loads(encode_line({"type": "user", "content": [image, {"type": "text", "text": "x"}]}, most=MAX_COUNT))

    assert line["content"][0] == {"type": "text", "text": "[image left out: 5,000 characters do not fit into a line]"}
    assert line["content"][1] == {"type": "text", "text": "x"}


def test_a_shown_half_that_json_cannot_hold_becomes_text():
    class Odd:
        def __str__(self) -> str:
            return "odd"

    endless = []
    endless.append(endless)

    class Half(msgspec.Struct):
        text: str

    assert bytes(encode_shown({"at": Odd(), "big": 2**40})) == b'{"at":"odd","big":1099511627776}'
    assert bytes(encode_shown(Half("a\ud800"))) == '{"text":"a\ufffd"}'.encode()
    assert bytes(encode_shown(endless)) == b'"[[...]]"'
