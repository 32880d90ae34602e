"""What runs when the model stops by itself: part by part, in one order that a reader sees at once."""

import asyncio
import fcntl
import os
import stat

import msgspec
import pytest
from tests.pace import measured

from everturn import ToolContext, tool
from everturn.core.jobs import JobState, judge_answer
from everturn.core.state import Reason
from everturn.engine.actions import stop
from everturn.engine.turn import Turn
from everturn.modelserver import call, calls, error, text, when
from everturn.ports.abort import AbortSignal
from everturn.ports.resources import Resources
from everturn.sandbox.held.turns import RESOURCE, FolderTurns

SUGGESTS = "most likely says next"
JUDGES = "Does it wait for an answer"


def test_the_parts_are_in_the_order_of_the_contract():
    assert [part.__name__ for part in stop.PARTS] == [
        "keep_snapshot",
        "classify_job",
        "suggest_prompt",
        "release_resources",
        "check_answer",
        "run_stop_hooks",
        "verify_goal",
    ]
    assert [part.__name__ for part in stop.PARTS_OF_SUBAGENTS] == ["check_answer", "run_stop_hooks"]


def load_job(bench):
    return msgspec.json.decode((bench.folder / "job.json").read_bytes())


@pytest.mark.parametrize(
    ("answer", "state"),
    [("Done.", "done"), ("Shall I go on?", "needs_input"), ("**Shall I go on?**\n", "needs_input")],
)
async def test_the_job_file_says_by_rule_how_the_session_stands(bench, answer, state):
    bench.model(call("Glob", {"pattern": "*"}), text(answer))
    states = []
    engine = bench.engine(job_file="job.json")

    await bench.go_on(engine, "Look.", on_event=lambda _: states.append(load_job(bench)["state"]))

    told = load_job(bench)
    assert states[0] == "working"
    assert (told["state"], told["reason"], told["session_id"]) == (state, "completed", engine.session_id)
    assert stat.S_IMODE((bench.folder / "job.json").stat().st_mode) == 0o600
    assert len(bench.requests) == 2


@pytest.mark.parametrize(("judgement", "state"), [("waits", "needs_input"), ("done", "done"), ("who knows", "done")])
async def test_the_small_model_is_asked_only_where_the_rule_cannot_tell(bench, judgement, state):
    bench.model(
        when(judgement, last_user_contains=JUDGES), text("Which colour? I took teal, tell me if that is wrong.")
    )

    await bench.run("Paint.", job_file="job.json")

    assert load_job(bench)["state"] == state
    assert [body["model"] for body in bench.bodies] == ["claude-sonnet-5", "claude-haiku-4-5"]


async def test_a_failed_session_says_why(bench):
    bench.model(error(400, message="No such thing."))

    run = await bench.run("Look.", job_file="job.json")

    assert run.reason is Reason.MODEL_ERROR
    told = load_job(bench)
    assert (told["state"], told["reason"]) == ("failed", "model_error")
    assert "No such thing" in told["text"]


async def test_a_job_file_that_cannot_be_written_is_told_once_and_the_work_goes_on(bench):
    bench.model(text("Done."))

    run = await bench.run("Look.", job_file="missing/job.json")

    assert run.reason is Reason.COMPLETED
    assert [notice.text for notice in run.of("notice") if "job file" in notice.text] != []
    assert len([notice for notice in run.of("notice") if "job file" in notice.text]) == 1


