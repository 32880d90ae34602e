"""Runs the command of a goal: always in the working folder, with the environment that the program was started with."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from everturn.core.events import GoalFile
from everturn.core.hiding import Hiding
from everturn.core.limits import Limits
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.goal import Verification
from everturn.ports.outputs import Outputs
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tool import ToolContext
from everturn.tools.bash.confinement import run_confining
from everturn.tools.bash.output import Output, OutputFiles
from everturn.tools.bash.result import judge_waiting, name_signal
from everturn.tools.bash.running_command import CommandEnding, RunningCommand
from everturn.tools.bash.shell import Shell
from everturn.tools.bash.tool import BashInput
from everturn.tools.goals.watched_files import WatchedFiles
from everturn.workspace.descendants import end_members, kill_members
from everturn.workspace.watcher import Watcher

if TYPE_CHECKING:
    from everturn.ports.sandbox import Sandbox

MAX_PRINTED = 1024**3
"""Bytes. Who prints more prints for ever."""
MAX_TOLD = 200_000
MAX_END = 4_000
"""Characters of the end that the model is given."""
_GRACE_S = 1.5


class CommandVerifier:
    """`ports.goal.Verifier`. Nothing that the model does to the shell of its own commands (`cd`, `export`) reaches it."""

    def __init__(
        self,
        folder: str,
        *,
        limits: Limits,
        sandbox: "Sandbox | None" = None,
        outputs: Outputs | None = None,
        scratch: Scratch = NO_SCRATCH,
        list_added: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._folder = folder
        self._limits = limits
        self._sandbox = sandbox
        self._outputs = outputs or Outputs()
        self._list_added = list_added
        self._shell = Shell(ShellFolder(), scratch)
        self._watcher = Watcher(self._shell.session, self._shell.seal)
        self._files = OutputFiles(self._outputs, self._watcher.note_folder)
        self._last_output = ""
        self._watched: WatchedFiles | None = None

    async def begin(self, command: str, *, since: float = 0.0, goes_on: bool = False) -> None:
        if goes_on and self._watched is not None and self._watched.command == command:
            return
        self._watched = WatchedFiles(self._folder, command, since=since)
        await asyncio.to_thread(self._watched.begin)

    async def find_touched(self) -> tuple[GoalFile, ...]:
        return () if self._watched is None else await asyncio.to_thread(self._watched.find_touched)

    async def run(self, command: str, *, limit_s: float, hiding: Hiding) -> Verification:
        self._watcher.start()
        self._forget_output()
        call = BashInput(command=command)
        start, cell = await run_confining(self._shell, self._sandbox, None, call, self._context())
        output = Output(self._files.open, hiding)
        try:
            running = RunningCommand(
                start, output, lambda _: None, cell=cell, limits=self._limits, most_printed=MAX_PRINTED
            )
        except BaseException:
            if cell is not None:
                cell.close()
            raise
        try:
            ending = await running.wait(limit_s or None)
            if ending is not CommandEnding.EXITED:
                await running.end(_GRACE_S)
            verification = self._render(running, ending, limit_s)
        finally:
            running.close()
            # Also what it started and left: a server that still holds its port would make the next run fail.
            kill_members(self._shell.find_left_behind)
        return verification

    async def aclose(self) -> None:
        await end_members(self._shell.find_left_behind, _GRACE_S)
        self._watcher.close()
        self._forget_output()
        self._files.close()

    def _render(self, running: RunningCommand, ending: CommandEnding, limit_s: float) -> Verification:
        output = running.output
        if running.ended.done():
            output.finish()
        code = running.code if ending is CommandEnding.EXITED else None
        told, _ = output.render(MAX_TOLD)
        end = output.render_end(MAX_END)
        notices = [*running.explain(code), *(judge_waiting(end) if code else ())]
        if output.path is not None:
            self._last_output = output.path
        return Verification(
            passed=code == 0,
            ended=say_ended(running, ending, code, limit_s),
            code=code,
            told=told,
            end="\n".join((end.rstrip("\n"), *notices)).strip("\n"),
            size=output.length,
            path=output.path,
        )

    def _context(self) -> ToolContext:
        return ToolContext(
            folder=self._folder,
            tool_use_id="",
            abort=AbortSignal(),
            files=FileStates(),
            progress=lambda _: None,
            added=self._list_added(),
        )

    def _forget_output(self) -> None:
        """That of the last run is enough: each may take as much of the disk as it likes up to a limit."""
        if self._last_output:
            with suppress(OSError):
                os.unlink(self._last_output)  # noqa: PTH108 - a path as text
            self._outputs.remove(self._last_output)
            self._last_output = ""


def say_ended(running: RunningCommand, ending: CommandEnding, code: int | None, limit_s: float) -> str:
    match ending:
        case CommandEnding.TIMED_OUT:
            return f"did not end within {limit_s:g} s and was ended, with all it had started"
        case CommandEnding.FLOODED:
            return f"printed more than {MAX_PRINTED >> 20:,} MiB and was ended"
        case CommandEnding.OVERLOADED:
            return f"{running.overload} and was ended"
        case _ if code is not None and code < 0:
            return f"was ended by {name_signal(code)}"
        case _:
            return f"ended with exit code {code}"
