"""The stage itself, proved on what is known: sequences that a small program writes, and `everturn -p`."""

import sys

import pytest
from tests.frontends.terminal.sequences import find_clears, find_unknown, parse_sequences
from tests.frontends.terminal.stage import Stage

from everturn.modelserver import calls, hold, text

PYTHON = (sys.executable, "-u", "-c")
PAINTER = r"""
import sys
write = lambda words: (sys.stdout.write(words), sys.stdout.flush())
for number in range(40):
    write(f"line {number}\r\n")
write("ab\u6f22\u5b57c\U0001f642d e\u0301x\r\n")
write("\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\ \x1b[1;31mred\x1b[0m \x1b[9mgone\x1b[0m\r\n")
write("word " * 30 + "end\r\n")
write("\x1b[?2026h\x1b[2A\x1b[Jup\r\n\x1b[?2026l")
write("\x1b]0;a title\x07\x1b]9;4;1;50\x07\x1b]52;c;aGVsbG8=\x07done")
"""
ASKER = r"""
import os, select, sys, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\x1b[?2026$p\x1b[?u\x1b]11;?\x1b\\\x1b[6n\x1b[c")
got = b""
while not got.endswith(b"c"):
    got += os.read(0, 1000)
os.write(1, b"\r\n" + got.replace(b"\x1b", b"~") + b"\r\n")
os.write(1, b"\x1b[>1u\x1b[?2004hready\r\n")
got = b""
while not got.endswith(b"q"):
    got += os.read(0, 1000)
os.write(1, got.replace(b"\x1b", b"~") + b"\x1b[<u\x1b[?2004l\r\n")
termios.tcsetattr(0, termios.TCSANOW, before)
"""
LOUD = r"""
import os
os.write(1, b"\x1b]7777;x\x07\x1b[99z\x1b[?9999h\x1b[77m\x0e\xff\x1bPq\x1b\\end")
"""
SIZES = r"""
import os, signal, sys
def tell(*_):
    size = os.get_terminal_size()
    os.write(1, f"{size.columns} x {size.lines}\r\n".encode())
signal.signal(signal.SIGWINCH, tell)
tell()
while True:
    signal.pause()
"""


@pytest.mark.needs("Node")
async def test_both_judges_see_the_same_screen():
    async with Stage(PAINTER, program=PYTHON, columns=60, rows=12) as stage:
        assert await stage.end() == 0
        second = await stage.second_judge()
        assert (second.screen, second.scrollback, second.cursor) == (stage.screen, stage.scrollback, stage.cursor)
        assert second.unknown == []


async def test_the_emulator_tells_text_styles_links_and_what_was_copied():
    async with Stage(PAINTER, program=PYTHON, columns=60, rows=12) as stage:
        await stage.end()
        assert stage.scrollback[:2] == ["line 0", "line 1"]
        assert stage.line("link") == "link red gone"
        assert stage.styles_at("red")["fg"] == ("palette", 1)
        assert stage.styles_at("gone")["strikethrough"]
        assert stage.link_at("link") == "http://example.com"
        assert stage.emulator.find("c🙂d") == (6, stage.row_of("c🙂d"))
        assert (stage.title, stage.told("9"), stage.clipboard) == ("a title", ["4;1;50"], "hello")
        assert "word " * 12 in stage.everything


async def test_queries_are_answered_and_keys_come_in_the_modes_that_are_set():
    async with Stage(ASKER, program=PYTHON) as stage:
        await stage.see("ready")
        assert "~[?2026;2$y~[?0u~]11;rgb:1e1e/1e1e/2e2e~\\~[1;1R~[?62;22c" in stage.text
        await stage.press("escape", "shift-enter", "shift-tab", "up", "alt-enter")
        await stage.paste("one\ntwo")
        await stage.type("q")
        await stage.end()
        assert "~[27u~[13;2u~[9;2u~[A~[13;3u~[200~one" in stage.text
        assert "two~[201~q" in stage.text


