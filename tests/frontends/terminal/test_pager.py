"""Ctrl-O: the last folded result on the alternate screen, and the conversation as it was behind it."""

import time

import pytest
from pyghostty import Terminal
from tests.frontends.terminal.stage import Stage

from everturn.frontends.ansi import DIM, Style
from everturn.frontends.terminal.inputs import Key, Paste
from everturn.frontends.terminal.pager import DetailsPager
from everturn.frontends.terminal.results import Details
from everturn.modelserver import calls, hold, text

COUNT = ("Bash", {"command": "seq -f 'row %g' 300"})
FREE = ("--permission-mode", "bypassPermissions")


def is_open(stage):
    return stage.emulator.is_other_screen and "q leaves" in stage.text


def is_closed(stage):
    return not stage.emulator.is_other_screen and "bypassPermissions" in stage.text


async def folded(stage):
    await stage.type("count\n")
    await stage.read("294 more lines")
    await stage.see("Counted.", "2 rounds", "% context · $")


async def test_a_folded_result_is_opened_and_the_screen_is_as_before_when_it_is_left():
    async with Stage(*FREE, script=[calls(COUNT), "Counted."]) as stage:
        await folded(stage)
        before = stage.screen, stage.scrollback, stage.cursor
        for leaves in ("q", "escape", "ctrl-c", "ctrl-o"):
            await stage.press("ctrl-o")
            await stage.see(is_open, "row 1\nrow 2\n", "1 to 29 of 300 lines, 9 %", "seq -f")
            await stage.press(leaves)
            await stage.see(is_closed)
            assert (stage.screen, stage.scrollback, stage.cursor) == before
        assert await stage.leave() == 0


async def test_keys_scroll_and_search():
    async with Stage(*FREE, script=[calls(COUNT), "Counted."], rows=11) as stage:
        await folded(stage)
        await stage.press("ctrl-o")
        await stage.see(is_open, "1 to 10 of 300")
        for keys, first in (
            (("down", "j"), 3), (("k", "up"), 1), (("space",), 10), (("page-down",), 19), (("page-up",), 10), (("b",), 1),
            (("end",), 291), (("home",), 1), (("G",), 291), (("left", "right", "down"), 291), (("g",), 1),
        ):  # fmt: skip
            await stage.press(*keys)
            await stage.see(f"{first} to {first + 9} of 300", f"row {first}\nrow {first + 1}\n")
        await stage.type("/ROW 12")
        await stage.see("/ROW 12")
        await stage.press("enter")
        await stage.see("nothing fits 'ROW 12'")
        await stage.type("/row 12\n")
        await stage.see("row 12\n", "3 to 12 of 300" if "3 to 12" in stage.text else "12 to 21 of 300")
        assert stage.styles_at("row 12")["inverse"]
        await stage.type("nn")
        await stage.see("row 121\n")
        await stage.type("NNN")
        await stage.see("row 129\n", "searched on from the other end")
        await stage.press("q")
        await stage.see("Counted.")


async def test_what_streams_meanwhile_stands_there_when_it_is_left():
    answer = hold(
        text("A line that streams while something else is looked at, longer than the window is wide.", chunk=6),
        each=True,
    )
    async with Stage(*FREE, script=[calls(COUNT), answer, "Next."], columns=60, rows=16) as stage:
        await stage.type("count\n")
        stage.release(pieces=3)
        await stage.see("294 more lines", "A line that stream")
        await stage.press("ctrl-o")
        await stage.see(is_open)
        stage.release(pieces=8)
        await stage.press("j")
        await stage.see("2 to 16 of 300")
        await stage.press("q")
        await stage.see("something else is looked at", is_closed)
        await stage.press("ctrl-o")
        await stage.see(is_open)
        stage.release()
        await stage.press("q")
        await stage.read("A line that streams while something else is looked at, longer than the window is wide.")
        await stage.type("go on\n")
        await stage.see("Next.", is_closed)
        assert stage.everything.count("A line that") == 1


@pytest.mark.parametrize("columns", [40, 100])
async def test_it_is_wrapped_anew_at_another_width_and_so_is_the_conversation(columns):
    wide = ("Bash", {"command": "for n in 1 2 3 4 5 6 7 8; do printf 'begin%060d-end\\n' $n; done"})
    answer = hold(text("Half a sentence that is as long as this and goes on.", chunk=30), each=True)
    async with Stage(*FREE, script=[calls(wide), answer], columns=70, rows=20) as stage:
        await stage.type("count\n")
        stage.release(pieces=1)
        await stage.see("2 more lines", "Half a sentence")
        await stage.press("ctrl-o")
        await stage.see("1 to 8 of 8 lines, 100 %")
        stage.resize(columns, 18)
        await stage.see("1 to 8 of 8 lines, 100 %", lambda stage: (len(stage.line("begin")) == 40) == (columns == 40))
        await stage.press("q")
        stage.release()
        await stage.read("Half a sentence that is as long as this and goes on.")
        await stage.see("bypassPermissions", lambda stage: not stage.emulator.is_other_screen)
        assert stage.everything.count("Half a sentence") == 1
        assert stage.everything.count("bypassPermissions") == 1
        assert stage.everything.count("> count\n") == 1


