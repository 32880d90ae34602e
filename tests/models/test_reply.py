"""The reading of answers, held against h11: the same answer for every way to cut the bytes, and nothing accepted that it refuses."""

from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.models.transport.reply import HEADER_LIMIT, BrokenReplyError, HttpReply

BODIES = st.binary(max_size=40)
FIELDS = st.lists(
    st.tuples(
        st.sampled_from([b"Content-Type", b"x-a", b"X-A", b"request-id"]),
        st.sampled_from([b"a", b" b c ", b"\xe9", b""]),
    ),
    max_size=3,
)


@st.composite
def answers(draw):
    """A whole answer, as servers send it."""
    status = draw(st.sampled_from([b"200 OK", b"200", b"204 No Content", b"400 Bad", b"529 ", b"304 x"]))
    version = draw(st.sampled_from([b"1.1", b"1.1", b"1.0"]))
    fields, body = draw(FIELDS), draw(BODIES)
    framing = draw(st.sampled_from(["length", "twice", "chunked", "closed"]))
    if status[:1] + status[2:3] in {b"24", b"34"}:
        # These have no body, whatever they say.
        body, framing = b"", "closed"
    if framing == "chunked":
        fields = [*fields, (b"Transfer-Encoding", draw(st.sampled_from([b"chunked", b"Chunked"])))]
        sizes = draw(st.lists(st.integers(1, 7), max_size=8))
        body = chunked(
            body, sizes, draw(st.sampled_from([b"", b";name=value"])), draw(st.sampled_from([b"", b"x-t: 1\r\n"]))
        )
    elif framing != "closed":
        fields = [*fields, *[(b"Content-Length", b"%d" % len(body))] * (1 if framing == "length" else 2)]
    if draw(st.booleans()):
        fields = [*fields, (b"Connection", draw(st.sampled_from([b"close", b"keep-alive", b"Close, x"])))]
    provisional = draw(st.sampled_from([b"", b"", b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"]))
    head = b"".join(b"%b: %b\r\n" % field for field in fields)
    return b"%bHTTP/%b %b\r\n%b\r\n%b" % (provisional, version, status, head, body)


def chunked(body, sizes, extension, trailers):
    pieces, at = [], 0
    for size in [*sizes, len(body)]:
        if piece := body[at : at + size]:
            pieces.append(b"%x%b\r\n%b\r\n" % (len(piece), extension, piece))
        at += size
    return b"".join(pieces) + b"0\r\n" + trailers + b"\r\n"


def cut(data, places):
    marks = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[begin:end] for begin, end in pairwise(marks)]


def read(pieces):
    """Status, headers, body, and whether another request may follow; None where it is refused or not whole."""
    reply, body = HttpReply(), b""
    try:
        for piece in [*pieces, b""]:
            if piece == b"" and reply.is_whole:
                break
            reply.feed(piece)
            if reply.take_head():
                while part := reply.take_body():
                    body += part
    except BrokenReplyError:
        return None
    return (reply.status, reply.headers, body, reply.can_follow) if reply.is_whole else None


def read_by_h11(pieces):
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("host", "x"), ("content-length", "0")]))
    connection.send(h11.EndOfMessage())
    status, headers, body, hung_up, ended = 0, {}, b"", False, False
    try:
        for piece in [*pieces, b""]:
            if piece == b"" and connection.their_state is h11.DONE:
                break
            hung_up = piece == b""
            connection.receive_data(piece)
            while isinstance(event := connection.next_event(), h11.Event):
                match event:
                    case h11.Response(status_code=code):
                        status = code
                        for name, value in event.headers:
                            key, text = name.decode(), value.decode("latin-1")
                            headers[key] = f"{headers[key]}, {text}" if key in headers else text
                    case h11.Data(data=data):
                        body += data
                    case h11.EndOfMessage():
                        ended = True
                        break
                    case h11.ConnectionClosed():
                        break
    except h11.RemoteProtocolError:
        # After the end it is about bytes that nobody asked for: then nothing may follow.
        return (status, headers, body, False) if ended else None
    follows = not hung_up and connection.their_state is h11.DONE and not connection.trailing_data[0]
    return (status, headers, body, follows) if ended else None


FRAMING = {"content-length", "transfer-encoding"}


def told(answer):
    """Without what h11 writes in its own way: a length that stands twice, the case of `chunked`."""
    if answer is None:
        return None
    status, headers, body, follows = answer
    return status, {name: value for name, value in headers.items() if name not in FRAMING}, body, follows


@given(answers(), st.lists(st.integers(0, 500), max_size=6))
def test_an_answer_is_read_as_h11_reads_it_however_it_is_cut(data, places):
    read_whole = read([data])

    assert read_whole is not None
    assert told(read_whole) == told(read_by_h11([data]))
    assert read(cut(data, places)) == read_whole


@given(answers(), st.integers(0, 500), st.sampled_from([b"", b"\x00", b"\n", b"\r", b" ", b"9", b":", b"Z", b"-"]))
def test_what_is_accepted_is_accepted_by_h11_too_and_means_the_same(data, place, wrong):
    place %= len(data)
    broken = data[:place] + wrong + data[place + 1 :]
    ours = told(read([broken]))

    assert ours is None or ours == told(read_by_h11([broken]))


@given(answers(), st.integers(0, 500))
def test_an_answer_that_breaks_off_is_never_whole_unless_its_end_is_the_connections(data, place):
    piece = data[: place % len(data)]

    assert told(read([piece])) == told(read_by_h11([piece]))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"SSH-2.0-server\r\n\r\n", "it begins with no status line"),
        (b"HTTP/2 200\r\n\r\n", "it begins with no status line"),
        (b"HTTP/1.1 101 Switching\r\n\r\n", "it switches to another protocol"),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "it has a malformed header"),
        (b"HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n", "it has a malformed header"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n", "its transfer encoding is unknown"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", "its length is no number"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\n", "its length is no number"),
        (b"x" * (HEADER_LIMIT + 1), "its head has no end"),
    ],
)
def test_what_is_no_answer_is_told_in_words(data, problem):
    reply = HttpReply()
    reply.feed(data)

    with pytest.raises(BrokenReplyError, match=problem):
        reply.take_head()


def test_bytes_after_the_end_mean_that_nothing_may_follow():
    reply = HttpReply()
    reply.feed(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab")

    assert (reply.take_head(), reply.take_body(), reply.is_whole, reply.can_follow) == (True, b"a", True, False)
