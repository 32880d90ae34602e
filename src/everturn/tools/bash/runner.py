"""Runs the commands of a session: in the foreground, in the background, and moved to the background when the time is over."""

import asyncio
import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from everturn.core.limits import Limits
from everturn.core.patterns import compile_late
from everturn.ports.holding import Bounds
from everturn.ports.outputs import Outputs
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tasks import Tasks
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.bash.named_files import NamedFiles, remember_printed
from everturn.tools.bash.output import MAX_IN_FILE, Output, OutputFiles
from everturn.tools.bash.result import Ended, judge_exit, may_go_on, render_ended
from everturn.tools.bash.running_command import MAX_PRINTED, CommandEnding, RunningCommand
from everturn.tools.bash.shell import CommandStart, Shell, render_folder
from everturn.tools.bash.tool import MAX_CHARACTERS, MAX_TIMEOUT_MS, BashInput
from everturn.workspace.descendants import end_members, kill_members
from everturn.workspace.watcher import Watcher

if TYPE_CHECKING:
    from everturn.ports.sandbox import Cell, Holder, Sandbox
    from everturn.tools.bash.confinement import NoteEnd

_GRACE_SHARE = 0.75
"""The command must be ended and its result ready before the engine's own time limit."""
_LAST_GRACE_S = 1.0
_MAX_BEHIND = 8
_MAX_SO_FAR = 4_000
"""Characters told of a command that goes on in the background: its whole output is told at its end."""
_MB = 1_000_000
_ANSWERED = frozenset({0, 1})
"""The exit code 1 is mostly that of a last search that found nothing."""
_MOVES = compile_late(r"\b(?:cd|pushd|popd)\b")
_REMOVES = compile_late(r"\b(?:rm|rmdir|unlink|remove|mv|git)\b")
_OPENINGS = {
    CommandEnding.ABORTED: "The command was interrupted and ended.",
    CommandEnding.FLOODED: "The command printed more than it may and was ended.",
}
_UNTOLD = (
    "The working folder and variables are as they were before the command: its shell ended without telling them "
    "(an EXIT trap of its own, or exec)"
)


_MISSED = "No such file or directory"
"""A program's words for a path that leads nowhere, also in a line that ends well: behind a pipe, or before a `;`."""
_GONE = "The session was resumed since, and these variables that earlier commands had exported are no longer set"


