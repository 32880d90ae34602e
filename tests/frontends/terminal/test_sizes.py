"""Windows of every size, and ones that change it."""

import pytest
from tests.frontends.terminal.stage import Stage

from everturn.modelserver import calls, hold, text

LINES = [f"Line {number} of an answer that has some length to it." for number in range(12)]


@pytest.mark.parametrize("columns", [40, 20, 12])
async def test_a_narrow_window_shows_everything(columns):
    run = ("Bash", {"command": "echo a rather long command line that does not fit in a narrow window at all"})
    async with Stage(
        script=[calls(run), "Done, and well done."],
        columns=columns,
        rows=20,
        settings={"permissions": {"allow": ["Bash(*)"]}},
    ) as stage:
        await stage.type("run it\n")
        await stage.read("Done, and well done.")
        assert stage.emulator.cursor[0] < columns


@pytest.mark.parametrize("columns", [60, 140], ids=["narrower", "wider"])
async def test_a_window_that_changes_its_width_in_mid_answer_loses_and_doubles_nothing(columns):
    answer = hold(text("\n\n".join(LINES), chunk=15), each=True)
    async with Stage(script=[answer], columns=100, rows=24) as stage:
        await stage.type("tell\n")
        stage.release(pieces=12)
        # All of it, so that nothing is on its way to the terminal when the window changes.
        await stage.see("\n\n".join(LINES)[: 12 * 15].rpartition("\n")[2].rstrip())
        stage.resize(columns, 24)
        stage.release()
        await stage.see("Line 11 of an answer")
        assert [line for line in LINES if stage.everything.count(line) != 1] == []


async def test_the_prompt_survives_a_resize():
    async with Stage(script=["Hello."]) as stage:
        await stage.ready()
        await stage.type("half a sentence that is long enough to be wrapped when the window is narrow")
        await stage.see("> half a sentence")
        for columns in (40, 90, 33, 100):
            stage.resize(columns, 30)
            await stage.see("half a")
        await stage.type(", done\n")
        await stage.see("Hello.")
        assert stage.said().endswith("is narrow, done")
        assert stage.everything.count("half a sentence") == 1


async def test_a_window_that_has_no_size_for_a_moment_is_survived():
    answer = hold(text("\n\n".join(LINES), chunk=15), each=True)
    async with Stage(script=[answer, "Again."]) as stage:
        await stage.type("tell\n")
        stage.release(pieces=6)
        await stage.see("Line 1")
        stage.resize(0, 0)
        stage.release()
        await stage.read("Line 11 of an answer")
        stage.resize(80, 24)
        await stage.type("once more\n")
        await stage.see("Again.")


async def test_a_window_that_never_tells_its_size_is_taken_for_an_ordinary_one():
    async with Stage(script=["Hello."], columns=80, rows=24) as stage:
        stage.resize(0, 0)
        await stage.type("hi\n")
        await stage.see("Hello.")


async def test_at_a_question_the_cursor_stands_above_the_rows_that_a_narrow_window_wraps():
    """Terminals differ in where a cursor goes whose row is wrapped anew."""
    async with Stage(script=[calls(("Bash", {"command": "touch made.txt"})), "Done."]) as stage:
        await stage.type("make it\n")
        await stage.see("[y] yes, this once")
        assert stage.cursor == (0, stage.row_of("[y] yes") - 1)
        await stage.press("n")
        await stage.see("Done.")