async def test_a_question_behind_it_waits_and_is_told():
    touch = ("Bash", {"command": "touch made.txt"})
    settings = {"permissions": {"allow": ["Bash(seq *)"]}}
    answers = [calls(COUNT), hold(calls(touch), after=1)]
    async with Stage(script=[*answers, "Done."], settings=settings) as stage:
        await stage.type("count\n")
        await stage.see("294 more lines")
        await stage.press("ctrl-o")
        await stage.see(is_open)
        stage.release()
        await stage.see("q leaves: a question waits")
        await stage.type("yn")
        await stage.press("q")
        await stage.see("[y]", "touch made.txt")
        assert not (stage.folder / "made.txt").exists()


async def test_foreign_text_does_nothing_to_the_terminal():
    loud = (
        "Bash",
        {
            "command": r"""for n in 1 2 3 4 5 6 7 8; do printf '\033[2J\033]0;owned\007\033[?1049l\tx\r\302\233mline %s \n' $n; done"""
        },
    )
    async with Stage(*FREE, script=[calls(loud), "Seen."]) as stage:
        await stage.type("look\n")
        await stage.see("Seen.", "2 more lines")
        await stage.press("ctrl-o")
        await stage.see(is_open, "line 1", "line 8")
        assert "owned" not in stage.title
        await stage.press("q")
        await stage.see(is_closed)


async def test_the_program_that_is_ended_meanwhile_leaves_the_terminal_in_order():
    import signal

    async with Stage(*FREE, script=[calls(COUNT), "Counted."]) as stage:
        await folded(stage)
        await stage.press("ctrl-o")
        await stage.see(is_open)
        stage.signal(signal.SIGTERM)
        assert await stage.end() == 143
        assert "Counted." in stage.text


class Shown:
    """A pager before an emulator."""

    def __init__(self, lines, columns=40, rows=10):
        self.size = (columns, rows)
        self.terminal = Terminal(columns, rows)
        self.style = Style()
        self.is_open = True
        self.pager = DetailsPager(Details("title", tuple(lines)), self, close=self.close)
        self.pager.draw()

    def measure(self):
        return self.size

    def send_frame(self, body):
        self.terminal.feed(body.encode())

    def close(self):
        self.is_open = False

    def press(self, *keys):
        for key in keys:
            given = Key(key, text=key) if len(key) == 1 else key if isinstance(key, Paste) else Key(key)
            self.pager.receive(given)
        self.pager.draw()

    @property
    def rows(self):
        return [line.rstrip() for line in str(self.terminal.contents()).split("\n")]


def test_two_hundred_thousand_lines_open_end_and_are_searched_at_once():
    lines = [(f"line {number}", DIM) for number in range(1, 200_001)]
    began = time.process_time()
    shown = Shown(lines)
    assert shown.rows[:2] == ["line 1", "line 2"]
    assert not shown.terminal.style(0, 0)["faint"]
    shown.press("end")
    assert shown.rows[8] == "line 200000"
    shown.press("/", *"199999", "enter")
    shown.press("home", "/", *"150000", "enter")
    took = time.process_time() - began

    assert shown.rows[0] == "line 150000"
    assert took < 2


def test_a_line_of_a_million_characters_is_walked_through_row_by_row():
    shown = Shown([("first", ""), ("0123456789" * 100_000 + "end", ""), ("last", "")])
    shown.press("down", "down")
    assert shown.rows[0] == "0123456789" * 4
    shown.press("/", *"9end", "enter")
    assert shown.rows[-2] == "last"
    assert "end" in "".join(shown.rows[:-2])
    shown.press("home")
    assert shown.rows[0] == "first"


def test_wide_characters_and_tabs_keep_their_columns():
    shown = Shown([("漢字" * 15, ""), ("a\tb", "")], columns=21, rows=8)
    assert shown.rows[:4] == ["漢字" * 5, "漢字" * 5, "漢字" * 5, "a       b"]


def test_typing_a_search_can_be_taken_back():
    shown = Shown([("one", ""), ("two", "")])
    shown.press("/", "x", "y", "backspace", "escape")
    assert shown.rows[0] == "one"
    assert shown.is_open
    shown.press("n")
    assert "nothing was searched yet" in shown.rows[-1]
    shown.press("/", "backspace", "q")
    assert not shown.is_open


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (12, 3)])
def test_the_smallest_windows_show_what_fits(size):
    shown = Shown([("some words", "")] * 5, *size)
    shown.press("end", "/", "w", "enter", "n", "N", "home")
    shown.press("q")
    assert not shown.is_open