class CommandRunner:
    """One per session; ends with it."""

    def __init__(  # noqa: PLR0917 - what a session has, in the order of its builder
        self,
        outputs: Outputs | None = None,
        shell: ShellFolder | None = None,
        sandbox: "Sandbox | None" = None,
        limits: Limits | None = None,
        holder: "Holder | None" = None,
        scratch: Scratch = NO_SCRATCH,
    ) -> None:
        self._sandbox = sandbox
        self._holder = holder
        self._limits = limits or Limits()
        self._shell = Shell(shell, scratch)
        self._scratch = scratch
        self._watched = ""
        """The scratch folder that the watcher knows."""
        self._watcher = Watcher(self._shell.session, self._shell.seal)
        self._files = OutputFiles(outputs, self._watcher.note_folder)
        self._tasks: Tasks | None = None
        self._behind: list[tuple[str, NamedFiles]] = []
        """What commands in the background name, by the call that started them."""
        self._is_known = False
        """What the notes say of the shell is what it told itself."""

    async def run(self, call: BashInput, context: ToolContext, *, reads_only: bool = False) -> ToolResult:
        if context.abort.raised:
            return render_ended(
                Ended(command=call.command, output="", opening=_OPENINGS[CommandEnding.ABORTED], interrupted=True)
            )
        if self._shell.process != os.getpid():
            self._shell.begin()
            self._watcher.part(self._shell.session, self._shell.seal)
        self._end_with(context.tasks)
        if context.holding is not None and context.holding.tries:
            from everturn.tools.bash.confinement import run_trying

            stand = self._shell.stand
            return await run_trying(
                self._run, call, context, folder=stand[0] or "", go_back=lambda: self._shell.go_back(stand)
            )
        return await self._run(call, context, reads_only=reads_only)

    async def _run(
        self,
        call: BashInput,
        context: ToolContext,
        *,
        reads_only: bool = False,
        note_end: "NoteEnd | None" = None,
    ) -> ToolResult:
        """`note_end` is told the exit code of a held command, and what it was refused."""
        # Before the first command: whenever the program is killed, somebody is there to end what it started.
        self._watcher.start()
        start, cell = await self._confine(call, context)
        if start.scratch not in {"", self._watched}:
            self._watched = start.scratch
            self._watcher.note_folder(start.scratch)
        bounds = self._holder.bounds if self._holder is not None and context.holding is not None else None
        try:
            named = (
                NamedFiles({})
                if reads_only
                else NamedFiles.of(call.command, start.folder, context.folder, (path for path, _ in context.files))
            )
            command = RunningCommand(
                start,
                Output(self._files.open, context.hiding),
                context.progress,
                cell=cell,
                limits=self._limits if bounds is None else limit_held(self._limits, bounds),
                most_printed=MAX_PRINTED if bounds is None else bounds.printed,
            )
        except BaseException:
            if cell is not None:
                cell.close()
            if start.waiting is not None:
                start.waiting.close()
            raise
        if call.run_in_background:
            self._behind = [*self._behind, (context.tool_use_id, named)][-_MAX_BEHIND:]
            limit_s = None if context.holding is None else MAX_TIMEOUT_MS / 1000
            return self._move_behind(call, context, command, "The command runs in the background", limit_s=limit_s)
        try:
            result = await self._wait(call, context, command)
            if note_end is not None:
                code = command.code if command.ended.done() else None
                note_end(code, command.find_refusals(code))
            return result
        finally:
            if command.is_behind:
                self._behind = [*self._behind, (context.tool_use_id, named)][-_MAX_BEHIND:]
            else:
                command.close()
            if cell is None:
                self._shell.prepare(context.folders)
            self._note_changes(call.command, context, named)

    def _note_changes(self, command: str, context: ToolContext, named: NamedFiles) -> None:
        """Also of those that still run: nobody asks when they end."""
        for use, files in self._behind:
            for path in files.list_changed():
                context.files.note_change(path, use)
        for path, left in named.find_changed().items():
            context.files.note_change(path, context.tool_use_id)
            if left is not None:
                context.files.note_left(path, *left)
            elif _REMOVES.search(command):
                # The model knows what it removes.
                context.files.forget(path)

    async def aclose(self) -> None:
        """Ends what commands left running, and removes the files of a session that is not saved."""
        self._shell.close()
        await end_members(self._shell.find_left_behind, _LAST_GRACE_S)
        for walls in (self._sandbox, self._holder):
            if walls is not None:
                await walls.aclose()
        self._watcher.close()
        self._files.close()

    def kill(self) -> None:
        """Commands in the background are among them: they have the mark, too."""
        kill_members(self._shell.find_left_behind)

    async def _confine(self, call: BashInput, context: ToolContext) -> "tuple[CommandStart, Cell | None]":
        """How it starts, and in which walls. Raises `ToolFault` where it may not run without."""
        if self._sandbox is None and context.holding is None:
            return self._shell.plan_start(call.command, context.folders), None
        from everturn.tools.bash.confinement import run_confining

        return await run_confining(self._shell, self._sandbox, self._holder, call, context)

    def _end_with(self, tasks: Tasks) -> None:
        if self._tasks is not tasks:
            self._tasks = tasks
            tasks.answer_for(self)

    async def _wait(self, call: BashInput, context: ToolContext, command: RunningCommand) -> ToolResult:
        timeout_ms = min(call.timeout, MAX_TIMEOUT_MS)
        ending = await command.wait(timeout_ms / 1000, context.abort)
        timed_out = timeout_ms if ending is CommandEnding.TIMED_OUT else None
        if timed_out and context.holding is None and may_go_on(call.command):
            opening = f"The command did not end within {timeout_ms / 1000:g} s and was moved to the background"
            return self._move_behind(call, context, command, opening, timed_out)
        if ending is not CommandEnding.EXITED:
            await command.end(context.abort_grace_s * _GRACE_SHARE)
        opening = _OPENINGS.get(ending, "")
        if ending is CommandEnding.OVERLOADED:
            opening = f"The command {command.overload} and was ended, with all it had started."
        if timed_out:
            opening = f"The command did not end within {timed_out / 1000:g} s and was ended, with all it had started."
        code = command.code if ending is CommandEnding.EXITED else None
        result = self._render(
            command,
            context,
            Ended(
                command=call.command,
                output="",
                opening=opening,
                code=code,
                notices=(*self._learn(command, code, call, context), *command.explain(code)),
                interrupted=ending is CommandEnding.ABORTED,
                timed_out_after_ms=timed_out,
            ),
        )
        if code == 0 and command.output.may_be_picture:
            from everturn.tools.bash.picture import run_picture

            return await asyncio.to_thread(run_picture, result, command.output, context)
        return result

    def _learn(
        self, command: RunningCommand, code: int | None, call: BashInput, context: ToolContext
    ) -> tuple[str, ...]:
        """What the shell told counts for the next command; what is odd about it is for the model to know."""
        notice = _UNTOLD if code is not None and code >= 0 else ""
        where = ""
        if command.start.folder != context.folder and _seems_lost(command, code, call.command):
            place = render_folder(command.start.folder, context.folder)
            where = f"The command ran in {place}, where an earlier one has moved the shell"
        if (report := command.report()) is not None:
            before = self._shell.folder
            notice = self._shell.learn(command.start, report, context.folder, call.command)
            # It was there, and is not any more: one sentence tells both.
            where = where if self._shell.folder == before else ""
        return tuple(each for each in (command.start.notice, where, notice, self._keep(context)) if each)

    def _keep(self, context: ToolContext) -> str:
        """The session remembers where the shell stands, and what it exported by name. A notice of what is gone since."""
        notes = context.notepad.notes
        gone = () if self._is_known else tuple(name for name in notes.exported if name not in self._shell.exported)
        self._is_known = True
        context.notepad.notes = replace(
            notes,
            shell_folder=self._shell.folder,
            exported=(*self._shell.exported,),
            scratch=self._scratch.find_used(),
        )
        return f"{_GONE}: {', '.join(gone)}" if gone else ""

    def _move_behind(
        self,
        call: BashInput,
        context: ToolContext,
        command: RunningCommand,
        opening: str,
        timed_out_ms: int | None = None,
        *,
        limit_s: float | None = None,
    ) -> ToolResult:
        from everturn.tools.bash.background import BackgroundCommand

        task = BackgroundCommand(
            command,
            text=call.command,
            description=call.description,
            tool_use_id=context.tool_use_id,
            limit_s=limit_s,
        )
        context.tasks.add(task)
        where = f"Its output goes to {task.output_path}. " if task.output_path else ""
        if command.start.folder != context.folder:
            where = f"It runs in {render_folder(command.start.folder, context.folder)}. {where}"
        return self._render(
            command,
            context,
            Ended(
                command=call.command,
                output="",
                opening=f"{opening}, as task {task.id}. {where}You are told when it ends.",
                notices=self._tell_staying(call.command, context),
                timed_out_after_ms=timed_out_ms,
                background_task_id=task.id,
            ),
        )

    def _tell_staying(self, command: str, context: ToolContext) -> tuple[str, ...]:
        """A command in the background moves nobody but itself."""
        if not _MOVES.search(command):
            return ()
        place = self._shell.folder
        where = render_folder(place, context.folder) if place else "the working folder"
        return (f"The next command starts in {where}: a `cd` in the background does not move the shell",)

    def _render(self, command: RunningCommand, context: ToolContext, ended: Ended) -> ToolResult:
        output = command.output
        if command.ended.done():
            output.finish()
        text, is_whole = output.render(_MAX_SO_FAR if ended.background_task_id else MAX_CHARACTERS)
        if not is_whole:
            output.save()
        is_named = ended.background_task_id is not None and output.path is not None
        printed: tuple[str, ...] = ()
        if is_whole and ended.code in _ANSWERED:
            printed = remember_printed(ended.command, command.start.folder, context, text.rstrip("\n"))
        if output.path is not None and (command.is_behind or not is_whole):
            context.note_output(output.path, output.saved)
        result = render_ended(
            replace(
                ended,
                output=text.rstrip("\n"),
                duration_s=command.elapsed_s,
                notices=ended.notices if is_whole or is_named else (*ended.notices, render_saved(output)),
                saved_path=None if is_whole else output.path,
                saved_bytes=None if is_whole or output.path is None else output.saved,
            )
        )
        return replace(result, files=printed) if printed else result


def limit_held(limits: Limits, bounds: Bounds) -> Limits:
    """What of the machine a command may take that nobody approved."""
    memory_mb = bounds.memory // _MB
    return replace(
        limits,
        command_processes=min(limits.command_processes or bounds.processes, bounds.processes),
        command_threads=min(limits.command_threads or bounds.threads, bounds.threads),
        command_memory_mb=min(limits.command_memory_mb or memory_mb, memory_mb),
    )


def _seems_lost(command: RunningCommand, code: int | None, line: str) -> bool:
    """It failed, or missed a file: it may have been meant for another folder than that in which it ran."""
    if code and judge_exit(line, code) is None:
        return True
    return code is not None and _MISSED in command.output.render_end(_MAX_SO_FAR)


def render_saved(output: Output) -> str:
    if output.path is None:
        return f"The whole output could not be kept: {output.trouble}"
    if output.saved >= MAX_IN_FILE:
        return f"The first {MAX_IN_FILE // 1024**2} MiB of the output are in {output.path}"
    missing = f", as far as it could be written ({output.trouble})" if output.trouble else ""
    return f"The whole output is in {output.path}{missing}"
