"""Foreign text cannot command the terminal."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.frontends.harmless import HarmlessText, make_harmless, make_line

CASES = {
    "colours": ("\x1b[31mred\x1b[0m", "red"),
    "cursor": ("up\x1b[2Aand\x1b[2Kerase", "upanderase"),
    "title": ("\x1b]0;owned\x07text", "text"),
    "link": ("\x1b]8;;http://x\x1b\\here\x1b]8;;\x1b\\", "here"),
    "clipboard": ("\x1b]52;c;cm0gLXJm\x07.", "."),
    "eight bit": ("\x9b31mred", "red"),
    "a title without an end hides nothing": ("\x1b]0;rm -rf build", "]0;rm -rf build"),
    "half a sequence": ("text\x1b[", "text"),
    "carriage returns": ("one\rtwo\r\nthree", "one\ntwo\nthree"),
    "bells and backspaces": ("a\x07b\x08c\x7f", "abc"),
    "reordering": ("rm \u202etxt.a\u2066", "rm txt.a"),
    "newlines and tabs stay": ("a\n\tb", "a\n\tb"),
    "letters of all kinds stay": ("naïve 漢字 😀 עברית", "naïve 漢字 😀 עברית"),
}


@pytest.mark.parametrize(("given_", "shown"), CASES.values(), ids=CASES)
def test_control_sequences_go_and_words_stay(given_, shown):
    assert make_harmless(given_) == shown


@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b\x9b[]0;mAJK\r\n\x07\\")))
def test_nothing_that_moves_the_cursor_is_left(text):
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", make_harmless(text)) is None


def test_a_line_is_one_line():
    assert make_line(" a\n\tb\x1b[2J  c ") == "a b c"


PIECES = st.lists(
    st.sampled_from(
        ["a", "\x1b", "[", "0", "m", "]8;;", "\x07", "\\", "\r", "\n", "\x9b", "\x9d", "é", " ", "(B", "P"]
    ),
    max_size=12,
)


@given(PIECES)
def test_what_comes_in_pieces_is_as_harmless_as_in_one(pieces):
    text = HarmlessText()

    assert "".join([*map(text.feed, pieces), text.finish()]) == make_harmless("".join(pieces))


def test_a_sequence_without_an_end_is_not_waited_for_forever():
    text = HarmlessText()

    assert text.feed("\x1b]" + "a" * 5_000) != ""
