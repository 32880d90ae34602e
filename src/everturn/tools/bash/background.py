"""A command in the background: a task of the session, whose output can be asked for at any time."""

import asyncio
import os

from everturn.ports.tasks import TaskReport, TaskStatus
from everturn.tools.bash.result import render_exit, render_seconds
from everturn.tools.bash.running_command import CommandEnding, RunningCommand
from everturn.tools.bash.tool import MAX_CHARACTERS

_STOP_GRACE_S = 1.0


class BackgroundCommand:
    """`ports.tasks.Task`. From here on the command is watched by nobody else."""

    def __init__(
        self, command: RunningCommand, *, text: str, description: str, tool_use_id: str, limit_s: float | None = None
    ) -> None:
        """`limit_s`: it is ended then; None for one that may run as long as it likes."""
        self._limit_s = limit_s
        self.id = f"bash_{os.urandom(4).hex()}"
        self._command = command
        self._text = text
        self._description = description or text
        self._tool_use_id = tool_use_id
        self._stopped = ""
        self._lasted_s: float | None = None
        self._notices: tuple[str, ...] = ()
        command.move_behind()
        self._watching = asyncio.ensure_future(self._watch())

    @property
    def is_running(self) -> bool:
        return not self._watching.done()

    @property
    def output_path(self) -> str | None:
        return self._command.output.path

    async def wait(self) -> None:
        await asyncio.wait({self._watching})

    async def stop(self) -> None:
        if self.is_running:
            self._stopped = self._stopped or "stopped"
            await self._command.end(_STOP_GRACE_S)
            await self.wait()

    def report(self) -> TaskReport:
        text, is_whole = self._command.output.render(MAX_CHARACTERS)
        code = None if self.is_running else self._command.ended.result()
        return TaskReport(
            id=self.id,
            kind="local_bash",
            tool_use_id=self._tool_use_id,
            status=self._judge_status(code),
            description=self._description,
            summary=self._summary(code),
            output="\n".join(part for part in (text.rstrip("\n"), *self._notices) if part),
            size=0 if is_whole else self._command.output.length,
            output_path=self.output_path,
            command=self._text,
            exit_code=code if code is not None and code >= 0 and not self._stopped else None,
        )

    async def _watch(self) -> None:
        try:
            ending = await self._command.wait(self._limit_s)
            if ending is CommandEnding.TIMED_OUT:
                self._stopped = "ended: a command that nobody approved has ten minutes"
                await self._command.end(_STOP_GRACE_S)
            elif ending is CommandEnding.FLOODED:
                self._stopped = "ended because it printed more than it may"
                await self._command.end(_STOP_GRACE_S)
            elif ending is CommandEnding.OVERLOADED:
                self._stopped = f"ended because it {self._command.overload}"
                await self._command.end(_STOP_GRACE_S)
        finally:
            self._lasted_s = self._command.elapsed_s
            self._command.output.finish()
            if self._command.ended.done() and not self._stopped:
                self._notices = self._command.explain(self._command.code)
            self._command.close()

    def _judge_status(self, code: int | None) -> TaskStatus:
        if code is None:
            return TaskStatus.RUNNING
        if self._stopped:
            return TaskStatus.STOPPED
        return TaskStatus.FAILED if code else TaskStatus.COMPLETED

    def _summary(self, code: int | None) -> str:
        lasted = render_seconds(self._command.elapsed_s if self._lasted_s is None else self._lasted_s)
        if code is None:
            return f"has been running for {lasted}"
        return f"{self._stopped or render_exit(code).lower()} after {lasted}"
