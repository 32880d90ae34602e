"""The TodoWrite tool: the list of tasks, written whole each time, kept with the session and shown to the person."""

from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.core.notes import Todo, TodoStatus
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.result_types import TodoWriteShown

MAX_TODOS = 200
"""The list is kept whole at each change."""


# Fields that some models add (ids, priorities) are passed over. No docstring: the model would read it.
class TodoItem(msgspec.Struct, frozen=True, kw_only=True):
    content: Annotated[str, Meta(min_length=1, description="What is to be done, as a command: Run the tests")]
    status: TodoStatus
    activeForm: Annotated[  # noqa: N815 - its public name
        str, Meta(min_length=1, description="The same while it is being done: Running the tests")
    ]


class TodoWriteInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    todos: Annotated[
        tuple[TodoItem, ...], Meta(max_length=MAX_TODOS, description="The whole list, as it is from now on")
    ]


def todo_write_tool() -> FunctionTool:
    @tool(
        name="TodoWrite",
        reads_only=True,
        concurrent=False,
        access=Access.READ,
        line=lambda call: f"TodoWrite {_sum_up(_todos(call))}",
        description="""Keeps the list of what is to be done, which the person sees. Each call replaces the whole list.
Use it for work of three steps or more, and when the person gives several tasks at once; not for a single small step,
nor for a question. Mark one task in_progress before you begin it, and completed as soon as it is done, not in batches.
A task that failed or was cut short is not completed: say in a further task what is missing.""",
    )
    async def todo_write(call: TodoWriteInput, context: ToolContext) -> ToolResult:
        before, after = context.notepad.notes, _todos(call)
        context.notepad.notes = msgspec.structs.replace(before, todos=after)
        return ToolResult(
            content=f"The list is kept: {_sum_up(after)}.{_advise(after)}",
            shown=TodoWriteShown(old_todos=before.todos, new_todos=after),
        )

    return todo_write


def _todos(call: TodoWriteInput) -> tuple[Todo, ...]:
    return tuple(Todo(content=item.content, status=item.status, active_form=item.activeForm) for item in call.todos)


def _sum_up(todos: tuple[Todo, ...]) -> str:
    if not todos:
        return "nothing to do"
    done = sum(todo.status is TodoStatus.COMPLETED for todo in todos)
    now = next((f", now: {todo.active_form}" for todo in todos if todo.status is TodoStatus.IN_PROGRESS), "")
    return f"{done} of {len(todos)} done{now}"


def _advise(todos: tuple[Todo, ...]) -> str:
    at_once = sum(todo.status is TodoStatus.IN_PROGRESS for todo in todos)
    return f" {at_once} tasks are in progress; it is clearer to have one at a time." if at_once > 1 else ""
