"""A hook puts a call off: the query ends with it unanswered, and goes on with it when somebody has the answer."""

import json

from tests.scenarios.hooked import command, notices, on

from everturn.core.state import Reason
from everturn.modelserver import call, calls, text
from everturn.ports.policy import Ruling, Verdict

TOUCH = {"command": "touch made.txt"}


def says(decision: str, **more) -> str:
    special = {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}
    return f"echo '{json.dumps({'hookSpecificOutput': special})}'"


def put_off_until(hooked, **more) -> dict:
    """Defers until there is an answer; then allows."""
    script = f'cat > /dev/null; if [ -e "$DIR/answer" ]; then {says("allow", **more)}; else {says("defer")}; fi'
    return on("Bash", command(hooked.script("defer.sh", script)))


def answer(hooked) -> None:
    (hooked.bench.home.parent / "scripts/answer").touch()


async def go_on(bench, engine):
    events = [event async for event in engine.resume_query()]
    return type(bench.runs[-1])(events)


async def test_the_query_ends_with_the_call_unanswered_and_the_result_names_it(bench, hooked):
    hooked.user(PreToolUse=[put_off_until(hooked)])
    bench.model(call("Bash", TOUCH), text("never"))
    engine = hooked.engine(permission_mode="bypassPermissions")

    run = await bench.go_on(engine)

    result = run.result
    assert (result.reason, result.subtype, result.is_error, result.exit) == (Reason.TOOL_DEFERRED, "success", False, 0)
    [use] = engine.transcript[-1].uses
    assert result.deferred_tool_use == {"id": use.id, "name": "Bash", "input": TOUCH}
    assert len(bench.requests) == 1
    assert list(bench.folder.iterdir()) == []


async def test_a_resumed_session_asks_the_hook_again_and_goes_on(bench, hooked):
    hooked.user(PreToolUse=[put_off_until(hooked, updatedInput={"command": "touch other.txt"})])
    bench.model(call("Bash", TOUCH), text("Done."))
    engine = hooked.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine)
    await engine.aclose()
    answer(hooked)

    again = hooked.engine(permission_mode="bypassPermissions", resume=engine.session_id)
    run = await go_on(bench, again)

    assert run.reason is Reason.COMPLETED
    assert [path.name for path in bench.folder.iterdir()] == ["other.txt"]
    assert run.transitions == ["next_turn"]
    [result] = bench.sent[1][-1]["content"]
    assert not result.get("is_error")
    bench.assert_settled(again)


async def test_in_the_same_process_too_and_a_hook_may_put_it_off_again(bench, hooked):
    hooked.user(PreToolUse=[put_off_until(hooked)])
    bench.model(call("Bash", TOUCH), text("Done."))
    engine = hooked.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine)

    run = await go_on(bench, engine)
    assert run.reason is Reason.TOOL_DEFERRED
    answer(hooked)
    run = await go_on(bench, engine)

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "Done.")
    bench.assert_settled(engine)


async def test_who_says_something_else_instead_goes_on_without_the_call(bench, hooked):
    hooked.user(PreToolUse=[put_off_until(hooked)])
    bench.model(call("Bash", TOUCH), text("Never mind."))
    engine = hooked.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine)

    run = await bench.go_on(engine, "Leave it.")

    assert run.result.text == "Never mind."
    assert list(bench.folder.iterdir()) == []
    bench.assert_settled(engine)


async def test_beside_other_calls_nothing_is_put_off_and_the_rules_decide(bench, hooked):
    hooked.user(PreToolUse=[put_off_until(hooked)])
    bench.model(calls(("Bash", TOUCH), ("Glob", {"pattern": "*"})), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert run.reason is Reason.COMPLETED
    assert (bench.folder / "made.txt").exists()
    assert "the answer has other calls, too" in notices(run)


async def test_where_a_person_is_there_nothing_is_put_off(bench, hooked):
    class Person:
        async def approve(self, call, reason):
            return Verdict(ruling=Ruling.ALLOW)

    hooked.user(PreToolUse=[put_off_until(hooked)])
    bench.model(call("Bash", TOUCH), text("Done."))

    run = await hooked.run(approver=Person())

    assert (bench.folder / "made.txt").exists()
    assert "a person can be asked" in notices(run)