async def test_a_silent_terminal_answers_when_it_is_told_to():
    async with Stage(ASKER, program=PYTHON, answers=False) as stage:
        await stage.sent(b"\x1b[c")
        assert stage.text == "\n" * 29
        stage.answer_now()
        await stage.see("ready")


async def test_what_no_terminal_knows_is_found():
    async with Stage(LOUD, program=PYTHON, checks=False) as stage:
        await stage.end()
        assert len(stage.unknown) == 8
        assert any("7777;x" in one for one in stage.unknown)


@pytest.mark.parametrize(
    ("written", "unknown", "clears"),
    [
        ("plain 漢字 🙂\r\n\t", [], []),
        ("\x1b[1;38;5;9;48;2;1;2;3mx\x1b[0m\x1b[m\x1b[4:3m", [], []),
        ("\x1b[38;7mx", ["\x1b[38;7m"], []),
        ("\x1b[?2026h\x1b[2K\x1b[3A\x1b[J\x1b[?25l", [], []),
        ("\x1b[2J\x1b[H\x1b[3J", [], ["\x1b[2J", "\x1b[3J"]),
        ("\x1bc", ["\x1bc"], ["\x1bc"]),
        ("\x1b]0;a\x07\x1b]8;;x\x1b\\", [], []),
        ("\x1b]4;1;?\x07", ["\x1b]4;1;?\x07"], []),
        ("\x9b2J\x05", ["\x9b", "\x05"], []),
        ("\x1b[?47h", ["\x1b[?47h"], []),
        ("\x1b", ["\x1b"], []),
    ],
)
def test_sequences_are_told_apart(written, unknown, clears):
    sequences = list(parse_sequences(written.encode()))
    assert "".join(one.raw for one in sequences) == written
    assert (find_unknown(sequences), find_clears(sequences)) == (unknown, clears)


async def test_a_program_hears_of_a_new_size():
    async with Stage(SIZES, program=PYTHON, columns=80, rows=10) as stage:
        await stage.see("80 x 10")
        stage.resize(40, 6)
        await stage.see("40 x 6")
        stage.resize(0, 0)
        await stage.see("0 x 0")
        stage.resize(90, 12)
        await stage.see("90 x 12")


async def test_an_answer_in_markdown_streams_piece_by_piece():
    answer = hold(text("One **two** three. Four five.", chunk=9), each=True)
    async with Stage("-p", "Tell", script=[answer]) as stage:
        await stage.see("One")
        assert "two" not in stage.text
        stage.release(pieces=2)
        await stage.see("One two three.")
        assert stage.styles_at("two")["bold"]
        stage.release()
        assert await stage.end() == 0


async def test_a_question_is_answered_by_a_key():
    touch = ("Bash", {"command": "touch made.txt"})
    async with Stage("-p", "Make it", script=[calls(touch), "Done."], columns=60) as stage:
        await stage.see("Bash wants to run a command", "│ touch made.txt", "[e] explain\n>")
        await stage.press("y")
        await stage.see("Done.")
        assert await stage.end() == 0
        assert (stage.folder / "made.txt").exists()
        assert stage.said(0) == "Make it"


async def test_ctrl_c_ends_an_answer():
    async with Stage("-p", "Tell", script=[hold("Once upon a time", after=4)], checks=False) as stage:
        await stage.see("Once upon")
        await stage.press("ctrl-c")
        assert await stage.end() == 130
        assert "Interrupted." in stage.text


@pytest.mark.needs("Node")
async def test_both_judges_see_the_same_of_a_run_with_a_tool():
    answer = "# Title\n\n| a | b |\n|---|---|\n| 漢字 | 🙂 |\n\n```python\nprint(1)\n```\n" + "long words " * 20
    async with Stage("-p", "Look", script=[calls(("Glob", {"pattern": "*"})), answer], columns=50, rows=10) as stage:
        await stage.end()
        second = await stage.second_judge()
        assert (second.screen, second.scrollback) == (stage.screen, stage.scrollback)
