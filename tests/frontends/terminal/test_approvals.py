"""Questions of the interactive program: once, for the session, always, no, no with a reason; what was typed before is no answer."""

import json

import pytest
from tests.frontends.terminal.stage import Stage

from everturn.modelserver import calls, hold, script

TOUCH = ("Bash", {"command": "touch made.txt"})
REMOVE = ("Bash", {"command": "touch made.txt; rmdir /no-such-folder"})


async def test_yes_lets_it_run_once():
    async with Stage(script=[calls(TOUCH), calls(TOUCH), "Done."]) as stage:
        await stage.type("make it\n")
        await stage.see("Bash wants to run a command", "│ touch made.txt", "asks: ", "[y] yes, this once")
        await stage.press("y")
        await stage.see("no output", lambda stage: "[y] yes" in stage.below("no output"))
        await stage.press("n")
        await stage.see("Done.")
        assert (stage.folder / "made.txt").exists()
        assert "Permission denied" in stage.results(2)[0]


async def test_yes_for_the_session_is_not_asked_again():
    async with Stage(script=[calls(TOUCH), calls(TOUCH), "Done."]) as stage:
        await stage.type("make it\n")
        await stage.see("[s] yes, and for this session")
        await stage.press("s")
        await stage.see("Done.")
        assert stage.everything.count("wants to run a command") == 1
        assert not (stage.home / "settings.json").exists()


async def test_always_shows_what_it_covers_before_it_is_written():
    async with Stage(script=[calls(TOUCH), "Done."]) as stage:
        await stage.type("make it\n")
        await stage.see("[a] always")
        await stage.press("a")
        await stage.see("Bash(touch made.txt)", "[y] write it")
        await stage.press("n")
        await stage.see("[a] always: Bash")
        await stage.press("a")
        await stage.see("[y] write it")
        await stage.press("y")
        await stage.see("Done.")
        written = [path for path in (stage.home.parent, stage.folder) for path in path.rglob("settings*.json")]
        assert ["Bash(touch made.txt)"] in [json.loads(path.read_text())["permissions"]["allow"] for path in written]


@pytest.mark.parametrize("key", ["n", "escape"])
async def test_no_is_told_to_the_model(key):
    async with Stage(script=[calls(TOUCH), "As you wish."]) as stage:
        await stage.type("make it\n")
        await stage.see("[n] no")
        await stage.press(key)
        await stage.see("As you wish.")
        assert not (stage.folder / "made.txt").exists()
        assert "the person said no" in stage.results()[0]


async def test_a_no_carries_words():
    async with Stage(script=[calls(TOUCH), "As you wish."]) as stage:
        await stage.type("make it\n")
        await stage.see("[w] no, and tell")
        await stage.press("w")
        await stage.see("What should the model know")
        await stage.type("call it 漢字.txt\n")
        await stage.see("As you wish.")
        assert "call it 漢字.txt" in stage.results()[0]


async def test_the_arrows_and_enter_choose_too():
    async with Stage(script=[calls(TOUCH), "Done."]) as stage:
        await stage.type("make it\n")
        await stage.see("[n] no")
        await stage.press("down")
        await stage.see("▸ [y]")
        await stage.press("enter")
        await stage.see("Done.")
        assert (stage.folder / "made.txt").exists()


async def test_what_was_typed_before_the_question_is_no_answer_and_is_not_lost():
    async with Stage(script=[hold(calls(TOUCH), after=2), "As you wish.", "Next."]) as stage:
        await stage.type("make it\n")
        await stage.server.wait_for(1)
        await stage.type("yes or no")
        await stage.see("> yes or no")
        stage.release()
        await stage.see("[n] no")
        assert not (stage.folder / "made.txt").exists()
        await stage.press("n")
        await stage.see("As you wish.", "> yes or no")
        await stage.press("enter")
        await stage.see("Next.")
        assert stage.said() == "yes or no"


