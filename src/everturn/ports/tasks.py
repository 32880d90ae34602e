"""Commands and agents in the background: the session lists them, reports their end, and ends them."""

from enum import StrEnum
from typing import Protocol

import msgspec


class TaskStatus(StrEnum):
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


class TaskReport(msgspec.Struct, frozen=True, kw_only=True):
    """State of a task."""

    id: str
    kind: str
    """`local_bash`, `local_agent`."""
    tool_use_id: str
    """The call that started it."""
    status: TaskStatus
    description: str
    """One line for people."""
    summary: str
    """State in words: how long it has run, or how it ended."""
    output: str
    """What it printed, shortened."""
    size: int = 0
    """Bytes of everything that it printed, where `output` is only a part; else 0."""
    output_path: str | None = None
    """A file with more of it."""
    command: str | None = None
    exit_code: int | None = None


class Task(Protocol):
    """Whatever happens, it comes to an end; `wait` and `stop` return when it has. Neither raises."""

    @property
    def id(self) -> str: ...

    @property
    def is_running(self) -> bool: ...

    def report(self) -> TaskReport: ...

    async def wait(self) -> None: ...

    async def stop(self) -> None: ...


class Leftovers(Protocol):
    """Processes that a tool leaves running besides tasks. No method raises."""

    async def aclose(self) -> None:
        """Ends the processes, after some time to end by themselves."""
        ...

    def kill(self) -> None:
        """Ends the processes at once."""
        ...


class Tasks:
    """The tasks of one session, in the order of their start. Owned by the engine, shared by its tools."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._untold: dict[str, Task] = {}
        self._began: list[Task] = []
        self._told: list[Task] = []
        self._leftovers: list[Leftovers] = []

    def add(self, task: Task) -> None:
        self._tasks[task.id] = self._untold[task.id] = task
        self._began.append(task)

    def get(self, id_: str) -> Task | None:
        return self._tasks.get(id_)

    @property
    def running(self) -> tuple[Task, ...]:
        return tuple(task for task in self._tasks.values() if task.is_running)

    def note_told(self, id_: str) -> None:
        """The model has read in the result of a call how the task ended."""
        if (task := self._untold.pop(id_, None)) is not None:
            self._told.append(task)

    def take_began(self) -> list[TaskReport]:
        """The tasks that were added since the last call of this method."""
        began, self._began = self._began, []
        return [task.report() for task in began]

    def take_told(self) -> list[TaskReport]:
        """The tasks whose end a call reported since the last call of this method."""
        told, self._told = self._told, []
        return [task.report() for task in told]

    def take_finished(self) -> list[TaskReport]:
        """The tasks that ended since the last call of this method, each of them once."""
        if not self._untold:
            return []
        finished = [task.report() for task in self._untold.values() if not task.is_running]
        for report in finished:
            del self._untold[report.id]
        return finished

    def answer_for(self, leftovers: Leftovers) -> None:
        """Ends these with the session, after the tasks."""
        self._leftovers.append(leftovers)

    async def aclose(self) -> None:
        """Ends all that runs. Safe to call twice."""
        if not self._tasks and not self._leftovers:
            return
        import asyncio

        await asyncio.gather(*(task.stop() for task in self.running))
        for leftovers in self._leftovers:
            await leftovers.aclose()
        self._leftovers.clear()

    def kill(self) -> None:
        """For a program that cannot wait: every process is gone, nothing else is put in order."""
        for leftovers in self._leftovers:
            leftovers.kill()
