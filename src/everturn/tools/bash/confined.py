"""Where the person wants a sandbox: a command starts in it, unless a person has let it out."""

from msgspec.structs import replace

from everturn.ports.sandbox import Cell, Sandbox
from everturn.ports.sandbox import Start as ConfinedStart
from everturn.ports.tool import Confinement, ToolContext
from everturn.tools.bash.shell import Start
from everturn.tools.bash.tool import BashInput


async def run_confining(
    sandbox: Sandbox, call: BashInput, start: Start, context: ToolContext
) -> tuple[Start, Cell | None]:
    """With the environment that the command is really given: the shell learns from it. Raises `ToolFault`.

    Who may let it out has been asked before the call came here.
    """
    if sandbox.judge(call.command, leave=call.dangerouslyDisableSandbox) is Confinement.LEAVES:
        return start, None
    wanted = ConfinedStart(arguments=start.arguments, environment=start.environment)
    # Nobody waits for what runs in the background: a question from there would come out of the blue.
    inquire = None if call.run_in_background else context.inquire
    cell = await sandbox.confine(call.command, wanted, context.folder, inquire)
    return replace(start, environment=dict(cell.start.environment)), cell
