"""The end of a task in the background, as clients of stream-json read it."""

from tests.conftest import wait_for_tasks
from tests.frontends.golden import lines_of
from tests.frontends.readers import run_piped

from everturn.modelserver import call, text


async def test_the_end_of_a_task_is_a_notification_with_its_status_and_its_file(bench):
    bench.model(
        call("Bash", {"command": "echo hi; exit 2", "description": "Says hi", "run_in_background": True}),
        call("Wait", {}),
        text("Done."),
    )

    engine = bench.engine(permission_mode="bypassPermissions", tools=[wait_for_tasks])
    _, written, _ = await run_piped(engine, "Go.", output_format="stream-json")

    lines = lines_of(written)
    [begun] = [line for line in lines if line.get("subtype") == "task_started"]
    [notified] = [line for line in lines if line.get("subtype") == "task_notification"]
    started = next(line for line in lines if line["type"] == "user")
    result = started["tool_use_result"]
    assert {key: begun[key] for key in begun.keys() - {"uuid", "session_id"}} == {
        "type": "system",
        "subtype": "task_started",
        "task_id": result["backgroundTaskId"],
        "tool_use_id": started["message"]["content"][0]["tool_use_id"],
        "description": "Says hi",
        "task_type": "local_bash",
        "is_backgrounded": True,
    }
    assert notified["task_id"] == result["backgroundTaskId"]
    assert notified["tool_use_id"] == started["message"]["content"][0]["tool_use_id"]
    assert notified["status"] == "failed"
    assert notified["summary"].startswith("Says hi: exit code 2 after ")
    assert notified["output_file"].endswith(".log")


async def test_an_end_that_the_model_brought_about_is_notified_too(bench):
    bench.model(call("Bash", {"command": "sleep 100", "run_in_background": True}), text("Started."))
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine)
    [task] = engine.tasks.running
    bench.model(call("TaskStop", {"task_id": task.id}), text("Done."))

    _, written, _ = await run_piped(engine, "Stop it.", output_format="stream-json")

    [notified] = [line for line in lines_of(written) if line.get("subtype") == "task_notification"]
    assert (notified["task_id"], notified["status"]) == (task.id, "stopped")
