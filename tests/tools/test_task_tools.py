"""TaskOutput and TaskStop on real commands in the background, and the session's list of tasks."""

import asyncio
import re

import pytest
from tests.tools.processes import is_alive, until

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.tasks import TaskStatus
from everturn.tools.bash import bash_tool
from everturn.tools.tasks import task_output_tool, task_stop_tool

WAIT = "until [ -e go ]; do sleep 0.01; done"


@pytest.fixture
async def behind(desk):
    """Starts a command in the background; gives the result, and its task."""
    tool = bash_tool()

    async def behind(command, **fields):
        result = await desk.use(tool, command=command, run_in_background=True, **fields)
        return result, desk.context.tasks.get(result.shown.background_task_id)

    yield behind
    await desk.context.tasks.aclose()


def read(path):
    with open(path) as file:  # noqa: PTH123 - no blocking in a coroutine, says the linter of Path
        return file.read()


async def test_a_command_in_the_background_returns_at_once(desk, behind, shown):
    result, task = await behind(f"echo one; {WAIT}; echo two")

    assert result.content == (
        f"The command runs in the background, as task {task.id}. Its output goes to {task.output_path}. "
        "You are told when it ends."
    )
    assert (result.is_error, shown(result)["backgroundTaskId"]) == (False, task.id)
    assert desk.context.tasks.running == (task,)
    desk.write("go", "")
    await task.wait()
    assert read(task.output_path) == "one\ntwo\n"
    assert desk.pieces == []


async def test_of_an_output_that_is_cut_the_file_is_named(desk, behind):
    _, task = await behind("seq 1 20000")

    told = (await desk.use(task_output_tool(), task_id=task.id)).content

    assert told.startswith(f"Task {task.id} (completed): exit code 0 after ")
    assert f". All of its output: {task.output_path}\n1\n2\n" in told
    assert "left out …]" in told


async def test_the_output_so_far_is_told_at_once_or_when_all_is_over(desk, behind, shown):
    _, task = await behind(f"echo one; {WAIT}; echo two; exit 3")
    await until(lambda: read(task.output_path))

    early = await desk.use(task_output_tool(), task_id=task.id, block=False)
    desk.write("go", "")
    late = await desk.use(task_output_tool(), task_id=task.id)

    assert re.fullmatch(rf"Task {task.id} \(running\): has been running for \d+\.\d s\.\none", early.content)
    assert re.fullmatch(rf"Task {task.id} \(failed\): exit code 3 after \d+\.\d s\.\none\ntwo", late.content)
    assert shown(late) == {
        "task_id": task.id,
        "task_type": "local_bash",
        "status": "failed",
        "summary": task.report().summary,
        "output": "one\ntwo",
        "output_file": task.output_path,
        "command": f"echo one; {WAIT}; echo two; exit 3",
        "exit_code": 3,
    }


async def test_waiting_has_a_limit_and_ends_with_an_abort(desk, behind):
    _, task = await behind(WAIT)

    assert "(running)" in (await desk.use(task_output_tool(), task_id=task.id, timeout=20)).content
    waiting = asyncio.ensure_future(desk.use(task_output_tool(), task_id=task.id, timeout=600_000))
    await asyncio.sleep(0)
    desk.abort.abort()
    assert "(running)" in (await waiting).content
    assert task.is_running


async def test_a_task_is_stopped_with_all_it_started(desk, behind, shown):
    _, task = await behind("echo $$; setsid sleep 1000 & echo $!; sleep 1001")
    await until(lambda: read(task.output_path).count("\n") == 2)
    pids = read(task.output_path).split()

    result = await desk.use(task_stop_tool(), task_id=task.id)

    assert re.fullmatch(rf"Task {task.id} was stopped after \d+\.\d s\.", result.content)
    assert shown(result) == {
        "message": result.content.removesuffix("."),
        "task_id": task.id,
        "task_type": "local_bash",
        "command": "echo $$; setsid sleep 1000 & echo $!; sleep 1001",
    }
    assert not [pid for pid in pids if is_alive(pid)]
    assert task.report().status is TaskStatus.STOPPED


async def test_one_that_has_ended_is_not_stopped_again(desk, behind):
    _, task = await behind("exit 0")
    await task.wait()

    result = await desk.use(task_stop_tool(), shell_id=task.id)

    assert re.fullmatch(rf"Task {task.id} had ended already: exit code 0 after \d+\.\d s\.", result.content)


async def test_an_unknown_task_is_refused_with_those_that_run(desk, behind):
    with pytest.raises(ToolFault, match="no task 'x' in this session"):
        await desk.use(task_output_tool(), task_id="x")
    _, task = await behind(WAIT)
    with pytest.raises(ToolFault, match=f"Those that run: {task.id}"):
        await desk.use(task_stop_tool(), task_id="x")
    with pytest.raises(InputFault, match="`task_id` is missing"):
        await desk.use(task_stop_tool())


async def test_each_end_is_told_once_and_not_to_one_who_saw_it(desk, behind):
    tasks = desk.context.tasks
    _, first = await behind("echo one")
    _, second = await behind("echo two")
    _, third = await behind(WAIT)
    await first.wait()
    await second.wait()

    await desk.use(task_output_tool(), task_id=first.id)

    assert [report.id for report in tasks.take_finished()] == [second.id]
    assert tasks.take_finished() == []
    desk.write("go", "")
    await third.wait()
    assert [(report.id, report.status) for report in tasks.take_finished()] == [(third.id, TaskStatus.COMPLETED)]


async def test_an_abort_of_the_query_leaves_it_and_the_end_of_the_session_does_not(desk, behind):
    _, task = await behind("echo $$; trap '' TERM; while :; do sleep 0.05; done")
    await until(lambda: read(task.output_path))
    pid = read(task.output_path).strip()

    desk.abort.abort()
    await asyncio.sleep(0)
    assert task.is_running
    await desk.context.tasks.aclose()

    assert not is_alive(pid)
    assert not task.is_running
    assert task.report().status is TaskStatus.STOPPED
    await desk.context.tasks.aclose()


async def test_a_command_in_the_background_says_in_which_folder_it_runs_where_the_shell_has_moved(desk):
    (desk.folder / "tests").mkdir()
    tool = bash_tool()
    await desk.use(tool, command="cd tests")

    result = await desk.use(tool, command="pwd", run_in_background=True)
    await desk.context.tasks.get(result.shown.background_task_id).wait()

    assert "It runs in tests/." in result.content
    await desk.context.tasks.aclose()


async def test_a_command_in_the_background_changes_neither_folder_nor_variables(desk):
    tool = bash_tool()
    result = await desk.use(tool, command="cd /; export A=1", run_in_background=True)
    await desk.context.tasks.get(result.shown.background_task_id).wait()

    assert "It runs in" not in result.content
    assert (await desk.use(tool, command='echo "$PWD$A"')).content == str(desk.folder)
    await desk.context.tasks.aclose()
