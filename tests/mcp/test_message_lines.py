"""Lines, however they come in pieces."""

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from everturn.mcp.json_rpc import find_id
from everturn.mcp.message_lines import MessageLines, TooLarge


def shown(line):
    return line.size if isinstance(line, TooLarge) else line


@given(st.lists(st.sampled_from([b"", b"{}", b" {1}\r", b"x" * 30, b"y" * 31, b"z" * 90]), max_size=8), st.data())
def test_lines_are_the_same_wherever_they_are_cut(lines, data):
    text = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    places = [0, *cuts, len(text)]
    whole, cut = MessageLines(), MessageLines()

    pieces = [text[begin:end] for begin, end in itertools.pairwise(places)]

    assert [line for piece in pieces for line in cut.feed(piece)] == whole.feed(text)
    assert whole.feed(text) == [line.strip() for line in lines if line.strip()]


@given(st.integers(0, 400), st.integers(1, 50))
def test_a_line_that_is_too_long_is_skipped_to_its_end_and_what_follows_is_read(length, step):
    lines = MessageLines(most=100)
    text = b"x" * length + b"\n{}\n"

    found = [line for at in range(0, len(text), step) for line in lines.feed(text[at : at + step])]

    expected = [length] if length > 100 else [b"x" * length] if length else []
    assert [shown(line) for line in found] == [*expected, b"{}"]


def test_the_id_of_what_cannot_be_read_is_found_at_either_end_or_not_at_all():
    head = json.dumps({"jsonrpc": "2.0", "id": 7}).encode()[:-1]

    assert find_id(head + b',"result":', b"xxx") == 7
    assert find_id(b"{", b'"jsonrpc":"2.0","id": 12}') == 12
    assert find_id(b'{"id":1,', b'"id":1,"id":2}') == 1
    assert find_id(b'{"result":[{"id":1},{"id":2},', b'"x"}') is None
