"""What stays and what is still being painted never get into each other's way."""

import io

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.demo.terminal import screen_of

from everturn.cli.demo.lines import Span, Style, cut, line, render_plain, width_of, wrap
from everturn.cli.demo.screen import Screen

WIDTH, HEIGHT = 40, 8
words = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=60)
spans = st.builds(Span, words, st.sampled_from(Style))
lines = st.lists(spans, max_size=3).map(tuple)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.lists(lines, max_size=HEIGHT + 3))))
def test_a_terminal_shows_all_that_was_kept_and_what_was_painted_last(steps):
    out = io.StringIO()
    screen = Screen(out, live=True, width=WIDTH, height=HEIGHT)
    kept, painted = [], []
    for keeps, shown in steps:
        if keeps:
            screen.keep(*shown)
            kept, painted = kept + shown, []
        else:
            screen.paint(shown)
            painted = shown[-(HEIGHT - 1) :]

    expected = ["".join(span.text for span in one) for one in [*kept, *(cut(one, WIDTH) for one in painted)]]
    assert screen_of(out.getvalue()) == [*expected, ""]
    assert screen.kept == kept


@given(lines, st.integers(1, 80))
def test_a_line_that_is_cut_fits_and_a_line_that_fits_is_not_cut(shown, width):
    fitted = cut(shown, width)

    assert width_of(fitted) <= width
    assert (fitted == shown) == (width_of(shown) <= width)


@given(st.lists(st.text("abc", min_size=1, max_size=12)), st.integers(30, 80))
def test_wrapped_text_keeps_its_words_and_its_margin(said, width):
    wrapped = wrap(" ".join(said), width, first="> ", rest="  ")

    assert all(width_of(one) <= width for one in wrapped)
    assert [one[0].text for one in wrapped] == ["> ", *["  "] * (len(wrapped) - 1)]
    assert " ".join(one[1].text for one in wrapped).split() == said


def test_in_plain_text_tildes_say_what_was_taken_back():
    shown = line("  ", Span("Half an ans", Style.RETRACTED), Span(" then", Style.BAD))

    assert render_plain(shown) == "  ~~Half an ans~~ then"


def test_a_screen_that_is_not_live_paints_nothing():
    out = io.StringIO()

    Screen(out, live=False, width=WIDTH, height=HEIGHT).paint([line("on its way")])

    assert out.getvalue() == ""
