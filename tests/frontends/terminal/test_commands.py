"""Each slash command of the interactive program, typed by a person, and what is on the screen then."""

import json
import os
import re

import pytest
from tests.frontends.terminal.stage import Stage

from everturn.modelserver import calls, hold, script, when

SUMMARY = when("What happened, in short.", last_user_contains="Write a summary")
ANSWER = "An answer with code:\n\n```python\nprint('first')\n```\n\nThe end."
TOLD = {
    "help": ("/help", "Leave."),
    "cost": ("/cost", "This session cost $0"),
    "context": ("/context", "claude-sonnet-5"),
    "status": ("/status", "Permissions  default"),
    "permissions": ("/permissions", "There are no rules"),
    "hooks": ("/hooks", "No hooks are configured."),
    "mcp": ("/mcp", "No MCP server is configured."),
    "config": ("/config model", "claude-sonnet-5"),
    "doctor": ("/doctor", "ripgrep"),
    "sandbox": ("/sandbox", "sandbox   off ("),
    "memory": ("/memory", "AGENTS.md"),
    "todos": ("/todos", "no list"),
    "keys": ("/keys", "goes on to the next permission mode"),
    "tasks": ("/tasks", "Nothing runs in the background."),
    "diff": ("/diff", "git"),
    "copy": ("/copy", "Copied: "),
    "pin": ("/pin mind the gap", "mind the gap"),
    "unpin": ("/unpin 7", "7"),
    "rename": ("/rename A new title", "A new title"),
    "export": ("/export out.md", "out.md"),
    "collapses": ("/collapses", "othing"),
    "goal": ("/goal", "goal"),
    "effort": ("/effort high", "The effort is high from the next prompt on."),
    "model": ("/model haiku", "The model is claude-haiku-4-5"),
    "plan": ("/plan", "Plan mode: nothing is changed until you approve a plan."),
    "vim": ("/vim", "The prompt has the keys of vi."),
    "compact": ("/compact", "summar"),
    "btw": ("/btw what time is it?", "Beside."),
    "clear": ("/clear", "new"),
    "add-dir": ("/add-dir ../user", "user is a working folder, too, until you leave."),
    "resume": ("/resume", "There is no other session of this folder."),
    "theme": ("/theme light", "light"),
    "statusline": ("/statusline", "status line"),
    "fork": ("/fork", "This is session "),
}
"""By its name: what is typed, and what is seen below it."""
TOO_EARLY = "can be used when the answer is complete"
ELSEWHERE = frozenset(("exit", "init", "review", "security-review"))
"""Tested by themselves below."""


def below(typed, told):
    return lambda stage: told in stage.below(f"> {typed}")


@pytest.mark.parametrize("name", TOLD)
async def test_a_command_is_answered_under_what_was_typed_and_the_conversation_goes_on(name):
    typed, told = TOLD[name]
    script = [when("Beside.", last_user_contains="what time is it"), SUMMARY, ANSWER, "Again."]
    async with Stage(script=script, rows=60, files={"AGENTS.md": "Be brief.\n"}) as stage:
        await stage.type("hello\n")
        await stage.see("The end.")
        await stage.see("1 round")
        await stage.type(f"{typed}\n")
        await stage.see(lambda stage: below(typed, told)(stage) or TOO_EARLY in stage.text)
        if TOO_EARLY in stage.text:
            # The last words of an answer are seen before its query has ended. The command stands in the prompt.
            await stage.press("enter")
            await stage.see(below(typed, told))
        await stage.see(lambda stage: stage.screen[stage.cursor[1]].startswith(">"))
        await stage.type("and now?\n")
        await stage.see("Again.")


async def test_every_command_that_is_listed_is_tested_here():
    async with Stage(columns=160, rows=80) as stage:
        await stage.ready()
        await stage.type("/help\n")
        await stage.see("Leave.")
        named = set(re.findall(r"^/([a-z-]+)", stage.everything, re.MULTILINE))
        assert named == TOLD.keys() | ELSEWHERE


async def test_exit_leaves():
    async with Stage() as stage:
        await stage.type("/exit\n")
        assert await stage.end() == 0


@pytest.mark.parametrize("name", ["init", "review", "security-review"])
async def test_a_command_that_stands_for_a_prompt_is_shown_as_it_was_typed(name):
    async with Stage(script=["As asked."]) as stage:
        await stage.type(f"/{name}\n")
        await stage.see(f"> /{name}", "As asked.")
        assert len(stage.requests) == 1