async def test_keys_that_come_with_the_question_itself_are_no_answer():
    async with Stage(script=[calls(TOUCH), "As you wish.", "Next."]) as stage:
        await stage.ready()
        await stage.type("make it\nyyyy")
        await stage.see("[n] no")
        assert not (stage.folder / "made.txt").exists()
        await stage.press("n")
        await stage.see("As you wish.", "> yyyy")


async def test_what_cannot_be_undone_takes_more_than_one_key():
    async with Stage(script=[calls(REMOVE), "Done."]) as stage:
        await stage.type("tidy up\n")
        await stage.see("[y] yes")
        await stage.press("y")
        await stage.see("This cannot be undone.", "Type yes")
        await stage.type("y\n")
        await stage.see(lambda stage: "[y] yes" in stage.below("cannot be undone"))
        assert not (stage.folder / "made.txt").exists()
        await stage.press("y")
        await stage.see(lambda stage: "Type yes" in stage.text and "[y] yes" not in stage.text)
        await stage.type("yes\n")
        await stage.see("Done.")
        assert (stage.folder / "made.txt").exists()


async def test_two_calls_are_asked_about_one_after_the_other():
    second = ("Bash", {"command": "touch other.txt"})
    async with Stage(script=[calls(TOUCH, second), "Done."]) as stage:
        await stage.type("make both\n")
        await stage.see("│ touch made.txt", "[y] yes")
        await stage.press("y")
        await stage.see(lambda stage: "[y] yes" in stage.below("│ touch other.txt"))
        await stage.press("n")
        await stage.see("Done.")
        assert (stage.folder / "made.txt").exists()
        assert not (stage.folder / "other.txt").exists()


async def test_a_change_is_shown_as_a_diff_before_it_is_allowed():
    change = ("Edit", {"file_path": "a.txt", "old_string": "two", "new_string": "zwei"})
    script = [calls(("Read", {"file_path": "a.txt"})), calls(change), "Done."]
    async with Stage(script=script, files={"a.txt": "one\ntwo\nthree\n"}) as stage:
        await stage.type("translate\n")
        await stage.see("two", "zwei", "[y] yes")
        await stage.press("y")
        await stage.see("Done.")
        assert (stage.folder / "a.txt").read_text() == "one\nzwei\nthree\n"


@pytest.mark.parametrize(
    "change",
    [
        ("Edit", {"old_string": "nine", "new_string": "neun"}),
        ("Write", {"content": "".join(f"{n}\n" for n in (*range(1, 9), "neun", *range(10, 13)))}),
    ],
)
async def test_a_change_is_asked_about_with_line_numbers_and_the_lines_around_it_under_its_path_in_the_folder(change):
    name, given = change
    before = "".join(f"{n}\n" for n in (*range(1, 9), "nine", *range(10, 13)))
    async with Stage(files={"src/a.txt": before}) as stage:
        path = f"{stage.folder}/src/a.txt"
        stage.server.play(
            script(calls(("Read", {"file_path": path})), calls((name, {"file_path": path, **given})), "Done.")
        )
        await stage.type("translate\n")
        await stage.see("[y] yes")
        asked = [row.removeprefix("│ ") for row in stage.below(f"? {name} wants to").split("\n") if row.startswith("│")]
        numbered = ["    6   6", "    7   7", "    8   8", "    9 - nine", "    9 + neun", "   10   10", "   11   11"]
        assert asked == ["src/a.txt", *numbered, "   12   12"]
        await stage.press("y")
        await stage.see("Done.")
        assert (stage.folder / "src/a.txt").read_text() == before.replace("nine", "neun")


async def test_a_change_of_the_end_of_the_last_line_is_seen_before_it_is_allowed():
    script_ = [calls(("Read", {"file_path": "a.txt"})), calls(("Write", {"file_path": "a.txt", "content": "one\ntwo"}))]
    async with Stage(script=[*script_, "Done."], files={"a.txt": "one\ntwo\n"}) as stage:
        await stage.type("cut it\n")
        await stage.see("│ + one", "│ + two", "[y] yes")
        await stage.press("n")
        await stage.see("Done.")


