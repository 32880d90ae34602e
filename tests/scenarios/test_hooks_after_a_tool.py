"""PostToolUse, PostToolUseFailure and PostToolBatch: what hooks add to a result, and how they end the query."""

import json

from tests.scenarios.hooked import command, notices, on

from everturn.core.state import Reason
from everturn.modelserver import call, calls, text


def adds(event: str, words: str) -> dict:
    answer = json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": words}})
    return command(f"cat > /dev/null; echo '{answer}'")


async def test_context_comes_beside_the_result_which_stays_exact(bench, hooked):
    hooked.user(PostToolUse=[on("Write", adds("PostToolUse", "Run the formatter."))])
    bench.model(call("Write", {"file_path": "a.txt", "content": "x\n"}), text("Done."))

    await hooked.run(permission_mode="acceptEdits")

    result, *beside = bench.sent[1][-1]["content"]
    assert "Run the formatter." not in str(result)
    assert "Run the formatter." in str(beside)


async def test_the_same_words_about_several_calls_of_one_response_are_told_once(bench, hooked):
    hooked.user(PostToolUse=[on("Write", adds("PostToolUse", "Run the formatter."))])
    write = ("Write", {"file_path": "a.txt", "content": "x\n"})
    bench.model(calls(write, write, ("Write", {"file_path": "b.txt", "content": "y\n"})), text("Done."))

    await hooked.run(permission_mode="acceptEdits")

    told = [block for block in bench.sent[1][-1]["content"] if "Run the formatter." in str(block)]
    assert [name in str(told) for name in ("Write a.txt", "Write b.txt")] == [True, True]
    assert len(told) == 2


async def test_the_script_is_told_of_the_result_as_an_object(bench, hooked):
    hooked.user(PostToolUse=[on("", command(hooked.noting("told")))])
    bench.model(
        call("Bash", {"command": "echo out; echo err >&2"}),
        call("Write", {"file_path": "a.txt", "content": "x\n"}),
        text("Done."),
    )

    await hooked.run(permission_mode="bypassPermissions")

    of_bash, of_write = hooked.told("told")
    assert of_bash["tool_response"]["stdout"].startswith("out")
    assert of_bash["tool_response"]["interrupted"] is False
    assert of_bash["duration_ms"] >= 0
    assert of_write["tool_response"]["filePath"].endswith("a.txt")
    assert of_write["tool_response"]["success"] is True


async def test_exit_2_tells_the_model_and_the_call_has_run(bench, hooked):
    hooked.user(PostToolUse=[on("", command("echo too long a line >&2; exit 2"))])
    bench.model(call("Write", {"file_path": "a.txt", "content": "x\n"}), text("Done."))

    run = await hooked.run(permission_mode="acceptEdits")

    assert (bench.folder / "a.txt").exists()
    assert "too long a line" in str(bench.sent[1][-1])
    assert run.reason is Reason.COMPLETED


async def test_continue_false_ends_the_query_once_all_results_are_in(bench, hooked):
    hooked.user(PostToolUse=[on("Glob", command("""echo '{"continue": false, "stopReason": "seen enough"}'"""))])
    bench.model(calls(("Glob", {"pattern": "a*"}), ("Glob", {"pattern": "b*"})), text("never"))
    engine = hooked.engine()

    run = await bench.go_on(engine)

    assert run.reason is Reason.HOOK_STOPPED
    assert "seen enough" in notices(run)
    bench.assert_settled(engine)


async def test_the_text_of_a_result_can_be_replaced(bench, hooked):
    answer = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "[nothing to see]"}}
    hooked.user(PostToolUse=[on("Bash", command(f"cat > /dev/null; echo '{json.dumps(answer)}'"))])
    bench.model(call("Bash", {"command": "echo a name"}), text("Done."))

    await hooked.run(permission_mode="bypassPermissions")

    assert bench.sent[1][-1]["content"][0]["content"] == "[nothing to see]"