async def test_an_unknown_command_is_told_so_with_what_was_meant():
    async with Stage() as stage:
        await stage.type("/modle\n")
        await stage.see("There is no command /modle. Did you mean /model?")
        assert stage.requests == []


async def test_a_slash_opens_the_menu_and_tab_completes():
    async with Stage() as stage:
        await stage.ready()
        await stage.type("/perm")
        await stage.see("permissions", "List the rules")
        await stage.press("tab")
        await stage.see("> /permissions")
        await stage.press("enter")
        await stage.see(lambda stage: "List the rules" not in stage.text)


async def test_escape_closes_the_menu_and_leaves_the_text():
    async with Stage() as stage:
        await stage.ready()
        await stage.type("/perm")
        await stage.see("List the rules")
        await stage.press("escape")
        await stage.miss("List the rules")
        await stage.see("> /perm")


async def test_a_model_is_picked_from_a_menu():
    async with Stage(script=["Hello."]) as stage:
        await stage.ready()
        await stage.type("/model\n")
        await stage.see("▸ claude-sonnet-5")
        await stage.press("down")
        await stage.miss("▸ claude-sonnet-5 ")
        picked = next(row for row in stage.screen if "▸" in row).split()[1]
        await stage.press("enter")
        await stage.see(f"The model is {picked} from the next prompt on.")
        await stage.type("hi\n")
        await stage.see("Hello.")
        assert stage.requests[-1].body["model"] == picked


async def test_the_last_answer_and_its_last_code_go_to_the_clipboard():
    async with Stage(script=[ANSWER]) as stage:
        await stage.type("hello\n")
        await stage.see("The end.")
        await stage.type("/copy\n")
        await stage.see("Copied:")
        assert stage.clipboard == ANSWER
        await stage.type("/copy code\n")
        await stage.see(lambda stage: "Copied:" in stage.below("/copy code"))
        assert stage.clipboard == "print('first')"


async def test_a_command_that_only_looks_is_answered_while_the_model_works_and_others_wait():
    async with Stage(script=[hold("Once upon a time there was", after=4)], rows=50) as stage:
        await stage.type("tell\n")
        await stage.see("Once upon")
        await stage.type("/cost\n")
        await stage.see("this follows when the text above has ended")
        await stage.type("/compact\n")
        await stage.see("/compact can be used when the answer is complete")
        stage.release()
        await stage.see("there was", "This session cost", "1 round")


async def test_after_clear_the_model_knows_nothing():
    async with Stage(script=["One.", "Two."]) as stage:
        await stage.type("first\n")
        await stage.see("One.", "1 round")
        await stage.type("/clear\n")
        await stage.see(lambda stage: stage.screen[stage.cursor[1]].startswith(">") and "/clear" in stage.text)
        await stage.type("second\n")
        await stage.see("Two.")
        assert "first" not in json.dumps(stage.requests[-1].body["messages"])


async def test_a_session_is_resumed_from_a_menu_and_its_last_lines_are_shown(tmp_path):
    async with Stage(script=["The first answer."], folder=tmp_path) as stage:
        await stage.type("a first prompt\n")
        await stage.see("The first answer.")
        await stage.leave()
    async with Stage(script=["Again."], folder=tmp_path) as stage:
        await stage.ready()
        await stage.type("/resume\n")
        await stage.see("a first prompt")
        await stage.press("enter")
        await stage.see("The first answer.", "This is session")
        await stage.type("more\n")
        await stage.see("Again.")
        assert "a first prompt" in json.dumps(stage.requests[-1].body["messages"])


async def test_config_without_a_key_lists_the_settings():
    async with Stage(rows=60, settings={"model": "claude-haiku-4-5"}) as stage:
        await stage.type("/config\n")
        await stage.see(lambda stage: "claude-haiku-4-5" in stage.below("> /config").rsplit("\n", 1)[0])
        assert "Examples:" not in stage.everything


async def test_doctor_says_what_this_terminal_is():
    async with Stage(rows=60) as stage:
        await stage.type("/doctor\n")
        await stage.see("ok    terminal", "100 columns")
        assert "pipe" not in stage.everything


async def test_a_side_answer_is_shown_as_markdown():
    async with Stage(script=[when("It is **four**.", last_user_contains="2 + 2")]) as stage:
        await stage.type("/btw what is 2 + 2?\n")
        await stage.see("It is four.")
        assert stage.styles_at("four")["bold"]


