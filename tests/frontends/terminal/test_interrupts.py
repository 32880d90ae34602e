"""Esc and Ctrl-C in the interactive program: what is running stops, and the session goes on."""

import os
import signal

import pytest
from tests.frontends.terminal.stage import Stage

from everturn.modelserver import calls, hold

ALLOWED = {"permissions": {"allow": ["Bash(*)"]}}


@pytest.mark.parametrize("key", ["escape", "ctrl-c"])
async def test_an_answer_is_interrupted_and_the_next_prompt_goes_on(key):
    async with Stage(script=[hold("Once upon a time there was", after=4), "The end."]) as stage:
        await stage.type("tell\n")
        await stage.see("Once upon")
        await stage.press(key)
        await stage.server.wait_for_hangups()
        await stage.see(lambda stage: "nterrupted" in stage.text)
        await stage.type("go on\n")
        await stage.see("The end.")
        assert "Once upon" in stage.everything


@pytest.mark.parametrize("key", ["escape", "ctrl-c"])
async def test_a_command_is_interrupted_and_is_gone(key):
    command = "echo begun $$; read line < never"
    async with Stage(script=[calls(("Bash", {"command": command})), "Well."], settings=ALLOWED) as stage:
        os.mkfifo(stage.folder / "never")
        await stage.type("run it\n")
        await stage.see("│ begun")
        await stage.press(key)
        await stage.see(lambda stage: "nterrupted" in stage.text)
        await stage.type("and now?\n")
        await stage.see("Well.")


@pytest.mark.parametrize("text", ["hi", "/goal done --verify true", "!echo begun"])
async def test_an_interrupt_that_comes_with_the_enter_key_leaves_the_prompt_usable(text):
    async with Stage(script=["Hello.", "The end."]) as stage:
        await stage.ready()
        await stage.feed(f"{text}\r\x03".encode())
        await stage.see("nterrupted")
        await stage.type("go on\n")
        await stage.see(lambda stage: "Hello." in stage.text or "The end." in stage.text)


async def test_a_command_of_the_persons_own_does_not_hold_up_who_closes_the_window():
    async with Stage(checks=False) as stage:
        os.mkfifo(stage.folder / "never")
        await stage.ready()
        await stage.type("!read line < never\n")
        await stage.see("> !read")
        stage.signal(signal.SIGHUP)
        await stage.end()


async def test_escape_twice_goes_back_to_an_earlier_prompt():
    async with Stage(script=["One.", "Two.", "Three."]) as stage:
        for prompt, answer in (("first", "One."), ("second", "Two.")):
            await stage.type(f"{prompt}\n")
            await stage.see(answer, "1 round")
        await stage.see(lambda stage: "answering" not in stage.text)
        await stage.press("escape", "escape")
        await stage.see("go back to before which prompt", "▸ second")
        await stage.press("enter")
        await stage.see("> second\n  default")
        await stage.type(", said better\n")
        await stage.see("Three.")
        said = str(stage.requests[-1].body["messages"])
        assert "second, said better" in said
        assert "Two." not in said


async def test_ctrl_c_empties_the_line_and_twice_in_an_empty_one_leaves():
    async with Stage(script=["Hello."]) as stage:
        await stage.ready()
        await stage.type("half a prompt")
        await stage.see("> half a prompt")
        await stage.press("ctrl-c")
        await stage.miss("half a prompt")
        assert stage.requests == []
        await stage.press("ctrl-c", "ctrl-c")
        assert await stage.end() in {0, 130}


async def test_ctrl_d_leaves_an_empty_line_only():
    async with Stage(script=["Hello."]) as stage:
        await stage.ready()
        await stage.type("text")
        await stage.see("> text")
        await stage.press("ctrl-a", "ctrl-d")
        await stage.see("> ext")
        await stage.press("ctrl-u", "ctrl-k")
        assert await stage.leave() == 0


async def test_what_was_said_can_be_continued(tmp_path):
    async with Stage(script=["Hello."], folder=tmp_path) as stage:
        await stage.type("hi\n")
        await stage.see("Hello.")
        assert await stage.leave() == 0
    async with Stage("--continue", script=["Again."], folder=tmp_path) as stage:
        await stage.see("> hi", "Hello.")
        await stage.type("more\n")
        await stage.see("Again.")
        assert "Hello." in str(stage.requests[0].body["messages"])


async def test_what_the_person_interrupted_does_not_go_on_by_itself(tmp_path):
    async with Stage(script=[hold("Never.")], folder=tmp_path) as stage:
        await stage.type("a mistake\n")
        await stage.see("> a mistake", "answering")
        await stage.press("escape")
        await stage.see("Interrupted.", lambda stage: "waiting for" not in stage.text)
        assert await stage.leave() == 0
    async with Stage("--continue", script=["Meant."], folder=tmp_path) as stage:
        await stage.see("> a mistake")
        await stage.type("what I mean\n")
        await stage.see("Meant.")
        assert len(stage.requests) == 1


async def test_a_session_that_goes_on_shows_the_last_two_prompts_and_what_was_done(tmp_path):
    files = {"a.py": "a = 1\n"}
    steps = [calls(("Read", {"file_path": "a.py"})), calls(("Bash", {"command": "ls -l"})), "It is short."]
    async with Stage(script=["Zero.", "Hello.", *steps], folder=tmp_path, files=files) as stage:
        for prompt, answer in (("zero", "Zero."), ("hi", "Hello."), ("how long is a.py?", "It is short.")):
            await stage.type(f"{prompt}\n")
            await stage.see(answer)
        assert await stage.leave() == 0
    async with Stage("--continue", script=["Again."], folder=tmp_path) as stage:
        await stage.see("> hi", "Hello.", "> how long", "· Read a.py", "· Bash ls -l", "It is short.")
        assert "Zero." not in stage.everything
