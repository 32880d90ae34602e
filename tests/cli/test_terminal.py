"""The program on a real pseudo-terminal."""

import asyncio
import os
import pty
import re

import pytest
from tests.cli.terminals import at_terminal
from tests.frontends.readers import screen_of

from everturn.modelserver import calls, rate_limited, stall


async def on_terminal(program, *words: str, term: str = "xterm-256color") -> tuple[int, str]:
    """Standard input and output are the terminal's; gives the exit code and all that was shown."""
    ours, theirs = pty.openpty()
    shown = asyncio.ensure_future(asyncio.to_thread(read_all, ours))
    env = {"TERM": term}
    async with program.started(*words, env=env, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        code = await process.wait()
    text = await shown
    os.close(ours)
    return code, text


def read_all(descriptor: int) -> str:
    pieces = []
    while True:
        try:
            piece = os.read(descriptor, 65_536)
        except OSError:
            # Linux ends a terminal that nobody holds open any more with an error.
            break
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces).decode()


def plain(shown: str) -> str:
    """The words, without colours and line ends."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", shown).split())


async def test_a_terminal_shows_tools_and_the_answer_and_is_not_read(program):
    program.model(calls(("Glob", {"pattern": "*.txt"})), "No **texts** here.")
    code, shown = await on_terminal(program, "-p", "Which texts are here?")
    assert code == 0
    assert "Glob" in shown
    assert "texts" in shown
    assert program.said(0) == "Which texts are here?"


async def test_a_dumb_terminal_is_told_that_the_interactive_program_needs_more(program):
    code, shown = await on_terminal(program, term="dumb")
    assert code == 2
    assert "needs a terminal whose cursor it can move, and TERM=dumb says that this one has none" in plain(shown)


async def test_ctrl_c_in_mid_answer_leaves_no_trace_of_the_key(program):
    program.model(stall("Once upon a time there was", after=4))
    async with at_terminal(program, "-p", "Tell") as terminal:
        before = terminal.modes()
        await terminal.until("Once upon")
        terminal.press("\x03")
        await terminal.until("Interrupted.")
        assert await terminal.process.wait() == 130
        assert terminal.modes() == before
    assert "^C" not in terminal.shown


@pytest.mark.parametrize("columns", [40, 80])
async def test_ctrl_c_while_something_is_waited_for_leaves_a_clean_line(program, columns):
    command = "echo begun and more words to fill the line; read line < never # " + "and more " * 20
    os.mkfifo(program.folder / "never")
    program.model(calls(("Bash", {"command": command})))
    words = ("-p", "Go", "--permission-mode", "bypassPermissions")
    async with at_terminal(program, *words, columns=columns) as terminal:
        await terminal.until("begun")
        terminal.press("\x03")
        await terminal.until("Interrupted.")
        assert await terminal.process.wait() == 130
    rows = [row for row in screen_of(terminal.raw, columns) if row]
    assert rows[0].startswith("✗ Bash echo")
    assert rows[1].startswith("Interrupted. The session is kept:")


async def test_ctrl_c_before_the_terminal_is_ours_ends_the_line_that_it_was_shown_in(program):
    """Standard input is read before anything is drawn."""
    async with at_terminal(program, "-p", "Tell", stdin=asyncio.subprocess.PIPE) as terminal:
        await terminal.until("waiting for standard input to end")
        terminal.press("\x03")
        assert await terminal.process.wait() == 130
    assert terminal.shown.endswith("^C\n")


async def test_a_person_at_a_terminal_waits_longer_than_a_script(program):
    program.model(rate_limited(retry_after=600), "Hello.", rate_limited(retry_after=601), "never")

    waited, shown = await on_terminal(program, "-p", "Hi")
    ended, refused = await on_terminal(program, "-p", "Hi")

    assert (waited, ended) == (0, 1)
    assert "again in 10 min 00 s (1/10)" in plain(shown)
    assert "The server asks to wait 11 min" in plain(refused)


async def test_a_script_does_not_wait_ten_minutes(program):
    program.model(rate_limited(retry_after=600), "never")

    done = await program.run("-p", "Hi")

    assert (done.code, done.out, len(program.requests)) == (1, "", 1)
    assert "The server asks to wait 10 min: try again after " in done.err


async def test_a_setting_says_how_long_a_person_waits_too(program):
    settings = '{"everturn": {"limits": {"max_retry_after": 5}}}'
    program.model(rate_limited(retry_after=10), "never")

    code, shown = await on_terminal(program, "-p", "Hi", "--settings", settings)

    assert (code, len(program.requests)) == (1, 1)
    assert "asks to wait 10 s" in plain(shown)