async def test_what_is_typed_in_a_menu_narrows_it_and_is_no_prompt():
    async with Stage() as stage:
        await stage.type("/model\n")
        await stage.see("which model?", "sonnet", "opus")
        await stage.type("nosuchthing\n")
        await stage.see("search: nosuchthing", "nothing fits; which model?")
        await stage.press("ctrl-u")
        await stage.type("haiku")
        await stage.see("▸ haiku", lambda stage: "opus" not in stage.text)
        await stage.press("enter")
        await stage.see("The model is claude-haiku", "from the next prompt on")
        assert stage.requests == []
        assert stage.text.rstrip().split("\n")[-2] == ">"


async def test_a_command_line_of_the_persons_own_shows_its_output_as_it_comes():
    async with Stage(files={"slow.sh": "echo beg\ufffdun; read line < go; echo ended\n"}) as stage:
        os.mkfifo(stage.folder / "go")
        await stage.ready()
        await stage.type("!sh slow.sh\n")
        await stage.see("! sh slow.sh  ", "│ beg\ufffdun", lambda stage: "ended" not in stage.text)
        (stage.folder / "go").write_text("on\n")
        await stage.see("│ ended", lambda stage: "! sh" not in stage.text)


async def test_a_command_that_takes_long_is_shown_as_running():
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": "read line < go"}]}
    allowed = {"permissions": {"allow": ["Bash(true)"]}, "hooks": {"PreToolUse": [hook]}}
    async with Stage(settings=allowed) as stage:
        os.mkfifo(stage.folder / "go")
        await stage.type("/goal it is done --verify true\n")
        await stage.see(lambda stage: "/goal  1." in stage.text)
        (stage.folder / "go").write_text("on\n")
        await stage.see("Goal: it is done", lambda stage: "/goal  " not in stage.text)


async def test_a_command_for_the_line_of_status_counts_at_once():
    async with Stage() as stage:
        await stage.type("/statusline echo mine alone\n")
        await stage.see("default · mine alone")
        await stage.type("/statusline off\n")
        await stage.see("default · claude-sonnet-5")


async def test_a_model_that_the_catalogue_does_not_know_is_told_at_once_with_the_nearest():
    async with Stage(columns=180) as stage:
        await stage.ready()
        await stage.type("/model claude-hiaku-4-5\n")
        await stage.see("The model is claude-hiaku-4-5 from the next prompt on. It is not in the catalogue")
        await stage.see(lambda stage: "Did you mean claude-haiku-4-5?" in " ".join(stage.text.split()))


async def test_a_command_for_the_line_of_status_is_told_of_the_session():
    edit = ("Edit", {"file_path": "a.txt", "old_string": "one\n", "new_string": "eins\nzwei\n"})
    write = ("Write", {"file_path": "b.txt", "content": "1\n2\n3\n"})
    read = ("Read", {"file_path": "a.txt"})
    script_ = [calls(read), calls(edit), calls(write), "Done."]
    command = "tee ../told.json | grep -o 'My work' || echo mine alone"
    settings = {"editorMode": "vim", "everturn": {"terminal": {"statusCommand": command}}}
    words = ("--permission-mode", "acceptEdits", "--effort", "high")
    async with Stage(*words, script=script_, settings=settings, files={"a.txt": "one\n"}) as stage:
        await stage.see("· mine alone")
        await stage.type("change it\n")
        await stage.see("Done.", "4 rounds")
        await stage.type("/rename My work\n")
        await stage.see(lambda stage: "is called" in stage.text or TOO_EARLY in stage.text)
        if TOO_EARLY in stage.text:
            await stage.press("enter")
        await stage.see("· My work")
        told = json.loads((stage.folder.parent / "told.json").read_text())
        cost, window = told["cost"], told["context_window"]
        assert told["session_name"] == "My work"
        assert told["transcript_path"].endswith(f"{told['session_id']}.jsonl")
        assert told["transcript_path"] in [str(path) for path in stage.home.rglob("*.jsonl")]
        assert told["workspace"] == {"current_dir": told["cwd"], "project_dir": told["cwd"], "added_dirs": []}
        assert (told["effort"], told["vim"]) == ({"level": "high"}, {"mode": "INSERT"})
        assert (cost["total_lines_added"], cost["total_lines_removed"]) == (5, 1)
        assert cost["total_duration_ms"] > cost["total_api_duration_ms"] > 0
        assert window["total_input_tokens"] > window["total_output_tokens"] > 0


