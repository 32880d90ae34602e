"""The first run: what is missing is said with the ways on, and a folder is trusted or not before anything of it counts."""

import json

import pytest
from tests.frontends.terminal.stage import Stage

HOOK = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo came > hook-ran"}]}]}}
SETTINGS = {".everturn/settings.json": json.dumps(HOOK)}


@pytest.mark.parametrize("columns", [40, 100])
async def test_without_a_key_the_ways_on_are_named(columns):
    async with Stage(env={"ANTHROPIC_API_KEY": None}, columns=columns) as stage:
        assert await stage.end() == 2
        for words in (
            "there is no key for the model",
            "export ANTHROPIC_API_KEY=",
            "everturn config set apiKeyHelper 'COMMAND'",
            "everturn demo --interactive",
        ):
            assert words in stage.everything
        assert max(map(len, stage.everything.splitlines())) <= 80
        assert stage.requests == []


async def test_a_folder_is_trusted_before_the_conversation_begins():
    async with Stage(script=["Hello."], files=SETTINGS) as stage:
        await stage.see("is not trusted yet", "echo came > hook-ran", "Trust it? [y/N]")
        assert not (stage.folder / "hook-ran").exists()
        await stage.type("y\n")
        await stage.see("/help lists the commands", "% context")
        await stage.type("hi\n")
        await stage.see("Hello.")
        assert (stage.folder / "hook-ran").exists()
        assert await stage.leave() == 0


async def test_a_folder_that_is_not_trusted_opens_and_is_not_asked_about_again():
    async with Stage(script=["Hello."], files=SETTINGS) as stage:
        await stage.see("Trust it? [y/N]")
        await stage.type("\n")
        await stage.see("It is not trusted", "/help lists the commands", "% context")
        await stage.type("hi\n")
        await stage.see("Hello.")
        assert not (stage.folder / "hook-ran").exists()
        assert await stage.leave() == 0
        assert stage.everything.count("Trust it?") == 1


async def test_without_a_key_the_folder_is_asked_about_first():
    """Its settings may name what prints a key."""
    helper = {".everturn/settings.json": json.dumps({"apiKeyHelper": "echo sk-from-the-folder"})}
    async with Stage(env={"ANTHROPIC_API_KEY": None}, files=helper, script=["Hello."]) as stage:
        await stage.see("echo sk-from-the-folder", "Trust it? [y/N]")
        await stage.type("y\n")
        await stage.see("/help lists the commands", "% context")
        await stage.type("hi\n")
        await stage.see("Hello.")
        assert await stage.leave() == 0


async def test_ctrl_c_at_the_question_leaves_nothing_behind():
    async with Stage(files=SETTINGS) as stage:
        await stage.see("Trust it? [y/N]")
        await stage.press("ctrl-c")
        assert await stage.end() in {130, -2}
        assert not (stage.folder / "hook-ran").exists()
