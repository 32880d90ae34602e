"""A page of lines is the same however the file is cut into pieces, and costs no more than itself."""

import os
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import ToolFault
from everturn.ports.files import Stamp
from everturn.workspace.files import MAX_BYTES, read_file
from everturn.workspace.opening import open_for_reading
from everturn.workspace.pages import PageLine, Pager, PageSpan, load_lines

TEXTS = st.text(st.sampled_from("ab\n\ré→"), max_size=60)


def load(path, **fields):
    with open_for_reading(str(path)) as file:
        return load_lines(file, PageSpan(**fields))


def lines_of(text):
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, cuts=st.lists(st.integers(0, 60), max_size=5), first=st.integers(1, 8), count=st.integers(1, 5))
def test_the_pieces_do_not_matter(text, cuts, first, count):
    pager = Pager(PageSpan(first=first, count=count))
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for start, end in pairwise(edges):
        pager.feed(text[start:end])

    assert pager.finish() == len(lines_of(text))
    assert [line.text for line in pager.lines] == lines_of(text)[first - 1 : first - 1 + count]


@settings(max_examples=200, deadline=None)
@given(text=TEXTS, width=st.integers(1, 4), room=st.integers(0, 30))
def test_what_is_left_out_is_known(text, width, room):
    pager = Pager(PageSpan(width=width, room=room))
    pager.feed(text)
    total = pager.finish()

    whole = lines_of(text)
    assert total == len(whole)
    assert pager.out_of_room is (len(pager.lines) < total)
    for line, full in zip(pager.lines, whole, strict=False):
        assert line.length == len(full) or full == "" or line.length == len(full) + 1
        assert full.startswith(line.text.rstrip("\r"))


@settings(max_examples=100, deadline=None)
@given(
    lines=st.lists(
        st.text(st.characters(exclude_characters="\r\n\0\ufeff", max_codepoint=0xFF), max_size=6), max_size=9
    ),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_every_form_of_text_gives_the_lines_and_the_stamp_of_the_whole_file(tmp_path_factory, lines, encoding, newline):
    path = tmp_path_factory.getbasetemp() / "form"
    text = "".join(f"{line}{newline}" for line in ["é", *lines])
    path.write_bytes(text.encode(encoding))

    page = load(path)

    whole = read_file(str(path))
    assert [line.text for line in page.lines] == lines_of(whole.text)
    assert (page.total, page.ended, page.stamp) == (len(page.lines), True, whole.stamp)


def test_a_file_that_turns_out_to_be_latin_1_at_its_end_is_read_again(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"first\n" + b"x" * 600_000 + b"\n\xe9\n")

    page = load(path, first=3)

    assert page.lines == (PageLine("é", 1),)
    assert page.stamp == read_file(str(path)).stamp


def test_lone_returns_are_line_ends_unless_the_file_has_others(tmp_path):
    lone, mixed = tmp_path / "lone", tmp_path / "mixed"
    lone.write_bytes(b"a\rb\r")
    mixed.write_bytes(b"a\rb\r" + b"x" * 300_000 + b"\nc")

    assert [line.text for line in load(lone).lines] == ["a", "b"]
    assert [line.text[:5] for line in load(mixed).lines] == ["a\rb\rx", "c"]


@pytest.fixture
def large(tmp_path):
    """A line in front of a hole: large, and written at once."""
    path = tmp_path / "large"
    row = b"0123456789abcdef\n"
    path.write_bytes(row * 60_000)
    os.truncate(path, MAX_BYTES * 4)
    return path


def test_of_a_large_file_only_the_page_is_read(large):
    tracemalloc.start()
    page = load(large)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    status = large.stat()
    assert page.lines == (PageLine("0123456789abcdef", 16),) * 2_000
    assert page.ended is False
    assert page.total == pytest.approx(MAX_BYTES * 4 / 17, rel=0.01)
    assert page.stamp == Stamp(size=status.st_size, mtime_ns=status.st_mtime_ns, digest="")
    assert peak < 3_000_000


def test_a_place_deep_in_a_large_file_is_found_in_little_memory(large):
    tracemalloc.start()
    page = load(large, first=59_999)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [line.text[:4] for line in page.lines[:2]] == ["0123", "0123"]
    assert (page.ended, page.total) == (True, 60_001)
    assert page.lines[2].length == MAX_BYTES * 4 - 17 * 60_000
    assert peak < 3_000_000


def test_broken_utf_16_is_refused(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"\xff\xfe\x00\xd8")

    with pytest.raises(ToolFault, match="not valid UTF-16"):
        load(path)
