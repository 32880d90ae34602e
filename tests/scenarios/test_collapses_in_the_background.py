"""Finished work is summarised by the small model while the main one works; nobody waits for it, and it can be taken back."""

from contextlib import aclosing

import pytest

from everturn.core.state import Reason
from everturn.frontends.commands import COMMANDS, parse_command, run_command
from everturn.modelserver import call, hold, text, when

LIMITS = {"collapse_from": 0, "collapse_share": 0, "clear_share": 1}
FIXED = "[A finished stretch of work, a test that was made to pass, in short: It was broken, and was fixed.]"


def play_fix(bench, *, answer, small):
    """A test that fails, a fix, the test that passes; in the next turns it is known to be finished."""
    (bench.folder / "Makefile").write_text("test:\n\t@seq 700\n\t@test -e fixed\n")
    make = call("Bash", {"command": "make test"})
    bench.model(
        *(make, call("Bash", {"command": "touch fixed"}), make, call("Glob", {"pattern": "*"})),
        *(answer, text("Went on."), text("Went on again.")),
        when(small, last_user_contains="finished stretch"),
    )
    return bench.engine(permission_mode="bypassPermissions", limits=LIMITS, small_model="claude-haiku-4-5")


def release_at_summary(bench):
    def release(event):
        if getattr(event, "purpose", "") == "collapse":
            bench.server.release("go")

    return release


async def say(engine, command):
    invoked = parse_command(command, COMMANDS)
    async with aclosing(run_command(invoked, engine, COMMANDS)) as replies:
        return [reply async for reply in replies]


async def test_it_is_charged_staged_committed_shown_and_undone(bench):
    engine = play_fix(bench, answer=hold(text("Fixed.")), small="It was broken, and was fixed.")
    [reply] = await say(engine, "/collapses")
    assert reply.text == "Nothing is collapsed: all of the conversation is sent."

    run = await bench.go_on(engine, "Fix it.", on_event=release_at_summary(bench))
    assert [usage.purpose for usage in run.of("usage")].count("collapse") == 1
    assert {usage.model for usage in run.of("usage") if usage.purpose == "collapse"} == {"claude-haiku-4-5"}
    assert [note.summary for note in engine.collapses.staged] == [FIXED]
    [reply] = await say(engine, "/collapses")
    assert reply.text == f"1. (waits until room is needed) {FIXED}"

    run = await bench.go_on(engine, "Go on.")
    assert [(change.stage, change.cause) for change in run.of("context")] == [("collapse", "soft_limit")]
    assert FIXED in str(bench.sent[-1])
    assert "make test" not in str(bench.sent[-1])
    assert f"## Files changed so far\\n- {bench.folder}/fixed" in str(bench.sent[-1])

    [reply] = await say(engine, "/collapses undo 1")
    assert reply.text.startswith(f"Undone: {FIXED} What was kept word for word")
    assert reply.text.endswith(" The original messages are sent again.")
    await engine.aclose()
    resumed = bench.engine(resume=engine.session_id, limits=LIMITS)
    await bench.go_on(resumed, "And now?")
    assert FIXED not in str(bench.sent[-1])
    assert "make test" in str(bench.sent[-1])


async def test_task_after_task_is_collapsed(bench):
    def listing(*statuses):
        todos = [
            {"content": name, "status": status, "activeForm": name}
            for name, status in zip("ABC", statuses, strict=True)
        ]
        return call("TodoWrite", {"todos": todos})

    begun, done = "in_progress", "completed"
    work = [call("Bash", {"command": f"seq {number} {number + 700}"}) for number in range(8)]
    bench.model(
        *(listing(begun, "pending", "pending"), *work[:2], listing(done, begun, "pending"), *work[2:4]),
        *(listing(done, done, begun), *work[4:6], listing(done, done, done), *work[6:], hold(text("Done."))),
        *[hold(text("Went on."))] * 3,
        when("It was done.", last_user_contains="finished stretch"),
    )
    engine = bench.engine(permission_mode="bypassPermissions", limits=LIMITS, small_model="claude-haiku-4-5")
    await bench.go_on(engine, "Do all three.", on_event=release_at_summary(bench))
    for _ in range(2):
        await bench.go_on(engine, "Go on.", on_event=release_at_summary(bench))

    told = [note.summary.partition(", in short")[0] for note in engine.collapses.all]
    assert told[:3] == [f"[A finished stretch of work, a task that was done: {name}" for name in "ABC"]


async def test_the_query_does_not_wait_for_it_and_the_next_one_asks_again(bench):
    engine = play_fix(bench, answer=text("Fixed."), small=hold("Too late.", after=-1, gate="never"))

    run = await bench.go_on(engine, "Fix it.")
    assert (run.reason, run.result.text, engine.collapses.staged) == (Reason.COMPLETED, "Fixed.", ())

    bench.model(hold(text("Went on.")), when("Fixed at last.", last_user_contains="finished stretch"))
    await bench.go_on(engine, "Go on.", on_event=release_at_summary(bench))
    [staged] = engine.collapses.staged
    assert staged.summary == FIXED.replace("It was broken, and was fixed.", "Fixed at last.")


async def test_switched_off_nobody_is_asked(bench):
    engine = play_fix(bench, answer=text("Fixed."), small="Never.")
    await engine.aclose()
    engine = bench.engine(permission_mode="bypassPermissions", limits=LIMITS, collapse=False)
    await bench.go_on(engine, "Fix it.")
    assert not any("finished stretch" in str(messages) for messages in bench.sent)


@pytest.mark.parametrize(
    "command", ["/collapses undo 1", "/collapses redo", "/collapses undo x", "/unpin 1", "/unpin x"]
)
async def test_a_number_that_is_not_there_is_refused(bench, command):
    engine = bench.engine()
    [reply] = await say(engine, command)
    assert reply.is_error


async def test_notes_are_pinned_listed_and_taken_back(bench):
    engine = bench.engine()
    said = [
        (await say(engine, line))[0].text for line in ("/pin", "/pin Use tabs.", "/pin Be kind.", "/unpin 1", "/pin")
    ]
    assert said == [
        "No note is pinned. /pin TEXT pins one, which every summary keeps.",
        "1. Use tabs.",
        "1. Use tabs.\n2. Be kind.",
        "No longer pinned: Use tabs.",
        "1. Be kind.",
    ]
