"""The Bash tool: runs a command where the last one left off, streams its output, and says how it ended."""

import asyncio
import os
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.bash.capture import Capture
from everturn.tools.bash.exits import judge_exit, render_exit
from everturn.tools.define import FunctionTool, tool
from everturn.tools.shown import BashShown
from everturn.workspace.paths import is_inside

TIMEOUT_MS = 120_000
MOST_TIMEOUT_MS = 600_000
MOST_CHARACTERS = 30_000
_RESULT_LIMIT = 40_000
"""Leaves room for our notices, so that a result is cut once, here."""
_SHOWN_LIVE = 262_144
"""Characters of progress shown piece by piece; of what comes after, samples."""
_SAMPLE_S = 0.1
_GRACE_SHARE = 0.75
"""We must have killed and answered before the engine's own patience ends."""
_SECRETS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"})
_REPORT_LENGTH = 65_536


class BashInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(min_length=1, description="The command")]
    timeout: Annotated[int, Meta(ge=1, description=f"Milliseconds, at most {MOST_TIMEOUT_MS}")] = TIMEOUT_MS
    description: Annotated[str, Meta(description="What the command does, in a few words, for the person")] = ""


class Ending(Enum):
    EXITED = "exited"
    TIMED_OUT = "timed out"
    ABORTED = "aborted"


def bash_tool() -> FunctionTool:
    """One per session: it knows the folder that the last command ended in."""
    shell = Shell()

    @tool(
        name="Bash",
        destructive=True,
        access=Access.EXECUTE,
        result_limit=_RESULT_LIMIT,
        line=lambda call: f"Bash {call.command}",
        description=f"""Runs a command in bash and returns its output (both streams, in order).

The working folder stays from one call to the next while it is inside the project; variables do not. There is no
terminal and no input, so interactive programs end at once. A command is ended after {TIMEOUT_MS // 1000} s, or after
`timeout`. Output beyond {MOST_CHARACTERS:,} characters is cut in the middle. A process started with `&` goes on after
the call; send its output to a file. To read, find, search or change files, use Read, Glob, Grep, Edit and Write.""",
    )
    async def bash(call: BashInput, context: ToolContext) -> ToolResult:
        return await shell.run(call, context)

    return bash


class Shell:
    def __init__(self) -> None:
        self._folder: str | None = None
        """None is the project's."""

    async def run(self, call: BashInput, context: ToolContext) -> ToolResult:
        if context.abort.raised:
            return _render(call, Capture(), Ending.ABORTED, 0, "")
        folder = self._starting_folder(context.folder)
        capture = Capture()
        # The shell tells its last folder over a pipe of its own, so that no output and no exit code is touched.
        heard, told = os.pipe()
        os.set_blocking(heard, False)
        try:
            try:
                code, ending = await _run(call, folder, told, capture, context)
            finally:
                os.close(told)
            notice = self._move_to(_read_report(heard), context.folder) if ending is Ending.EXITED else ""
        finally:
            os.close(heard)
        return _render(call, capture, ending, code, notice)

    def _starting_folder(self, project: str) -> str:
        if self._folder is not None and Path(self._folder).is_dir() and is_inside(project, self._folder):
            return self._folder
        return project

    def _move_to(self, reported: str, project: str) -> str:
        """A notice when the command ended outside the project."""
        if reported == project:
            self._folder = None
        if reported in {"", project}:
            return ""
        folder = os.path.realpath(reported)
        if is_inside(project, folder):
            self._folder = folder
            return ""
        self._folder = None
        return f"Shell cwd was reset to {project}"


async def _run(call: BashInput, folder: str, told: int, capture: Capture, context: ToolContext) -> tuple[int, Ending]:
    from everturn.tools.bash.process import Group

    progress = Progress(context)
    group = Group(
        _plan_arguments(call.command, told),
        folder=folder,
        environment={key: value for key, value in os.environ.items() if key not in _SECRETS},
        keep=told,
        take=lambda data: progress.show(capture.feed(data)),
    )
    watching = asyncio.ensure_future(context.abort.wait())
    ending = Ending.EXITED
    try:
        seconds = min(call.timeout, MOST_TIMEOUT_MS) / 1000
        waited: set[asyncio.Future[Any]] = {group.ended, watching}
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not group.ended.done():
            ending = Ending.ABORTED if watching.done() else Ending.TIMED_OUT
            await group.end(context.abort_grace_s * _GRACE_SHARE)
        progress.show(capture.feed(b"", final=True))
        return group.ended.result(), ending
    finally:
        watching.cancel()
        if not group.ended.done():
            group.kill()
        group.close()


class Progress:
    """All of the output at first; of a flood, a piece now and then."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._shown = 0
        self._next_s = 0.0

    def show(self, text: str) -> None:
        if not text:
            return
        now = asyncio.get_running_loop().time()
        if self._shown < _SHOWN_LIVE or now >= self._next_s:
            self._shown += len(text)
            self._next_s = now + _SAMPLE_S
            self._context.progress(text)


def _plan_arguments(command: str, told: int) -> list[str]:
    # `eval` keeps the trap out of the shell's own messages about the command, and their line numbers right.
    script = f"trap 'pwd -P 2>/dev/null >/dev/fd/{told}' EXIT; eval \"$1\""
    return [_find_shell(os.environ.get("PATH")), "-c", script, "bash", command]


@lru_cache(maxsize=1)
def _find_shell(path: str | None) -> str:
    from shutil import which

    return which("bash", path=path) or "/bin/sh"


def _read_report(heard: int) -> str:
    try:
        report = os.read(heard, _REPORT_LENGTH)
    except BlockingIOError:
        return ""
    return os.fsdecode(report).removesuffix("\n")


def _render(call: BashInput, capture: Capture, ending: Ending, code: int, notice: str) -> ToolResult:
    output = capture.render(MOST_CHARACTERS).rstrip("\n")
    meaning = judge_exit(call.command, code) if ending is Ending.EXITED else None
    failed = ending is not Ending.EXITED or (code != 0 and meaning is None)
    timeout = min(call.timeout, MOST_TIMEOUT_MS)
    match ending:
        case Ending.TIMED_OUT:
            opening = f"The command did not end within {timeout / 1000:g} s and was ended, with all it had started."
        case Ending.ABORTED:
            opening = "The command was interrupted and ended."
        case _:
            opening = render_exit(code) if failed else ""
    remark = f"(Exit code 1: {meaning}.)" if meaning else ""
    parts = [part for part in (opening, output, remark, notice) if part]
    return ToolResult(
        content="\n".join(parts) or "(no output)",
        is_error=failed,
        shown=BashShown(
            stdout=output,
            stderr=notice,
            interrupted=ending is Ending.ABORTED,
            is_image=False,
            exit_code=code if ending is Ending.EXITED and code >= 0 else None,
            timed_out_after_ms=timeout if ending is Ending.TIMED_OUT else None,
            return_code_interpretation=meaning,
        ),
    )
