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
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.input_corrections import settle_command

if TYPE_CHECKING:
    from everturn.ports.sandbox import Holder, Sandbox
    from everturn.tools.bash.runner import CommandRunner

TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 600_000
MAX_CHARACTERS = 30_000
"""Of the output, for the model."""
_LEAVES = "dangerouslyDisableSandbox"
_RESULT_LIMIT = 40_000
"""Leaves room for our notices, so that a result is cut once, here."""


class BashInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(min_length=1, description="The command")]
    timeout: Annotated[int, Meta(ge=1, description=f"Milliseconds, at most {MAX_TIMEOUT_MS}")] = TIMEOUT_MS
    description: Annotated[str, Meta(description="What the command does, in a few words, for the person")] = ""
    run_in_background: Annotated[
        bool, Meta(description="Return at once; read the output later with TaskOutput, end it with TaskStop")
    ] = False
    dangerouslyDisableSandbox: Annotated[  # noqa: N815 - its public name
        bool, Meta(description="Run the command outside the sandbox, if the person agrees")
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
    made: list[CommandRunner] = []

    def judge_confinement(call: BashInput) -> Confinement:
        return sandbox.judge(call.command, leave=call.dangerouslyDisableSandbox) if sandbox else Confinement.NONE

    def judge_reading(call: BashInput) -> bool:
        return only_reads is not None and not call.run_in_background and only_reads(call.command)

    told = sandbox.description if sandbox else ""

    @tool(
        name="Bash",
        # The sandbox says whether a command may leave it.
        untold_fields=() if _LEAVES in told else (_LEAVES,),
        reads_only=judge_reading,
        destructive=True,
        access=Access.EXECUTE,
        settle=settle_command,
        result_limit=_RESULT_LIMIT,
        confinement=judge_confinement,
        line=lambda call: f"Bash {call.command}{' (in the background)' if call.run_in_background else ''}",
        description=f"""Runs a command in bash and returns its output (both streams, in order).

The first command starts in the working folder. The next one starts where `cd` has left the last, inside the project, and
keeps exported variables; functions, aliases and options are lost. There is no terminal and no input: programs that ask get no answer, so give answers by
options. After {TIMEOUT_MS // 1000} s, or `timeout`, a command goes on in the background (one that begins with sleep or
uses git is ended). Output beyond {MAX_CHARACTERS:,} characters is cut in the middle, and kept in a file that the
result names. With `run_in_background` the call returns at once; you are told when the command has ended. All that a
command started ends with the session; what the user wants to outlive it is started with an empty EVERTURN_MARK
(`EVERTURN_MARK= nohup server >log 2>&1 &`). $TMPDIR is a private folder for temporary files: commands
(`cat > $TMPDIR/x.py <<'EOF'`), Write and Edit (by its full path) write there unasked; to run a file
from there needs a rule or an approval. It is removed with the session. To read, find, search or change files, use Read, Glob, Grep, Edit and Write.{f"{chr(10) * 2}{told}" if told else ""}""",
    )
    async def bash(call: BashInput, context: ToolContext) -> ToolResult:
        if not made:
            # Only now: a session that runs no command needs none of this.
            from everturn.tools.bash.runner import CommandRunner

            made.append(CommandRunner(outputs, shell, sandbox, limits, holder, scratch))
        return await made[0].run(call, context, reads_only=context.traits.read_only)

    return bash
