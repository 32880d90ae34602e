"""The live screen against a real terminal emulator: whatever is put and drawn, in whatever sizes, stands there once and whole."""

from hypothesis import given
from hypothesis import strategies as st
from pyghostty import Terminal

from everturn.frontends.ansi import Style
from everturn.frontends.terminal.live_screen import LiveScreen

WORDS = st.text(alphabet="abc déf漢字🙂 xyz", min_size=1, max_size=60).map(lambda text: text.strip() or "w")


class Emulated:
    """A live screen and the terminal that it is shown on."""

    def __init__(self, columns=30, rows=12):
        self.size = (columns, rows)
        self.terminal = Terminal(columns, rows)
        self.unknown = []
        self.terminal.on_unknown_sequence(self.unknown.append)
        self.sent = []
        self.screen = LiveScreen(self.write, Style(), lambda: self.size)
        self.screen.synchronized = True

    def write(self, text):
        self.sent.append(text)
        self.terminal.feed(text.encode())

    def draw(self, *rows, cursor=None):
        self.screen.draw(rows, cursor)
        self.screen.flush()

    def resize(self, columns, rows):
        self.terminal.resize(columns, rows)
        self.size = (columns, rows)
        self.screen.resize()

    @property
    def lines(self):
        return [line.rstrip() for line in self.terminal.contents().strip("\n ").split("\n")]


def test_text_stands_above_the_live_area_which_is_drawn_below_it():
    shown = Emulated()

    shown.draw("> ", "status", cursor=(0, 2))
    shown.screen.put("Hello\n")
    shown.draw("> hi", "status", cursor=(0, 4))

    assert shown.lines == ["Hello", "> hi", "status"]
    assert shown.terminal.cursor == (4, 1)


def test_a_line_that_streams_goes_on_where_it_ended_and_is_one_line_for_the_terminal():
    shown = Emulated(columns=20)
    text = "This line is longer than the terminal is wide, and comes in pieces."

    for at in range(0, len(text), 3):
        shown.screen.put(text[at : at + 3])
        shown.draw("> ", "status", cursor=(0, 2))
    shown.screen.put("\n")
    shown.draw("> ", "status", cursor=(0, 2))

    assert shown.lines == [text, ">", "status"]


def test_what_is_drawn_again_is_only_what_has_changed():
    shown = Emulated()
    shown.draw("one", "two", "three", cursor=(0, 0))
    shown.sent.clear()

    shown.draw("one", "2", "three", cursor=(0, 0))
    (sent,) = shown.sent
    shown.draw("one", "2", "three", cursor=(0, 0))

    assert "2" in sent
    assert "one" not in sent
    assert "three" not in sent
    assert len(shown.sent) == 1


def test_what_is_taken_back_disappears_and_the_live_area_moves_up():
    shown = Emulated()
    shown.screen.put("before\n")
    shown.screen.mark()
    shown.screen.put("a first line\nand half of a second that is longer than the width")
    shown.draw("> ", cursor=(0, 2))

    assert shown.screen.take_back()
    shown.screen.put("again\n")
    shown.draw("> ", cursor=(0, 2))

    assert shown.lines == ["before", "again", ">"]


def test_what_has_scrolled_away_cannot_be_taken_back():
    shown = Emulated(rows=6)
    shown.screen.mark()
    shown.screen.put("line\n" * 6)
    shown.draw("> ", cursor=(0, 2))

    assert not shown.screen.take_back()


@st.composite
def steps(draw):
    return draw(
        st.lists(
            st.one_of(
                st.tuples(st.just("put"), WORDS),
                st.tuples(st.just("line"), WORDS.map(lambda text: f"{text}\n")),
                st.tuples(
                    st.just("draw"), st.lists(st.sampled_from(["> prompt", "status", "漢字 row", ""]), max_size=4)
                ),
                st.tuples(st.just("flush"), st.none()),
            ),
            max_size=40,
        )
    )


@given(steps=steps(), columns=st.integers(12, 50), rows=st.integers(5, 20))
def test_whatever_is_put_and_drawn_stands_there_once_and_in_order(steps, columns, rows):
    shown = Emulated(columns, rows)
    text, live = play(shown, steps)

    assert shown.lines == lines_of(text, live)
    assert shown.unknown == []


@given(before=steps(), columns=st.integers(12, 50), after=steps(), narrow=st.integers(12, 50), rows=st.integers(5, 20))
def test_after_another_width_everything_stands_there_once_as_well(before, columns, after, narrow, rows):
    shown = Emulated(columns, rows)
    text, live = play(shown, before, ends=False)
    shown.resize(narrow, rows)
    more, live = play(shown, after, live)

    assert shown.lines == lines_of(text + more, live)


def play(shown, steps, live=(), *, ends=True):
    text = ""
    for name, value in steps:
        match name:
            case "put" | "line":
                text += value
                shown.screen.put(value)
            case "draw":
                live = value
                shown.screen.draw(live, (0, 0) if live else None)
            case _:
                shown.screen.flush()
    shown.screen.flush()
    if ends:
        # What is held back at the edge is shown with what follows.
        shown.screen.end_line()
        shown.screen.flush()
    return text, live


def lines_of(text, live):
    whole = text if not text or text.endswith("\n") else f"{text}\n"
    return [line.rstrip() for line in f"{whole}{chr(10).join(live)}".strip("\n ").split("\n")]
