"""TaskOutput and TaskStop: what the model can do with background tasks."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.tasks import Task, TaskReport, Tasks
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.result_types import TaskOutputShown, TaskStopShown

TIMEOUT_MS = 30_000
MAX_TIMEOUT_MS = 600_000
_RESULT_LIMIT = 40_000


class TaskOutputInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    task_id: Annotated[str, Meta(min_length=1, description="The task's id, as the call that started it named it")]
    block: Annotated[bool, Meta(description="Wait until it has ended, or `timeout` is over")] = True
    timeout: Annotated[int, Meta(ge=0, description=f"Milliseconds to wait, at most {MAX_TIMEOUT_MS}")] = TIMEOUT_MS


def task_output_tool() -> FunctionTool:
    @tool(
        name="TaskOutput",
        reads_only=True,
        access=Access.READ,
        result_limit=_RESULT_LIMIT,
        line=lambda call: f"TaskOutput {call.task_id}",
        description="""Reports the state of a background task and what it printed so far (its head and tail; the named
file has more). By default it waits for the task's end, at most `timeout`; with `block: false` it answers at once.
You are told of a task's end anyway: wait only where you cannot go on without it.""",
    )
    async def task_output(call: TaskOutputInput, context: ToolContext) -> ToolResult:
        task = find_task(context.tasks, call.task_id)
        if call.block and task.is_running:
            await _wait(call, context)
        report = task.report()
        if not task.is_running:
            context.tasks.note_told(task.id)
        return ToolResult(content=_render(report), shown=_show(report))

    return task_output


async def _wait(call: TaskOutputInput, context: ToolContext) -> None:
    """An abort ends the waiting, not the task."""
    task = find_task(context.tasks, call.task_id)
    waited = {asyncio.ensure_future(task.wait()), asyncio.ensure_future(context.abort.wait())}
    seconds = min(call.timeout, MAX_TIMEOUT_MS) / 1000
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waited:
            each.cancel()


def _render(report: TaskReport) -> str:
    # Whoever sees all of it needs no path, which is long and would come again with each look.
    where = f" All of its output: {report.output_path}" if report.output_path and report.size else ""
    return f"Task {report.id} ({report.status}): {report.summary}.{where}\n{report.output or '(no output)'}"


def _show(report: TaskReport) -> TaskOutputShown:
    return TaskOutputShown(
        task_id=report.id,
        task_type=report.kind,
        status=report.status,
        summary=report.summary,
        output=report.output,
        output_file=report.output_path,
        command=report.command,
        exit_code=report.exit_code,
    )


def find_task(tasks: Tasks, id_: str) -> Task:
    if (task := tasks.get(id_)) is not None:
        return task
    running = ", ".join(task.id for task in tasks.running)
    raise ToolFault(
        f"There is no task {id_!r} in this session. "
        + (
            f"Those that run: {running}."
            if running
            else "No task is running; tasks end with the program that started them."
        )
    )


class TaskStopInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    task_id: Annotated[str, Meta(description="The task's id, as the call that started it named it")] = ""
    shell_id: Annotated[str, Meta(description="The old name of `task_id`")] = ""

    @property
    def id(self) -> str:
        return self.task_id or self.shell_id


def task_stop_tool() -> FunctionTool:
    @tool(
        name="TaskStop",
        access=Access.READ,
        line=lambda call: f"TaskStop {call.id}",
        description="""Ends a background task, with all that it has started. What it printed can still be read.""",
    )
    async def task_stop(call: TaskStopInput, context: ToolContext) -> ToolResult:
        if not call.id:
            raise InputFault("`task_id` is missing: expected the id of a task.")
        task = find_task(context.tasks, call.id)
        was_running = task.is_running
        await task.stop()
        context.tasks.note_told(task.id)
        report = task.report()
        message = f"Task {task.id} {'was' if was_running else 'had ended already:'} {report.summary}"
        return ToolResult(
            content=f"{message}.",
            shown=TaskStopShown(message=message, task_id=task.id, task_type=report.kind, command=report.command),
        )

    return task_stop