async def test_what_a_hook_takes_out_of_the_result_that_it_was_told_reaches_no_model(bench, hooked):
    """The script answers with the object that it was given, changed."""
    change = (
        "import json, sys; told = json.load(sys.stdin)['tool_response']; told['stdout'] = told['stdout'].replace('hunter2', '***'); "
        "print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PostToolUse', 'updatedToolOutput': told}}))"
    )
    hooked.user(PostToolUse=[on("Bash", command(f'python3 -c "{change}"'))])
    bench.model(call("Bash", {"command": "echo the password is hunter2; echo more"}), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert bench.sent[1][-1]["content"][0]["content"] == "the password is ***\nmore"
    assert notices(run) == ""


async def test_a_failed_call_is_told_to_the_hooks_of_failures_alone(bench, hooked):
    hooked.user(
        PostToolUse=[on("", command(hooked.noting("worked")))],
        PostToolUseFailure=[
            on("", command(hooked.noting("failed"))),
            on("Bash", adds("PostToolUseFailure", "Try ls.")),
        ],
    )
    bench.model(
        call("Bash", {"command": "exit 3"}),
        call("Read", {"file_path": "gone.txt"}),
        call("Read", {"path": 5}),
        text("Done."),
    )

    await hooked.run(permission_mode="bypassPermissions")

    assert hooked.told("worked") == []
    of_bash, of_read = hooked.told("failed")
    assert of_bash["error"].startswith("Exit code 3")
    assert (of_bash["is_interrupt"], of_bash["tool_name"], of_read["tool_name"]) == (False, "Bash", "Read")
    assert "Try ls." in str(bench.sent[1][-1])


async def test_a_batch_is_told_whole_and_may_end_the_query(bench, hooked):
    hooked.user(PostToolBatch=[on(None, command(hooked.noting("told", "echo stop here >&2; exit 2")))])
    bench.model(calls(("Glob", {"pattern": "a*"}), ("Glob", {"pattern": "b*"})), text("never"))

    run = await hooked.run()

    [told] = hooked.told("told")
    assert [each["tool_input"]["pattern"] for each in told["tool_calls"]] == ["a*", "b*"]
    assert all(each["tool_response"] for each in told["tool_calls"])
    assert run.reason is Reason.HOOK_STOPPED
    assert len(bench.requests) == 1


async def test_a_batch_is_told_with_the_inputs_that_ran_and_absolute_paths(bench, hooked):
    (bench.folder / "a.txt").write_text("one\n")
    other = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"pattern": "*.txt", "path": "."}}}
    hooked.user(
        PreToolUse=[on("Glob", command(f"echo '{json.dumps(other)}'"))],
        PostToolBatch=[on(None, command(hooked.noting("told")))],
    )
    bench.model(
        calls(("Read", {"file_path": "a.txt"}), ("Glob", {"pattern": "a*"}), ("Nothing", {"x": 1})), text("Done.")
    )

    await hooked.run()

    [told] = hooked.told("told")
    folder = str(bench.folder)
    assert [each["tool_input"] for each in told["tool_calls"]] == [
        {"file_path": f"{folder}/a.txt"},
        {"pattern": "*.txt", "path": folder},
        {"x": 1},
    ]


async def test_a_hook_that_formats_the_file_is_noticed_like_anybody_who_changes_it(bench, hooked):
    formatting = hooked.script("format.sh", f"cat > /dev/null; echo formatted > {bench.folder}/a.txt")
    hooked.user(PostToolUse=[on("Write|Edit", command(formatting))])
    bench.model(call("Write", {"file_path": "a.txt", "content": "x\n"}), text("Done."))

    await hooked.run(permission_mode="acceptEdits")

    assert (bench.folder / "a.txt").read_text() == "formatted\n"
    assert "changed on disk" in str(bench.sent[1][-1])


async def test_a_hook_that_changes_the_file_it_guards_makes_the_edit_fail_and_loses_nothing(bench, hooked):
    (bench.folder / "a.txt").write_text("one\n")
    meddling = hooked.script("meddle.sh", f"cat > /dev/null; echo meddled > {bench.folder}/a.txt")
    hooked.user(PreToolUse=[on("Edit", command(meddling))])
    bench.model(
        call("Read", {"file_path": "a.txt"}),
        call("Edit", {"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
        text("I see."),
    )

    await hooked.run(permission_mode="acceptEdits")

    assert (bench.folder / "a.txt").read_text() == "meddled\n"
    assert bench.sent[2][-1]["content"][0]["is_error"]


async def test_hooks_hear_where_the_shell_is(bench, hooked):
    (bench.folder / "sub").mkdir()
    hooked.user(
        PreToolUse=[on("Bash", command(hooked.noting("before")))],
        CwdChanged=[on(None, command(hooked.noting("moved")))],
    )
    bench.model(call("Bash", {"command": "cd sub"}), call("Bash", {"command": "true"}), text("Done."))

    await hooked.run(permission_mode="bypassPermissions")

    folder = str(bench.folder.resolve())
    assert [told["cwd"] for told in hooked.told("before")] == [folder, f"{folder}/sub"]
    [moved] = hooked.told("moved")
    assert (moved["old_cwd"], moved["new_cwd"]) == (folder, f"{folder}/sub")
