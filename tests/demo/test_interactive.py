"""`everturn demo --interactive` as a newcomer meets it: no key, a real terminal, whatever they type."""

import signal

import pytest
from tests.frontends.terminal.stage import Stage

from everturn.cli.demo.tour import SCENES, Tour
from everturn.modelserver import Ask

KEYLESS = {"ANTHROPIC_API_KEY": None, "ANTHROPIC_BASE_URL": None}
DONE = "\n>\n"


def tour(*words, place, **more):
    """The demo, with a temporary folder of its own."""
    place.mkdir()
    return Stage("demo", "--interactive", "--fast", *words, env=KEYLESS | {"TMPDIR": str(place)}, rows=45, **more)


async def say(stage, text, *answered):
    await stage.type(f"{text}\n")
    await stage.see(*answered, lambda stage: DONE in stage.text)


async def test_a_newcomer_tries_everything_and_nothing_is_kept(tmp_path):
    async with tour(place=tmp_path / "t") as stage:
        await stage.see("the model is a script", "Say hello")
        await say(stage, "hello", "Hello! I am a script", "Try these")
        await say(stage, "why is it red?", "· Read renewals/plan.py", "Each date is counted from the one before")
        await stage.type("please run the tests\n")
        await stage.see("Bash wants to run a command", "│ python", "-m unittest", "[s] yes, and for this session")
        await stage.press("s")
        await stage.see(
            "FAILED (failures=1)", "Ctrl-O shows all of the output", "Say Mend it", lambda stage: DONE in stage.text
        )
        await stage.type("mend it\n")
        await stage.see("Edit wants to change", "return [add_months(first, months) for months in range(count)]", "[y]")
        await stage.press("y")
        await stage.see("All four pass", lambda stage: DONE in stage.text)
        await say(stage, "and now?", "Key                │ Does", "The same engine runs in your own programs")
        await say(stage, "more", "That was my whole script", "export ANTHROPIC_API_KEY")
        await say(stage, "once more", "> once more\n\nThat was my whole script")
        await stage.press("ctrl-d", "ctrl-d")
        assert await stage.end() == 0
        assert stage.text.rstrip().endswith(
            "Nothing is kept.\nWith a key of your own: export ANTHROPIC_API_KEY=…, then everturn"
        )
        assert "--resume" not in stage.everything
        assert stage.requests == []
        assert list((tmp_path / "t").iterdir()) == []


async def test_a_no_changes_nothing_and_is_answered(tmp_path):
    async with tour(place=tmp_path / "t") as stage:
        await stage.see("Say hello")
        await say(stage, "tests!", "Hello! I am a script")
        await stage.type("tests!\n")
        await stage.see("[n] no")
        await stage.press("n")
        await stage.see("The tests did not run, and I was told why", lambda stage: DONE in stage.text)
        await stage.type("fix\n")
        await stage.see("Edit wants to change", "[n] no")
        await stage.press("n")
        await stage.see("I stop here", lambda stage: DONE in stage.text)
        await stage.press("ctrl-d", "ctrl-d")
        assert await stage.end() == 0


async def test_what_is_kept_is_told(tmp_path):
    async with tour("--keep", place=tmp_path / "t") as stage:
        await stage.see("Say hello")
        await stage.press("ctrl-d", "ctrl-d")
        assert await stage.end() == 0
        (kept,) = (tmp_path / "t").iterdir()
        assert f"Kept: {kept}" in stage.everything
        assert (kept / "renewals" / "renewals" / "plan.py").exists()


async def test_a_demo_that_is_ended_leaves_the_terminal_in_order_and_no_folder(tmp_path):
    async with tour(place=tmp_path / "t") as stage:
        await stage.see("Say hello", "claude-sonnet-5")
        stage.signal(signal.SIGTERM)
        assert await stage.end() == 143
        assert list((tmp_path / "t").iterdir()) == []


async def test_settings_of_the_person_take_no_part(tmp_path):
    settings = {"model": "opus", "permissions": {"defaultMode": "plan"}}
    async with tour(place=tmp_path / "t", settings=settings) as stage:
        await stage.see("Say hello", "default · claude-sonnet-5")
        await stage.press("ctrl-d", "ctrl-d")
        await stage.end()


def test_without_a_terminal_it_says_what_to_do_instead(newcomer):
    ended = newcomer.runs("--interactive")

    assert ended.returncode == 2
    assert "needs a terminal for its input and its output; everturn demo does not" in ended.stderr


def ask(text, *, results=(), tools=True):
    blocks = [{"type": "tool_result", "tool_use_id": "1", "content": result} for result in results]
    content = [*blocks, {"type": "text", "text": text}]
    return Ask({"messages": [{"role": "user", "content": content}], "tools": [{"name": "Bash"}] if tools else []})


def said(answer):
    return " ".join(getattr(block, "text", "") for block in answer.blocks)


@pytest.mark.parametrize("prompts", [["x"] * 8, ["table", "mend", "tests", "why", "table", "x", "x", "x"]])
def test_every_scene_comes_once_and_the_last_one_again_and_again(prompts):
    played = Tour(SCENES)
    begun = [said(played.answer(ask(prompt))) for prompt in prompts]

    assert begun[0].startswith("Hello!")
    assert len(set(begun)) == len(SCENES)
    assert begun[-1] == begun[-2] == begun[-3]


def test_a_request_beside_the_conversation_does_not_move_it_on():
    played = Tour(SCENES)
    assert "only in the conversation" in said(played.answer(ask("a title, please", tools=False)))
    assert said(played.answer(ask("hello"))).startswith("Hello!")