async def test_the_line_of_status_says_how_far_the_goal_is():
    allowed = {"permissions": {"allow": ["Bash(test -e made)", "Bash(touch made)"]}}
    script_ = ["I stop.", "Again.", calls(("Bash", {"command": "touch made"})), hold("Done.", after=0)]
    async with Stage(settings=allowed, script=script_) as stage:
        await stage.type("/goal it is made --verify test -e made\n")
        await stage.see("context · goal: not verified")
        await stage.type("make it\n")
        await stage.see("context · goal: not met (2)")
        stage.release()
        await stage.see("the goal is met")
        await stage.miss("· goal: ")


async def test_a_folder_that_is_added_is_worked_in_as_inside_and_the_model_and_the_person_are_told():
    wanted = [
        ("Read", {"file_path": "{}/notes.md"}),
        ("Edit", {"file_path": "{}/notes.md", "old_string": "a", "new_string": "b"}),
    ]
    async with Stage("--permission-mode", "acceptEdits", script=["Hello.", "Soon."]) as stage:
        other = stage.folder.parent / "other"
        other.mkdir()
        (other / "notes.md").write_text("a\n")
        await stage.see("acceptEdits")
        await stage.type("hi\n")
        await stage.see("Hello.", "1 round")
        await stage.type("/add-dir ../other\n")
        await stage.see(f"{other.resolve()} is a working folder, too")
        uses = [(name, {key: value.format(other) for key, value in given.items()}) for name, given in wanted]
        stage.server.play(script(*(calls(use) for use in uses), "Done."))
        await stage.type("change it\n")
        await stage.see("Done.")
        assert "wants to" not in stage.everything
        assert (other / "notes.md").read_text() == "b\n"
        prompts = [str(message) for request in stage.requests for message in request.body["messages"]]
        assert any("further folders" in told and str(other.resolve()) in told for told in prompts)
        await stage.type("/status\n")
        await stage.see(below("/status", f"project, {other.resolve()}"))


@pytest.mark.needs("bubblewrap")
async def test_a_command_that_edits_unasked_is_held_in_the_added_folder_as_well():
    async with Stage("--permission-mode", "acceptEdits") as stage:
        other = stage.folder.parent / "other"
        other.mkdir()
        await stage.see("acceptEdits")
        await stage.type("/add-dir ../other\n")
        await stage.see(f"{other.resolve()} is a working folder, too")
        stage.server.play(script(calls(("Bash", {"command": f"touch {other}/made"})), "Done."))
        await stage.type("make it\n")
        await stage.see("Done.")
        assert "wants to" not in stage.everything
        assert (other / "made").exists()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("nowhere", "project/nowhere is not there"),
        ("a.txt", "project/a.txt is no folder"),
        (".", "project is a working folder already"),
        ("sub", "project/sub is part of a working folder already"),
        ("", "Say which folder: /add-dir FOLDER"),
    ],
)
async def test_what_is_no_folder_to_add_is_refused_with_the_reason(given, why):
    async with Stage(files={"a.txt": "a", "sub/b.txt": "b"}, columns=200) as stage:
        await stage.ready()
        await stage.type(f"/add-dir {given}")
        await stage.see(f"> /add-dir {given}".rstrip())
        await stage.press("escape", "enter")
        await stage.see(lambda stage: why in " ".join(stage.text.split()))


async def test_an_added_folder_stays_after_clear():
    async with Stage(script=[calls(("Write", {"file_path": "/{}", "content": "a"})), "Done."]) as stage:
        other = stage.folder.parent / "other"
        other.mkdir()
        (other / "notes.md").write_text("what stands there\n")
        stage.server.play(script(calls(("Read", {"file_path": f"{other}/notes.md"})), "Done."))
        await stage.ready()
        await stage.type("/add-dir ../other\n")
        await stage.see("is a working folder, too")
        await stage.type("/clear\n")
        await stage.see("A new conversation begins.")
        await stage.type("read it\n")
        await stage.see("Done.")
        assert "what stands there" in stage.results()[0]
        assert "wants to" not in stage.everything


async def test_files_are_completed_behind_a_command():
    async with Stage(files={"docs/a.txt": "a"}) as stage:
        await stage.ready()
        await stage.type("/btw what does @a.t")
        await stage.see("▸ docs/a.txt")


async def test_folders_are_completed_behind_add_dir():
    async with Stage(files={"docs/a.txt": "a", "docs/inner/b.txt": "b", "data.txt": "c"}) as stage:
        await stage.ready()
        await stage.type("/add-dir d")
        await stage.see("▸ docs/")
        assert "data.txt" not in stage.text
        await stage.press("tab")
        await stage.see("> /add-dir docs/", lambda stage: "▸" not in stage.text)
        await stage.type("i")
        await stage.see("▸ docs/inner/")
