"""Hooks that hang, crash, fork, flood or lie: the session goes on, and the person sees what happened."""

import json
import os
import resource

import pytest
from tests.conftest import kind_of
from tests.scenarios.hooked import command, notices, on

from everturn import tool
from everturn.core.state import Reason
from everturn.modelserver import call, text

TOUCH = {"command": "touch made.txt"}
KEY_SHAPED = "sk-ant-api03-made-up-9fK2xQ7wLp4Tz8VbN3cR6yHd-key-for-tests"


async def test_trap_5_a_command_that_takes_too_long_says_nothing_and_the_call_runs(bench, hooked, lifeline):
    slow = command(f"echo denied >&2; {lifeline.command}; exit 2", timeout=0.3)
    hooked.user(PreToolUse=[on("Bash", slow)])
    bench.model(call("Bash", TOUCH), text("Done."))
    engine = hooked.engine(permission_mode="bypassPermissions")

    run = await bench.go_on(engine)
    await engine.aclose()
    assert lifeline.is_cut()

    assert (bench.folder / "made.txt").exists()
    assert "took longer than 0.3 s" in notices(run)
    assert run.of("hook")[0].problem


async def test_a_daemon_that_holds_the_pipes_keeps_nobody_and_ends_with_the_session(bench, hooked, lifeline):
    forking = hooked.script("fork.sh", f"setsid sh -c '{lifeline.command}' &\necho forked")
    hooked.user(UserPromptSubmit=[on(None, command(forking))])
    bench.model(text("Done."))
    engine = hooked.engine()

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    assert "forked" in str(bench.sent[0])
    await engine.aclose()
    assert lifeline.is_cut()