async def test_a_job_file_goes_nowhere_where_a_command_leads_its_name(bench, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (bench.folder / "jobs").mkdir()
    bench.model(call("Bash", {"command": f"mv jobs old; ln -s {other} jobs"}), text("Done."))

    run = await bench.run("Look.", job_file="jobs/job.json", permission_mode="bypassPermissions")

    assert list(other.iterdir()) == []
    assert len([notice for notice in run.of("notice") if "job file" in notice.text]) == 1


@pytest.mark.parametrize("plant", ["ln ../kept jobs/job.json", "ln -s ../kept jobs/job.json", "mkfifo jobs/job.json"])
async def test_what_stands_in_the_place_of_a_job_file_is_replaced_and_never_written_to(bench, plant):
    (bench.folder / "jobs").mkdir()
    (bench.folder / "kept").write_text("kept")
    bench.model(call("Bash", {"command": f"rm jobs/job.json; {plant}"}), text("Done."))

    await bench.run("Look.", job_file="jobs/job.json", permission_mode="bypassPermissions")

    assert (bench.folder / "kept").read_text() == "kept"
    assert stat.S_IMODE((bench.folder / "jobs/job.json").lstat().st_mode) == 0o600
    assert [path.name for path in (bench.folder / "jobs").iterdir()] == ["job.json"]


async def test_a_suggestion_is_never_waited_for_and_can_be_had_afterwards(bench):
    bench.model(
        when(text("Run the tests.", delay_ms=50), last_user_contains=SUGGESTS), text("Done."), text("Ran them.")
    )
    engine = bench.engine(prompt_suggestions=True)

    run = await bench.go_on(engine, "Look.")
    assert run.kinds[-1] == "result"
    while not engine.suggestion:  # noqa: ASYNC110 (a property that a frontend looks at)
        await asyncio.sleep(0.01)

    assert engine.suggestion == "Run the tests."


async def test_without_the_option_nobody_is_asked_for_a_suggestion(bench):
    bench.model(text("Done."))

    run = await bench.run("Look.")

    assert len(bench.requests) == 1
    assert run.of("suggestion") == []


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("", JobState.DONE),
        ("All done.", JobState.DONE),
        ("Is it red?", JobState.NEEDS_INPUT),
        ("Is it red? (yes/no)", None),
        ("Why? Because. " + "It works. " * 100, JobState.DONE),
    ],
)
def test_an_answer_is_judged_by_its_end(answer, state):
    assert judge_answer(answer) is state


async def test_without_hooks_and_goal_the_phase_takes_less_than_a_millisecond(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine()
    await bench.go_on(engine, "Look.")
    conversation = engine._conversation
    turn = Turn(conversation.query_parts("query", AbortSignal()), conversation.state())

    with measured() as spent:
        for _ in range(200):
            await stop.perform(turn)

    assert spent.seconds / 200 < 0.001


class Port:
    """Something of which there is only one."""

    def __init__(self):
        self.is_taken, self.log = False, []

    def give_back(self):
        self.is_taken = False
        self.log.append("given back")


def taking(port, name="port 8080"):
    @tool(reads_only=True)
    def serve(context: ToolContext) -> str:
        """Takes the port for as long as the model works."""
        port.is_taken = True
        context.resources.put(name, port.give_back)
        return "serving"

    return serve


async def test_what_only_one_session_can_have_is_given_back_when_the_model_stops_and_before_its_hooks(bench):
    port, seen = Port(), []
    bench.model(call("serve"), call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine(
        tools=[taking(port)],
        allowed_tools=["serve"],
        hooks={"post_tool": lambda *_: seen.append(engine.resources), "stop": lambda _: seen.append(port.is_taken)},
    )

    await bench.go_on(engine, "Serve.")

    assert seen == [("port 8080",), ("port 8080",), False]
    assert port.log == ["given back"]
    assert engine.resources == ()


async def test_it_is_given_back_however_the_query_ends(bench):
    port = Port()
    bench.model(call("serve"), call("serve"))

    run = await bench.run("Serve.", tools=[taking(port)], allowed_tools=["serve"], max_turns=1)

    assert run.reason is Reason.MAX_TURNS
    assert not port.is_taken


async def test_one_that_cannot_be_given_back_is_told_and_keeps_no_other(bench):
    port = Port()

    @tool(reads_only=True)
    def jam(context: ToolContext) -> str:
        """Takes something that jams."""
        context.resources.put("the screen", lambda: 1 / 0)
        return "jammed"

    bench.model(calls(("serve", {}), ("jam", {})), text("Done."))

    run = await bench.run("Serve.", tools=[taking(port), jam], allowed_tools=["serve", "jam"])

    assert run.reason is Reason.COMPLETED
    assert not port.is_taken
    assert ["the screen could not be released" in event.text for event in run.of("notice")] == [True]


async def test_the_locks_of_the_working_folder_are_such_a_resource(tmp_path):
    resources, folder = Resources(), str(tmp_path)
    turns, other = FolderTurns(resources), os.open(folder, os.O_RDONLY)

    await turns.take((folder,))
    assert resources.names == (RESOURCE,)
    resources.release()
    with pytest.raises(BlockingIOError):  # a command in the background keeps it
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    turns.leave()

    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    assert resources.names == ()
