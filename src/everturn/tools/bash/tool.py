"""The Bash tool: runs a command where the last one left off, streams its output, and says how it ended."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from everturn.core.limits import Limits
from everturn.ports.outputs import Outputs
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tool import Access, Confinement, ToolContext, ToolResult
from everturn.tools.define import FunctionTool, tool
from everturn.tools.habits import settle_command

if TYPE_CHECKING:
    from everturn.ports.sandbox import Holder, Sandbox
    from everturn.tools.bash.commands import Commands

TIMEOUT_MS = 120_000
MOST_TIMEOUT_MS = 600_000
MOST_CHARACTERS = 30_000
"""Of the output, for the model."""
_RESULT_LIMIT = 40_000
"""Leaves room for our notices, so that a result is cut once, here."""


class BashInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(min_length=1, description="The command")]
    timeout: Annotated[int, Meta(ge=1, description=f"Milliseconds, at most {MOST_TIMEOUT_MS}")] = TIMEOUT_MS
    description: Annotated[str, Meta(description="What the command does, in a few words, for the person")] = ""
    run_in_background: Annotated[
        bool, Meta(description="Return at once; read the output later with TaskOutput, end it with TaskStop")
    ] = False
    dangerouslyDisableSandbox: Annotated[  # noqa: N815 - its public name
        bool, Meta(description="Where commands run in a sandbox: run this one outside, if the person agrees")
    ] = False


def bash_tool(  # noqa: PLR0917 - what a session has, in the order of its builder
    outputs: Outputs | None = None,
    shell: ShellFolder | None = None,
    sandbox: "Sandbox | None" = None,
    limits: Limits | None = None,
    only_reads: Callable[[str], bool] | None = None,
    holder: "Holder | None" = None,
    scratch: Scratch = NO_SCRATCH,
) -> FunctionTool:
    """One per session: it knows the folder that the last command ended in, and what it exported.

    `outputs` learns which files it writes, `shell` where the next command starts. `sandbox` holds the commands, `holder`
    those that nobody approved; both are closed with them. `limits`: what of the machine one of them may take. `only_reads`
    knows those that change nothing. `scratch`: the folder for their temporary files.
    """
    made: list[Commands] = []
    readers: set[str] = set()
    """Commands about to run that change nothing."""

    def judge_confinement(call: BashInput) -> Confinement:
        return sandbox.judge(call.command, leave=call.dangerouslyDisableSandbox) if sandbox else Confinement.NONE

    def judge_reading(call: BashInput) -> bool:
        reads = only_reads is not None and not call.run_in_background and only_reads(call.command)
        (readers.add if reads else readers.discard)(call.command)
        return reads

    @tool(
        name="Bash",
        reads_only=judge_reading,
        destructive=True,
        access=Access.EXECUTE,
        settle=settle_command,
        result_limit=_RESULT_LIMIT,
        confinement=judge_confinement,
        line=lambda call: f"Bash {call.command}{' (in the background)' if call.run_in_background else ''}",
        description=f"""Runs a command in bash and returns its output (both streams, in order).

The first command starts in the working folder. Where a command moves to (`cd`), if that is inside the project, and
exported variables stay for the next call; functions, aliases and options do not. There is no terminal and no input: programs that ask get no answer, so give answers by
options. After {TIMEOUT_MS // 1000} s, or `timeout`, a command goes on in the background (one that begins with sleep or
uses git is ended). Output beyond {MOST_CHARACTERS:,} characters is cut in the middle, and kept in a file that the
result names. With `run_in_background` the call returns at once; you are told when the command has ended. All that a
command started ends with the session; what the user wants to outlive it is started with an empty EVERTURN_MARK
(`EVERTURN_MARK= nohup server >log 2>&1 &`). $TMPDIR is a private folder for temporary files: what commands write there
(`cat > $TMPDIR/x.py <<'EOF'`) needs no approval, nor do Write and Edit by its full path (`echo $TMPDIR`); to run a file
from there does. It goes with the session. To read, find, search or change files, use Read, Glob, Grep, Edit and Write.{f"{chr(10) * 2}{sandbox.description}" if sandbox and sandbox.description else ""}""",
    )
    async def bash(call: BashInput, context: ToolContext) -> ToolResult:
        if not made:
            # Only now: a session that runs no command needs none of this.
            from everturn.tools.bash.commands import Commands

            made.append(Commands(outputs, shell, sandbox, limits, holder, scratch))
        reads = call.command in readers
        readers.discard(call.command)
        return await made[0].run(call, context, reads_only=reads)

    return bash