async def test_explain_shows_everything():
    async with Stage(script=[calls(TOUCH), "Done."], rows=50) as stage:
        await stage.type("make it\n")
        await stage.see("[e] explain")
        await stage.press("e")
        await stage.see("Bash, in full:", "Asked because:", lambda stage: "[y] yes" in stage.below("Asked because:"))
        await stage.press("y")
        await stage.see("Done.")


async def test_shift_tab_goes_through_the_modes_and_they_count():
    write = ("Write", {"file_path": "made.txt", "content": "text\n"})
    async with Stage(script=[calls(write), "Done."]) as stage:
        await stage.ready()
        await stage.press("shift-tab")
        await stage.see("acceptEdits")
        await stage.press("shift-tab")
        await stage.see("plan ·")
        await stage.press("shift-tab", "shift-tab")
        await stage.see("acceptEdits")
        await stage.type("write it\n")
        await stage.see("Done.")
        assert (stage.folder / "made.txt").exists()


async def test_a_question_in_a_narrow_window_can_be_read_and_answered():
    long = ("Bash", {"command": "touch made.txt && echo " + "a-long-word " * 20})
    async with Stage(script=[calls(long), "Done."], columns=40, rows=24) as stage:
        await stage.type("make it\n")
        await stage.see("[y] yes")
        shown = stage.everything.replace("│ ", "").replace("\n", "")
        assert shown.count("a-long-word") == 20
        await stage.press("y")
        await stage.see("Done.")


@pytest.mark.parametrize("columns", [50, 120])
async def test_a_question_survives_a_resize(columns):
    async with Stage(script=[calls(TOUCH), "Done."]) as stage:
        await stage.type("make it\n")
        await stage.see("[y] yes")
        stage.resize(columns, 20)
        await stage.see("│ touch made.txt", "[y] yes", "[n] no")
        assert stage.everything.count("[y] yes") == 1
        await stage.press("y")
        await stage.see("Done.")


async def test_leaving_while_a_question_waits_runs_nothing():
    async with Stage(script=[calls(TOUCH), "Done."]) as stage:
        await stage.type("make it\n")
        await stage.see("[y] yes")
        await stage.press("ctrl-d")
        await stage.see(lambda stage: "[y] yes" not in stage.text)
        await stage.leave()
        assert not (stage.folder / "made.txt").exists()


async def test_a_command_is_changed_before_it_is_allowed():
    async with Stage(script=[calls(TOUCH), "Done."]) as stage:
        await stage.type("make it\n")
        await stage.see("[d] edit the command, and run that")
        await stage.press("d")
        await stage.see("The command that runs instead:", "> touch made.txt")
        await stage.press("ctrl-w")
        await stage.type("other.txt\n")
        await stage.see("Done.")
        assert (stage.folder / "other.txt").exists()
        assert not (stage.folder / "made.txt").exists()


async def test_a_change_that_is_asked_about_shows_lines_that_stay_once():
    change = {"old_string": "def f():\n    a = 1\n    return a", "new_string": "def f():\n    a = 2\n    return a"}
    script = [calls(("Read", {"file_path": "f.py"})), calls(("Edit", {"file_path": "f.py", **change})), "Done."]
    async with Stage(script=script, files={"f.py": "def f():\n    a = 1\n    return a\n"}) as stage:
        await stage.type("change it\n")
        await stage.see("[y] yes, this once")
        shown = [row for row in stage.screen if row.startswith("│")]
        assert shown[1:] == [
            "│     1   def f():",
            "│     2 -     a = 1",
            "│     2 +     a = 2",
            "│     3       return a",
        ]
        await stage.press("n")
        await stage.see("Done.")


async def test_a_plan_that_is_to_be_approved_is_shown_as_markdown():
    plan = "# The plan\n\nFirst **look**, then:\n\n- read\n- write\n\nEnd with \x1b[2J."
    async with Stage(script=[calls(("ExitPlanMode", {"plan": plan})), "Done."]) as stage:
        await stage.ready()
        await stage.press("shift-tab", "shift-tab")
        await stage.see("plan ·")
        await stage.type("plan\n")
        await stage.see("│ The plan", "│ First look, then:", "[y] yes")
        assert "**" not in stage.text
        assert stage.styles_at("look, then")["bold"]
        await stage.press("n")
        await stage.see("Done.", "not approved (the person said no)")


