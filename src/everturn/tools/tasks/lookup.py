"""Finds a task by its id, or says which there are."""

from everturn.core.errors import ToolFault
from everturn.ports.tasks import Task, Tasks


def find_task(tasks: Tasks, id_: str) -> Task:
    if (task := tasks.get(id_)) is not None:
        return task
    running = ", ".join(task.id for task in tasks.running)
    raise ToolFault(
        f"There is no task {id_!r} in this session. "
        + (f"Those that run: {running}." if running else "No task is running.")
    )