async def test_100_megabytes_are_read_and_dropped(bench, hooked):
    hooked.user(PreToolUse=[on("Bash", command("head -c 100000000 /dev/zero | tr '\\0' x"))])
    bench.model(call("Bash", TOUCH), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert (bench.folder / "made.txt").exists()
    assert "wrote more than 1,048,576 bytes" in notices(run)


async def test_a_long_text_goes_into_a_file_that_the_model_may_read(bench, hooked):
    hooked.user(UserPromptSubmit=[on(None, command("head -c 50000 /dev/zero | tr '\\0' x"))])
    bench.model(text("Done."))

    await hooked.run()

    [told] = [block["text"] for block in bench.sent[0][-1]["content"] if "xxxx" in block["text"]]
    assert len(told) < 11_000
    path = told.partition("the whole of it is in ")[2].partition(" …")[0]
    with open(path) as file:  # noqa: ASYNC230, PTH123 (a test)
        assert len(file.read()) == 50_000


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        ("./there-is-none.sh", "status code: /bin/sh: "),
        ("exit 127", "exit code 127"),
        ("kill -9 $$", "exit code -9"),
        ("/", "non-blocking"),
        (
            """echo '{"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "deny"}}'""",
            "not for PreToolUse",
        ),
        ("""echo '{"hookSpecificOutput": {"permissionDecision": "deny"}}'""", "was ignored"),
        (
            """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "denied"}}'""",
            "is none of",
        ),
        ("""echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": 5}}'""", "is no object"),
        ("""echo '{"continue": "no"}'""", "neither true nor false"),
        ("""echo '{"decision": "block",}'""", "printed JSON that cannot be read"),
        (
            """echo '{"permissionDecision": "deny"}'""",
            "permissionDecision belongs into hookSpecificOutput, and was ignored",
        ),
        ("""echo '{"systemMessage": 5}'""", "is no text"),
        ("""printf '\\377\\376\\200' >&2; exit 1""", "non-blocking"),
    ],
)
async def test_an_answer_that_makes_no_sense_passes_and_is_shown(bench, hooked, hook, told):
    hooked.user(PreToolUse=[on("Bash", command(hook))])
    bench.model(call("Bash", TOUCH), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert (bench.folder / "made.txt").exists()
    assert told in notices(run)
    assert run.of("hook")[0].problem


async def test_a_hook_file_that_is_a_folder_or_may_not_run_passes_and_is_shown(bench, hooked):
    (bench.folder / "folder.sh").mkdir()
    hooked.user(
        PreToolUse=[
            on("Bash", command(f"{bench.folder}/folder.sh"), command(str(bench.folder / "folder.sh"), args=["x"]))
        ]
    )
    bench.model(call("Bash", TOUCH), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert (bench.folder / "made.txt").exists()
    assert len([event for event in run.of("hook") if event.problem]) == 2


async def test_invalid_utf_8_becomes_text(bench, hooked):
    hooked.user(UserPromptSubmit=[on(None, command("printf 'caf\\351'"))])
    bench.model(text("Done."))

    await hooked.run()

    assert "caf\ufffd" in str(bench.sent[0])


async def test_a_hook_that_reads_nothing_of_a_large_input_is_no_trouble(bench, hooked):
    hooked.user(UserPromptSubmit=[on(None, command("exec 0<&-; echo heard"))])
    bench.model(text("Done."))

    await hooked.run("word " * 200_000)

    assert "heard" in str(bench.sent[0])


async def test_what_is_wrong_in_the_settings_is_told_and_the_rest_counts(bench, hooked):
    hooked.user(
        PreToolUze=[on("", command("exit 2"))],
        SubagentStop=[on("", command("exit 2"))],
        PreToolUse=[
            on("Bash", {"type": "comand", "command": "exit 2"}),
            on("Bash", {"type": "command"}),
            on("Bash", {"type": "mcp_tool", "server": "s"}),
            on("Bash", command("exit 2", timeout="soon")),
            on("Bash(", command("exit 2")),
            on("Bash", command(hooked.noting("told"))),
            on("Bash", command("true", **{"if": "Bash(git"})),
        ],
        SessionStart=[on("", {"type": "http", "url": "http://localhost:1/"})],
        Stop=[on("", command("exit 2", **{"if": "Bash"}))],
        Notification="nonsense",
    )
    bench.model(call("Bash", TOUCH), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    told = notices(run)
    assert len(hooked.told("told")) == 1
    assert run.reason is Reason.COMPLETED
    for words in (
        "did you mean PreToolUse?",
        "SubagentStop do not run yet",
        "type must be one of",
        "command is missing",
        "tool is missing",
        "timeout must be a number",
        "is no regular expression",
        "is not for SessionStart",
        "this hook never runs",
        "must be a list of objects",
        "the hook runs for every call",
    ):
        assert words in told, words
    assert "settings.json" in told


async def test_fields_that_nobody_knows_are_told_once(bench, hooked):
    told = {
        "reasons": "x",
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "aditionalContext": "y", "sessionTitle": "z"},
    }
    hooked.user(PreToolUse=[on("Bash", command(f"echo '{json.dumps(told)}'"))])
    bench.model(call("Bash", TOUCH), call("Bash", TOUCH), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    [notice] = [event.text for event in run.of("notice")]
    assert notice.endswith(
        "'reasons' is no known field; 'aditionalContext' is no known field; sessionTitle has no effect in this version"
    )
    assert [event.problem for event in run.of("hook")] == ["", ""]


async def test_a_matcher_that_would_be_searched_for_ever_runs_its_hook_and_says_so(bench, hooked):
    @tool(reads_only=True)
    def look_at_the_list_of_all_open_requests_of_the_team() -> str:
        """Looks."""
        return "none"

    hooked.user(
        PreToolUse=[
            on(r"(\w+)+!$", command("echo by the slow one >&2; exit 2")),
            on(r"(look|at|_the)+_list", command(hooked.noting("told"))),
            on(r"(?:x+)+_list$", command(hooked.noting("passed over"))),
        ]
    )
    name = look_at_the_list_of_all_open_requests_of_the_team.name
    bench.model(call(name, {}), call("Bash", TOUCH), text("Then not."))
    engine = hooked.engine(
        permission_mode="bypassPermissions", tools=[look_at_the_list_of_all_open_requests_of_the_team]
    )

    run = await bench.go_on(engine)

    assert [denial.reason for denial in run.result.denials] == ["by the slow one"]
    assert (bench.folder / "made.txt").exists()
    assert [each["tool_name"] for each in hooked.told("told")] == [name]
    assert hooked.told("passed over") == []
    assert "takes too long for 'look_at" in notices(run)


async def test_a_guard_among_a_thousand_hooks_starts_however_few_files_may_be_open(bench, hooked):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    many = [command(f"cat > /dev/null; : {number}") for number in range(1_000)]
    hooked.user(PreToolUse=[on("Bash", *many, command("echo by the last >&2; exit 2"))])
    bench.model(call("Bash", TOUCH), text("Then not."))
    resource.setrlimit(resource.RLIMIT_NOFILE, (1_024, before[1]))
    try:
        run = await hooked.run(permission_mode="bypassPermissions")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert [denial.reason for denial in run.result.denials] == ["by the last"]
    assert [event.problem for event in run.of("hook") if event.problem] == []


async def test_10_000_matchers_are_no_trouble(bench, hooked):
    hooked.user(
        PreToolUse=[on(f"Tool{number}|Other{number}", command("exit 2")) for number in range(9_999)]
        + [on("Bash", command("echo by the last >&2; exit 2"))]
    )
    bench.model(call("Bash", TOUCH), text("Then not."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert [denial.reason for denial in run.result.denials] == ["by the last"]


async def test_an_abort_ends_hooks_that_are_asked(bench, hooked, lifeline):
    hooked.user(PreToolUse=[on("Bash", command(lifeline.command))])
    bench.model(call("Bash", TOUCH), text("never"))
    engine = hooked.engine(permission_mode="bypassPermissions")

    def abort_after_the_answer(event):
        if kind_of(event) == "assistant":
            engine.abort()

    run = await bench.go_on(engine, on_event=abort_after_the_answer)
    await engine.aclose()
    assert lifeline.is_cut()

    assert run.reason in {Reason.ABORTED_TOOLS, Reason.ABORTED_STREAMING}
    assert not (bench.folder / "made.txt").exists()
    bench.assert_settled(engine)


async def test_a_key_of_ours_that_a_hook_prints_reaches_nobody(bench, hooked):
    hooked.user(
        UserPromptSubmit=[on(None, command('echo "the key is $ANTHROPIC_API_KEY"'))],
        PreToolUse=[on("Glob", command('echo "$ANTHROPIC_API_KEY" >&2; exit 1'))],
    )
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))

    run = await hooked.run()

    assert KEY_SHAPED not in str(bench.sent)
    assert KEY_SHAPED not in str(run.events)
    assert KEY_SHAPED not in bench.session_file(run.result.session_id).read_text()


async def test_a_hook_has_the_users_environment_and_no_key_that_comes_from_elsewhere(bench, hooked):
    hooked.env = {name: value for name, value in hooked.env.items() if name != "ANTHROPIC_API_KEY"} | {
        "OTEL_EXPORTER_OTLP_HEADERS": "token=x",
        "COLOUR": "blue",
    }
    helper = hooked.script("helper.sh", f"echo {KEY_SHAPED}")
    hooked.user({"apiKeyHelper": helper}, UserPromptSubmit=[on(None, command(hooked.script("env.sh", "env")))])
    bench.model(text("Done."))

    await hooked.run()

    sent = str(bench.sent[0])
    assert "COLOUR=blue" in sent
    assert f"CLAUDE_PROJECT_DIR={os.path.realpath(bench.folder)}" in sent  # noqa: ASYNC240 (a test)
    assert "OTEL_" not in sent
    assert "sk-ant" not in sent


async def test_hooks_run_in_parallel(bench, hooked):
    """Each waits for the other: one after the other, neither would end."""
    os.mkfifo(hooked.bench.home.parent / "fifo")
    fifo = hooked.bench.home.parent / "fifo"
    hooked.user(UserPromptSubmit=[on(None, command(f"echo over > {fifo}"), command(f"cat {fifo}"))])
    bench.model(text("Done."))

    await hooked.run()

    assert "over" in str(bench.sent[0])


@pytest.mark.parametrize("event", ["PostToolUse", "UserPromptSubmit", "SessionStart"])
@pytest.mark.parametrize(
    ("answer", "told"),
    [("echo ignored; echo 3 tests failed >&2", "3 tests failed"), ("echo 3 tests failed", "3 tests failed")],
    ids=["standard error", "standard output"],
)
async def test_an_async_hook_that_wakes_tells_the_model_its_reason_and_refuses_nothing(
    bench, hooked, event, answer, told
):
    hook = command(f"cat > /dev/null; {answer}; exit 2", asyncRewake=True)
    hooked.user(**{event: [on(None, hook)]})
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = hooked.engine()

    run = await bench.go_on(engine)
    # Nobody announces when it has ended: what it says goes with the next results or the next prompt after that.
    while told not in str(bench.sent):
        await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    assert str(bench.sent[-1]).count(told) >= 1


async def test_an_async_hook_is_not_waited_for_and_its_context_comes_later(bench, hooked):
    fifo = hooked.bench.home.parent / "fifo"
    os.mkfifo(fifo)
    told = json.dumps(
        {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "The build is done."}}
    )
    waiting = hooked.script("wait.sh", f"cat {fifo} > /dev/null; echo '{told}'")
    hooked.user(PostToolUse=[on("Glob", command(waiting, **{"async": True}))])
    bench.model(
        call("Glob", {"pattern": "*"}),
        text("Done."),
        call("Bash", {"command": f"echo now > {fifo}"}),
        text("More."),
        text("Last."),
    )
    engine = hooked.engine(permission_mode="bypassPermissions")

    await bench.go_on(engine)
    assert "The build is done." not in str(bench.sent)
    run = await bench.go_on(engine)
    # Nobody announces when it has ended: what it says goes with the next results or the next prompt after that.
    while "The build is done." not in str(bench.sent):
        await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    assert str(bench.sent[-1]).count("The build is done.") == 1
