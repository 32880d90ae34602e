"""The TaskStop tool: ends a task with all that it has started."""

from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.core.errors import InputFault
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.define import FunctionTool, tool
from everturn.tools.shown import TaskStopShown
from everturn.tools.tasks.lookup import find_task


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
