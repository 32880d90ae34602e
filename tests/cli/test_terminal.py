"""The program on a real pseudo-terminal."""

import asyncio
import os
import pty

from everturn.modelserver import calls


async def on_terminal(program, *words: str) -> tuple[int, str]:
    """Standard input and output are the terminal's; gives the exit code and all that was shown."""
    ours, theirs = pty.openpty()
    shown = asyncio.ensure_future(asyncio.to_thread(read_all, ours))
    env = {"TERM": "xterm-256color"}
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


async def test_a_terminal_shows_tools_and_the_answer_and_is_not_read(program):
    program.model(calls(("Glob", {"pattern": "*.txt"})), "No **texts** here.")
    code, shown = await on_terminal(program, "-p", "Which texts are here?")
    assert code == 0
    assert "Glob" in shown
    assert "texts" in shown
    assert program.said(0) == "Which texts are here?"


async def test_without_print_a_terminal_is_told_that_the_dialogue_comes_later(program):
    code, shown = await on_terminal(program)
    assert code == 2
    assert "interactive terminal comes with a later version" in shown
