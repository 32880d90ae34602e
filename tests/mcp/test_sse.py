"""Streams of events, cut anywhere."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.mcp.sse import OversizedEventError, SseEvent, SseReader

STREAM = (
    b"\xef\xbb\xbf: hello\r\n\r\nevent: endpoint\rdata: /m\r\rid: 7\nretry: 250\ndata:\n\n"
    b"data: one\r\ndata:  two\r\n\r\nnonsense\n\nid: \0\nretry: soon\n\ndata: \xc3\xbc\n\n"
)
EVENTS = [
    SseEvent(kind="endpoint", data=b"/m"),
    SseEvent(id="7", retry_ms=250),
    SseEvent(data=b"one\n two"),
    SseEvent(data="ü".encode()),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_the_same_wherever_the_stream_is_cut(cuts):
    reader = SseReader(1_000)
    places = [0, *sorted(cuts), len(STREAM)]

    pieces = [STREAM[begin:end] for begin, end in itertools.pairwise(places)]

    assert [event for piece in pieces for event in reader.feed(piece)] == EVENTS


@pytest.mark.parametrize("pieces", [[b"data: " + b"x" * 100], [b"data: x"] + [b"y" * 20] * 5, [b"data: xxxx\n"] * 20])
def test_an_event_that_is_too_large_is_refused(pieces):
    reader = SseReader(60)

    with pytest.raises(OversizedEventError):
        [reader.feed(piece) for piece in pieces]
