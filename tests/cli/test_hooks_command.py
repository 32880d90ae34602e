"""`everturn hooks`: what is configured and whether it runs; what the hooks of an event answer."""

import json

import pytest

from everturn.modelserver import call, text


@pytest.fixture
def hooks(program):
    def write(place="user", **hooks):
        folder = program.home if place == "user" else program.folder / ".everturn"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))

    return write


def on(matcher, command, **more):
    return {"matcher": matcher, "hooks": [{"type": "command", "command": command, **more}]}


async def test_every_hook_is_listed_with_its_place_and_whether_it_runs(program, hooks):
    hooks(
        PreToolUse=[on("Bash", "./guard.sh", **{"if": "Bash(git *)"}), on("(", "./never.sh")],
        SubagentStop=[on("", "x")],
    )
    hooks("project", Stop=[on("", "./lint.sh")])

    done = await program.run("hooks", "list")

    assert done.code == 0
    guard, never, lint = (
        next(line for line in done.out.splitlines() if name in line) for name in ("guard", "never", "lint")
    )
    assert guard.startswith("  Bash if Bash(git *) command: ./guard.sh (user, ")
    assert guard.endswith("at most 600 s) runs")
    assert "does not run: the matcher '(' is no regular expression" in never
    assert lint.endswith("does not run: the folder is not trusted")
    assert "SubagentStop do not run yet" in done.err

    told = json.loads((await program.run("hooks", "list", "--json")).out)
    assert [(each["event"], each["hook"], bool(each["skipped"])) for each in told] == [
        ("PreToolUse", "./guard.sh", False),
        ("PreToolUse", "./never.sh", True),
        ("Stop", "./lint.sh", True),
    ]


async def test_without_hooks_it_says_so(program):
    done = await program.run("hooks")

    assert (done.code, done.out) == (0, "No hooks are configured.\n")


async def test_the_hooks_of_an_event_are_tried_for_real(program, hooks):
    hooks(PreToolUse=[on("Bash", "cat > seen.json; echo no pushes >&2; exit 2"), on("Read", "exit 2")])
    call = program.folder / "call.json"
    call.write_text(json.dumps({"tool_name": "Bash", "tool_input": {"command": "git push"}, "tool_use_id": "toolu_1"}))

    done = await program.run("hooks", "test", "PreToolUse", "--input", "call.json")

    assert done.code == 1
    first, second, third, *_ = done.out.splitlines()
    assert first.startswith("command: cat > seen.json; echo no pushes >&2; exit 2 (user; ")
    assert first.endswith("exit code 2)")
    assert (second, third) == ("  deny", "together: deny")
    assert "reason: no pushes" in done.out
    seen = json.loads((program.folder / "seen.json").read_text())
    assert (seen["hook_event_name"], seen["tool_input"]["command"]) == ("PreToolUse", "git push")

    told = json.loads((await program.run("hooks", "test", "PreToolUse", "--input", "call.json", "--json")).out)
    assert told["verdict"] == {"ruling": "deny", "reason": "no pushes"}


async def test_an_event_for_which_no_hook_is_meant(program, hooks):
    hooks(PreToolUse=[on("Bash", "exit 2")])

    done = await program.run("hooks", "test", "Stop")

    assert (done.code, done.out) == (0, "No hook is meant.\ntogether: nothing to say\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("PreTolUse",), "did you mean PreToolUse?"),
        (("SubagentStop",), "do not run yet"),
        (("Stop", "--input", "none.json"), "cannot be read"),
        (("Stop", "--input", "list.json"), "must hold a JSON object"),
    ],
)
async def test_what_cannot_be_tried_says_why(program, arguments, told):
    (program.folder / "list.json").write_text("[1]")

    done = await program.run("hooks", "test", *arguments)

    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err


async def test_a_run_of_the_program_asks_them(program, hooks):
    hooks(UserPromptSubmit=[on("", "echo no prompts today >&2; exit 2")])

    done = await program.run("-p", "Hello?", "--output-format", "json")

    told = json.loads(done.out)
    assert done.code == 1
    assert (told["terminal_reason"], told["is_error"]) == ("prompt_blocked", True)
    assert "no prompts today" in told["result"]


async def test_a_call_that_was_put_off_goes_on_with_the_session(program, hooks):
    special = {"hookEventName": "PreToolUse", "permissionDecision": "defer"}
    defer = json.dumps({"hookSpecificOutput": special})
    allow = json.dumps({"hookSpecificOutput": special | {"permissionDecision": "allow"}})
    hooks(PreToolUse=[on("Bash", f"[ -e answer ] && echo '{allow}' || echo '{defer}'")])
    program.model(call("Bash", {"command": "touch made.txt"}), text("Done."))

    first = json.loads((await program.run("-p", "Make it.", "--output-format", "json")).out)
    assert (first["terminal_reason"], first["stop_reason"]) == ("tool_deferred", "tool_deferred")
    assert first["deferred_tool_use"]["input"] == {"command": "touch made.txt"}
    assert not (program.folder / "made.txt").exists()

    (program.folder / "answer").touch()
    done = await program.run("-p", "--resume", first["session_id"])
    assert (done.code, done.out) == (0, "Done.\n")
    assert (program.folder / "made.txt").exists()
