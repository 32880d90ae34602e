"""A conversation in the interactive program: what is typed, what streams, and what stays on the screen."""

import pytest
from tests.frontends.terminal.stage import Stage

from everturn.modelserver import calls, hold, text

LONG = "A paragraph that is a good deal longer than the window is wide, so that the terminal has to wrap it somewhere."
MARKDOWN = """\
# Heading

Some **bold**, some *slanted*, some `code` and a [link](https://example.com/page).

- first
- second

| left | right |
|------|-------|
| a    | 1     |

```python
def add(a, b):
    return a + b
```

The end.
"""


async def test_a_prompt_is_answered_and_what_was_said_stays():
    async with Stage(script=["Hello **there**.", "And again."]) as stage:
        await stage.type("greet me\n")
        await stage.see("greet me", "Hello there.")
        await stage.type("once more\n")
        await stage.see("Hello there.", "once more", "And again.")
        assert [stage.said(0), stage.said(1)] == ["greet me", "once more"]
        assert await stage.leave() == 0


async def test_keys_typed_before_the_editor_is_ready_are_not_lost():
    async with Stage(script=["Hello."]) as stage:
        await stage.type("typed at once, before anything was painted\n")
        await stage.see("Hello.")
        assert stage.said() == "typed at once, before anything was painted"


async def test_text_appears_while_it_streams_and_finished_lines_are_written_once():
    lines = [f"Line number {number} of the answer." for number in range(60)]
    answer = hold(text("\n\n".join(lines), chunk=17), each=True)
    async with Stage(script=[answer], rows=16) as stage:
        await stage.type("tell\n")
        await stage.see("Line number")
        stage.release(pieces=20)
        await stage.see("Line number 8")
        assert "Line number 40" not in stage.everything
        stage.release()
        await stage.see("Line number 59 of the answer.")
        written = stage.raw.decode()
        assert [line for line in lines if stage.everything.count(line) != 1] == []
        assert [line for line in lines if written.count(line) > 1] == []


async def test_finished_text_is_never_drawn_again_while_more_comes():
    """What has been seen above the live area stays where it is, in every frame."""
    lines = [f"Finished line {number}." for number in range(30)]
    answer = hold(text("\n\n".join(lines), chunk=11), each=True)
    async with Stage(script=[answer], rows=14) as stage:
        seen: list[str] = []

        def watch(stage):
            found = [line for line in (*stage.scrollback, *stage.screen) if "Finished line" in line]
            whole = [line for line in found if line.rstrip().endswith(".")]
            assert whole[: len(seen)] == seen
            seen[:] = whole

        stage.watch(watch)
        await stage.type("tell\n")
        stage.release()
        await stage.see("Finished line 29.")
        assert len(seen) == 30


@pytest.mark.needs("Node")
async def test_both_judges_see_the_same_conversation():
    async with Stage(script=[calls(("Glob", {"pattern": "*.md"})), MARKDOWN], columns=70, rows=20) as stage:
        await stage.type("show me\n")
        await stage.see("The end.")
        second = await stage.second_judge()
        assert (second.screen, second.scrollback) == (stage.screen, stage.scrollback)


async def test_a_paragraph_is_wrapped_by_the_terminal_so_that_a_copy_has_no_line_breaks_of_ours():
    async with Stage(script=[LONG], columns=50) as stage:
        await stage.type("tell\n")
        await stage.read(LONG)
        stage.resize(120, 30)
        await stage.see(LONG)


async def test_a_call_is_a_line_with_its_command_and_becomes_its_result():
    run = ("Bash", {"command": "printf 'one\\ntwo\\n'; exit 3"})
    async with Stage(script=[calls(run), "Done."], settings={"permissions": {"allow": ["Bash(*)"]}}) as stage:
        await stage.type("run it\n")
        await stage.see("printf 'one", "Done.", "two")
        assert stage.everything.count("printf 'one") == 1


async def test_several_lines_are_one_prompt():
    async with Stage(script=["Hello."]) as stage:
        await stage.type("first")
        await stage.press("alt-enter")
        await stage.type("second\n")
        await stage.see("Hello.")
        assert stage.said() == "first\nsecond"


async def test_up_brings_back_the_last_prompt():
    async with Stage(script=["One.", "Two."]) as stage:
        await stage.type("a prompt\n")
        await stage.see("One.")
        await stage.press("up", "enter")
        await stage.see("Two.")
        assert stage.said() == "a prompt"


async def test_markdown_is_shown_as_it_is_meant():
    async with Stage(script=[MARKDOWN], rows=40) as stage:
        await stage.type("show me\n")
        await stage.see("The end.")
        assert stage.styles_at("bold")["bold"]
        assert stage.styles_at("slanted")["italic"]
        assert "https://example.com/page" in (stage.link_at("link"), stage.line("link").split("(")[-1].split(")")[0])
        assert "**" not in stage.text
        assert "│" in stage.line("right") or "left" in stage.line("right")
        assert any(stage.styles_at(word)["fg"] for word in ("def", "return"))


async def test_a_pasted_text_of_many_lines_is_one_prompt_and_shown_as_a_placeholder():
    pasted = "\n".join(f"pasted line {number}" for number in range(200))
    async with Stage(script=["Hello."]) as stage:
        await stage.see(lambda stage: stage.emulator.mode(2004))
        await stage.paste(pasted)
        await stage.type(" and what is this?\n")
        await stage.see("Hello.")
        assert pasted in stage.said()
        assert stage.said().endswith("and what is this?")
        assert "pasted line 150" not in stage.everything


async def test_a_shell_line_runs_at_once_and_the_model_is_not_asked():
    async with Stage(script=["Hello."]) as stage:
        await stage.type("!echo $((40 + 2)) apples\n")
        await stage.see("42 apples")
        assert stage.requests == []


async def test_a_table_is_no_wider_than_the_window():
    words = "an integer, or text which can be parsed as one"
    table = f"| Function | What it tests |\n|---|---|\n| `_isint` | {words} |\n\nThe end."
    async with Stage(script=[table], columns=40) as stage:
        await stage.type("explain\n")
        await stage.see("The end.")
        assert "_isint   │ an integer, or text which" in stage.screen
        assert "         │ can be parsed as one" in stage.screen


async def test_a_file_of_the_folder_is_named_as_it_stands_there(tmp_path):
    read = ("Read", {"file_path": str(tmp_path / "project" / "src" / "a.py")})
    command = ("Bash", {"command": f"cat {tmp_path}/project/src/a.py"})
    async with Stage(
        script=[calls(read), calls(command), "Done."], folder=tmp_path, files={"src/a.py": "a = 1\n"}, columns=200
    ) as stage:
        await stage.type("look\n")
        await stage.see("Done.")
        assert "· Read src/a.py" in stage.everything
        assert f"· Bash cat {tmp_path}/project/src/a.py" in stage.everything


async def test_an_answer_that_pauses_does_not_look_like_one_that_has_ended():
    async with Stage(script=[hold("Once upon a time there was", after=4)]) as stage:
        await stage.type("tell\n")
        await stage.see("Once upon", "answering  1.")
        stage.server.release()
        await stage.see("there was", lambda stage: "answering" not in stage.text)
