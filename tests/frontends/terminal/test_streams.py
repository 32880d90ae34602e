"""Answers that come in pieces, however slow they are."""

import pytest
from tests.frontends.terminal.stage import Stage

from everturn.modelserver import calls, hold, say, thinking

ALLOWED = {"permissions": {"allow": ["Bash(*)"]}}


@pytest.mark.parametrize("after", [4, 5, 6])
async def test_an_answer_of_one_word_that_pauses_before_its_end_is_shown_once(after):
    async with Stage(script=[hold("hello", after=after), "The end."]) as stage:
        await stage.type("hi\n")
        await stage.see("answering  1.")
        stage.release()
        await stage.see("hello", "1 round")
        assert "hellohello" not in stage.everything


async def test_a_command_that_ran_unasked_is_seen_whole():
    command = f"echo {'a' * 60} |\ngrep {'b' * 60} ||\ntrue 'the end of it'"
    async with Stage(script=[calls(("Bash", {"command": command})), "Done."], settings=ALLOWED) as stage:
        await stage.type("run it\n")
        await stage.see("Done.", f"$ grep {'b' * 60} ||", "$ true 'the end of it'")


async def test_a_short_command_stands_in_one_line():
    async with Stage(script=[calls(("Bash", {"command": "echo one"})), "Done."], settings=ALLOWED) as stage:
        await stage.type("run it\n")
        await stage.see("Done.", "· Bash echo one")
        assert "$ echo" not in stage.text


async def test_the_beginning_of_a_new_file_is_shown_and_the_rest_can_be_opened():
    content = "".join(f"line {number}\n" for number in range(1, 100))
    write = calls(("Write", {"file_path": "new.txt", "content": content}))
    async with Stage("--permission-mode", "acceptEdits", script=[write, "Done."]) as stage:
        await stage.type("write it\n")
        await stage.see("Done.", "10 + line 10", "… 89 more lines, Ctrl-O shows all")
        assert "line 11" not in stage.text
        await stage.press("ctrl-o")
        await stage.see("of 99 lines", "11 + line 11")
        await stage.press("q")


async def test_what_the_model_thought_can_be_opened():
    thought = "First, " + "a long thought " * 20 + "\nand the end of it."
    async with Stage(script=[say(thinking(thought), "Done.")]) as stage:
        await stage.type("think\n")
        await stage.see("∴ First, a long", "Done.", lambda stage: "and the end of it." not in stage.text)
        await stage.press("ctrl-o")
        await stage.see("and the end of it.", "thinking")
        await stage.press("q")
