"""Commands in the background: the model is told when they end, can look and stop, and none outlives the engine."""

import asyncio
import re

from tests.conftest import wait_for_tasks

from everturn.core.events import Event
from everturn.core.state import Reason
from everturn.modelserver import call, calls, text

WAIT = "until [ -e go ]; do sleep 0.01; done"


def last_texts(messages):
    """What was added after the last results."""
    return [block["text"] for block in messages[-1]["content"] if block["type"] == "text"]


def results_of(messages):
    return [block["content"] for block in messages[-1]["content"] if block["type"] == "tool_result"]


async def test_the_end_of_a_task_is_told_after_the_next_tool_round(bench):
    bench.model(
        call("Bash", {"command": f"echo working; {WAIT}; echo finished; exit 2", "run_in_background": True}),
        calls(("Bash", {"command": "touch go"}), ("Wait", {})),
        text("Done."),
    )
    engine = bench.engine(permission_mode="bypassPermissions", tools=[wait_for_tasks])
    seen = []

    def watch(event: Event) -> None:
        if event.__struct_config__.tag == "attachment":
            seen.append(event)

    run = await bench.go_on(engine, on_event=watch)

    assert run.reason is Reason.COMPLETED
    [told] = last_texts(bench.sent[2])
    [attached] = seen
    id_ = attached.detail["task_id"]
    assert re.fullmatch(
        rf"<system-reminder>\nThe background task {id_} has ended: exit code 2 after \d+\.\d s\. It was: echo working; .*\n"
        r"Its output \(all of it: \S+\):\nworking\nfinished\n</system-reminder>",
        told,
    )
    assert (attached.kind, attached.detail["status"]) == ("finished_task", "failed")


async def test_what_ended_between_two_prompts_is_told_with_the_second(bench):
    bench.model(call("Bash", {"command": WAIT, "run_in_background": True}), text("Started."), text("I see."))
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine, "Start it.")
    [task] = engine.tasks.running
    (bench.folder / "go").touch()
    await task.wait()

    await bench.go_on(engine, "And now?")

    told, prompt = last_texts(bench.sent[2])
    assert prompt == "And now?"
    assert f"The background task {task.id} has ended: exit code 0" in told


async def test_the_model_looks_and_stops_without_asking_anybody(bench):
    started = call("Bash", {"command": "echo on; sleep 1000", "run_in_background": True})
    bench.model(started, text("Started."))
    engine = bench.engine(allowed_tools=["Bash"])
    await bench.go_on(engine)
    [task] = engine.tasks.running
    bench.model(
        call("TaskOutput", {"task_id": task.id, "block": False}), call("TaskStop", {"task_id": task.id}), text("Done.")
    )

    run = await bench.go_on(engine)

    looked, stopped = (results_of(messages)[0] for messages in bench.sent[-2:])
    assert looked.startswith(f"Task {task.id} (running): ")
    assert stopped.startswith(f"Task {task.id} was stopped after ")
    assert [event.shown.task_id for event in run.of("tool_end")] == [task.id, task.id]
    assert engine.denials == ()
    assert engine.tasks.running == ()


async def test_closing_the_engine_ends_every_process_in_the_background(bench, lifeline):
    bench.model(call("Bash", {"command": lifeline.command, "run_in_background": True}), text("Started."))
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine)

    await engine.aclose()

    assert lifeline.is_cut()
    assert engine.tasks.running == ()


async def test_closing_the_engine_ends_what_a_command_left_behind(bench, lifeline):
    command = f"(setsid bash -c '{lifeline.command}' &) ; sleep 0.2"
    bench.model(call("Bash", {"command": command}), text("Started."))
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine)

    await engine.aclose()

    assert lifeline.is_cut()


async def test_an_abort_and_a_cleared_conversation_leave_the_tasks(bench):
    bench.model(call("Bash", {"command": WAIT, "run_in_background": True}), text("Started."), text("Hello."))
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine)
    [task] = engine.tasks.running

    engine = engine.clear()
    bench.engines.append(engine)
    assert engine.tasks.running == (task,)
    (bench.folder / "go").touch()
    await asyncio.wait_for(task.wait(), 60)
    await bench.go_on(engine, "Hello?")

    told, _ = last_texts(bench.sent[-1])
    assert task.id in told


async def test_folder_and_variables_go_from_call_to_call(bench):
    bench.model(
        call("Bash", {"command": "mkdir sub; cd sub; export WHO=you"}),
        call("Bash", {"command": 'echo "$WHO in $PWD"'}),
        text("Done."),
    )

    await bench.run(permission_mode="bypassPermissions")

    assert results_of(bench.sent[2]) == [f"you in {bench.folder.resolve()}/sub"]