async def test_a_question_that_is_declined_is_told_as_not_answered():
    options = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
    asked = {"questions": [{"question": "Which?", "header": "Colours", "multiSelect": False, "options": options}]}
    async with Stage(script=[calls(("AskUserQuestion", asked)), "Done."]) as stage:
        await stage.type("ask\n")
        await stage.see("[1] red")
        await stage.press("n")
        await stage.see("Done.", "not answered (the person does not want to answer)")
        assert "not allowed" not in stage.everything


async def test_a_mode_that_was_passed_on_the_way_to_planning_is_not_in_force_after_it():
    async with Stage(script=[calls(("ExitPlanMode", {"plan": "Do it."})), "Done."]) as stage:
        await stage.ready()
        await stage.press("shift-tab")
        await stage.see("acceptEdits ·")
        await stage.press("shift-tab")
        await stage.see("plan ·")
        await stage.type("plan\n")
        await stage.see("[y] yes")
        await stage.press("y")
        await stage.see("Done.", "permission mode default (before: plan)")


async def test_options_of_which_several_can_be_chosen_leave_only_the_answer_behind():
    options = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
    asked = {"questions": [{"question": "Which?", "header": "Colours", "multiSelect": True, "options": options}]}
    async with Stage(script=[calls(("AskUserQuestion", asked)), "Done."]) as stage:
        await stage.type("ask\n")
        await stage.see("☐ red")
        await stage.press("1")
        await stage.see("☑ red", "[d] done: red")
        await stage.press("d")
        await stage.see("Done.")
        assert "→ ☐" not in stage.everything
        assert "→ done: red" in stage.everything


async def test_the_command_of_a_goal_is_asked_about_and_then_verified():
    async with Stage(script=["Made."], files={"check.sh": "exit 0\n"}) as stage:
        await stage.type("/goal it is made --verify sh check.sh\n")
        await stage.see("│ sh check.sh", "[y] yes, this once")
        await stage.press("y")
        await stage.see("Goal: it is made", lambda stage: "[y] yes" not in stage.text)
        await stage.type("make it\n")
        await stage.see("Made.", "✓ the goal is met", "The goal is met (1 verification)")


async def test_a_long_change_is_read_in_the_pager_and_then_answered():
    content = "".join(f"line {number}\n" for number in range(10_000))
    write = calls(("Write", {"file_path": "long.txt", "content": content}))
    async with Stage(script=[write, "Done."]) as stage:
        await stage.type("write it\n")
        await stage.see("[m] more: 9,961 rows are left, and a yes is possible after them")
        await stage.press("m")
        await stage.see("1 to 29 of 10,001 lines", "q leaves")
        await stage.press("G")
        await stage.see("+ line 9999", "100 %")
        await stage.press("q")
        await stage.see("[y] yes, this once")
        assert "line 5000" not in stage.everything
        await stage.press("y")
        await stage.see("Done.")
        assert (stage.folder / "long.txt").read_text() == content


async def test_what_a_yes_would_allow_is_whole_in_a_narrow_window():
    async with Stage(script=[calls(TOUCH), "Done."], columns=40) as stage:
        await stage.type("make it\n")
        await stage.see("[a] always: Bash(touch made.txt)\n", "(you see what it covers before\n", "it is written)\n")


async def test_an_option_that_was_marked_with_the_arrows_stays_gone_to():
    options = [{"label": name, "description": ""} for name in ("One", "Two")]
    asked = {"question": "Which?", "header": "Parts", "multiSelect": True, "options": options}
    async with Stage(script=[calls(("AskUserQuestion", {"questions": [asked]})), "Done."]) as stage:
        await stage.type("ask me\n")
        await stage.see("[1] ☐ One")
        await stage.press("down", "down", "enter")
        await stage.see("▸ [2] ☑ Two")
        await stage.press("enter")
        await stage.see("▸ [2] ☐ Two")
