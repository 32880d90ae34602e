"""Server-sent events: what counts as one, and that it does not matter how the bytes are cut."""

import itertools
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import FaultKind, ModelFault
from everturn.models.anthropic.sse import SseParser


def parse(*pieces):
    parser = SseParser()
    return [payload for piece in pieces for payload in parser.feed(piece)]


@pytest.mark.parametrize(
    ("stream", "payloads"),
    [
        (b'event: ping\ndata: {"a":1}\n\n', [b'{"a":1}']),
        (b"data: one\r\n\r\ndata: two\r\n\r\n", [b"one", b"two"]),
        (b"data: one\r\rdata: two\r\r", [b"one", b"two"]),
        (b"data: one\n\rdata: two\r\n\n", [b"one", b"two"]),
        (b"\xef\xbb\xbfdata: one\n\n", [b"one"]),
        (b": comment\ndata: one\n: more\n\n", [b"one"]),
        (b"data: one\ndata: two\n\n", [b"one\ntwo"]),
        (b"data:one\n\ndata:  two\n\n", [b"one", b" two"]),
        (b"data\n\n", [b""]),
        (b"id: 7\nretry: 10\n\ndata: one\nid: 8\n\n", [b"one"]),
        (b"event: ping\n\n\n\n", []),
        (b"data: cut off", []),
        (b"data: cut off\n", []),
        (b"database: x\n data: y\n\n", []),
        (b"data: \xff\xfe\n\n", [b"\xff\xfe"]),
        (b"data: a\x0bb\x85c\n\n", [b"a\x0bb\x85c"]),
        (b"", []),
    ],
)
def test_a_stream_has_these_payloads(stream, payloads):
    assert parse(stream) == payloads


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (b"event: error\ndata: null\n\n", ""),
        (b"event: error\n\n", ""),
        (b"event: error\ndata: boom\n\n", "boom"),
        (b'event: error\ndata: {"message":"boom"}\n\n', '{"message":"boom"}'),
    ],
)
def test_an_error_event_is_an_error_whatever_its_payload(stream, message):
    (payload,) = parse(stream)

    assert json.loads(payload) == {"type": "error", "error": {"message": message}}


def test_an_error_event_that_says_so_itself_is_left_alone():
    said = b'{"type":"error","error":{"type":"overloaded_error"}}'

    assert parse(b"event: error\ndata: " + said + b"\n\ndata: {}\n\n") == [said, b"{}"]


ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
LINES = st.one_of(
    st.sampled_from([b"", b"data:", b"data: x", b"event: error", b"event: ping", b": c", b"id: 1", b"data: null"]),
    st.binary(max_size=6).map(lambda tail: b"data: " + tail),
    st.binary(max_size=6),
)
STREAMS = st.builds(
    lambda bom, lines: bom + b"".join(line + end for line, end in lines),
    st.sampled_from([b"", b"\xef\xbb\xbf", b"\xef\xbb"]),
    st.lists(st.tuples(LINES, ENDS), max_size=12),
)


@given(STREAMS, st.lists(st.integers(0, 100), max_size=8))
def test_any_way_to_cut_the_bytes_gives_the_same_payloads(stream, cuts):
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    pieces = [stream[start:end] for start, end in itertools.pairwise(places)]

    assert parse(*pieces) == parse(stream) == parse(*(stream[index : index + 1] for index in range(len(stream))))


def test_one_huge_line_in_many_pieces_takes_linear_time():
    def seconds(size):
        line = b"data: " + b"x" * size + b"\n\n"
        start = time.process_time()
        payloads = parse(*(line[index : index + 65_536] for index in range(0, len(line), 65_536)))
        assert len(payloads[0]) == size
        return time.process_time() - start

    seconds(1_000_000)
    assert seconds(64_000_000) < 5


@pytest.mark.parametrize("piece", [b"x" * 1_000, b"data: " + b"x" * 994 + b"\n"])
def test_an_event_without_end_is_given_up_at_the_cap(piece):
    parser = SseParser(event_cap=10_000)

    def feed_on():
        for _ in range(12):
            parser.feed(piece)

    with pytest.raises(ModelFault) as caught:
        feed_on()

    assert (caught.value.kind, caught.value.text) == (
        FaultKind.OVERSIZED,
        "One event of the stream is larger than 0.01 MB.",
    )


def test_many_small_events_never_reach_the_cap():
    parser = SseParser(event_cap=1_000)

    assert sum(len(parser.feed(b"data: " + b"x" * 400 + b"\n\ndata: y")) for _ in range(100)) > 50
