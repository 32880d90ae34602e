"""Terminals that are silent, slow, dumb or none, people who want no colours, and a program that is put aside."""

import re
import signal
import sys

import pytest
from tests.frontends.terminal.stage import Stage

from everturn.modelserver import calls, hold

SHELL = ("sh", "-i")
ANSWER = "Some **bold** text and `code`."


async def test_a_terminal_that_answers_no_query_is_not_waited_for():
    async with Stage(script=["Hello."], answers=False) as stage:
        await stage.type("hi\n")
        await stage.see("Hello.")
        assert stage.said() == "hi"


async def test_answers_that_come_late_are_no_keys():
    async with Stage(script=["Hello.", "Again."], answers=False) as stage:
        await stage.type("hi\n")
        await stage.see("Hello.")
        await stage.type("be")
        stage.answer_now()
        await stage.type("fore\n")
        await stage.see("Again.")
        assert stage.said() == "before"


async def test_without_colours_nothing_is_coloured():
    async with Stage(script=[ANSWER], env={"NO_COLOR": "1"}) as stage:
        await stage.type("hi\n")
        await stage.see("bold", "text and")
        coloured = re.findall(rb"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m", stage.raw)
        assert coloured == []


@pytest.mark.parametrize("term", ["dumb", None])
async def test_a_terminal_without_a_cursor_is_told_what_to_do(term):
    async with Stage(env={"TERM": term}) as stage:
        assert await stage.end() == 2
        assert "everturn -p" in stage.everything
        told = " ".join(stage.everything.split())
        assert ("TERM=dumb says that" if term else "TERM is not set") in told
        assert "export TERM=xterm-256color" in told
        assert b"\x1b" not in stage.raw


async def test_without_a_terminal_the_program_says_what_to_do(tmp_path):
    piped = f"{sys.executable} -m everturn < /dev/null 2>&1 | cat"
    async with Stage("-c", piped, program=("sh",)) as stage:
        await stage.end()
        assert "-p" in stage.everything


async def test_the_program_is_put_aside_and_comes_back():
    command = f"PS1='$ '; {sys.executable} -m everturn"
    async with Stage(script=["Hello.", "Again."], program=SHELL, checks=False) as stage:
        await stage.type(f"{command}\n")
        await stage.ready()
        await stage.type("hi\n")
        await stage.see("Hello.")
        await stage.type("half a")
        await stage.see("half a")
        await stage.press("ctrl-z")
        await stage.see("Stopped")
        assert not stage.emulator.mode(2004)
        assert stage.emulator.kitty_flags == 0
        await stage.type("echo shell $((6 * 7))\n")
        await stage.see(lambda stage: stage.below("shell 42").strip() == "$")
        await stage.type("fg\n")
        await stage.see(lambda stage: "default" in stage.below("$ fg"))
        await stage.type(" prompt\n")
        await stage.see("Again.")
        assert stage.said() == "half a prompt"
        assert stage.unknown == []
        assert stage.clears == []


async def test_a_question_is_drawn_again_after_fg():
    command = f"PS1='$ '; {sys.executable} -m everturn"
    touch = calls(("Bash", {"command": "touch made.txt"}))
    async with Stage(script=[touch, "Done."], program=SHELL, checks=False) as stage:
        await stage.type(f"{command}\n")
        await stage.ready()
        await stage.type("make it\n")
        await stage.see("touch made.txt", "yes")
        await stage.press("ctrl-z")
        await stage.see(lambda stage: stage.below("Stopped").strip() == "$")
        await stage.type("fg\n")
        await stage.see(lambda stage: "yes" in stage.below("$ fg"))
        await stage.press("y")
        await stage.see("Done.")
        assert (stage.folder / "made.txt").exists()


@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
async def test_a_signal_leaves_the_terminal_in_order(number):
    async with Stage(script=[hold("Once upon a time", after=4)]) as stage:
        await stage.type("tell\n")
        await stage.see("Once upon")
        stage.signal(signal.Signals[number])
        assert await stage.end() == 143


async def test_what_is_wrong_in_the_file_of_keys_is_told_at_the_start():
    stage = Stage(script=["Hello."])
    stage.home.mkdir(parents=True, exist_ok=True)
    (stage.home / "keybindings.json").write_text('{"exit": "ctl+q"}')
    async with stage:
        await stage.see("keybindings.json, line 1", "there is no modifier 'ctl'")
        await stage.type("hi\n")
        await stage.see("Hello.")


async def test_what_the_terminal_answers_is_not_left_to_the_shell_when_the_start_fails(tmp_path):
    async with Stage(script=["Hello."], folder=tmp_path) as first:
        await first.type("hi\n")
        await first.see("Hello.", "1 round")
        async with Stage("--continue", answers=False, folder=tmp_path) as stage:
            await stage.sent(b"\x1b[c")
            stage.answer_now()
            await stage.end()
            assert stage.left_over == b""
            assert "is open elsewhere" in stage.text
            assert "> everturn" not in stage.text
