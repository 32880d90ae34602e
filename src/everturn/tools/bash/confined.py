"""In which walls a command starts: held where nobody approved it, in the sandbox where the person wants one, or in none."""

from msgspec.structs import replace

from everturn.core.errors import ToolFault
from everturn.ports.holding import Holding
from everturn.ports.sandbox import Cell, Holder, Sandbox
from everturn.ports.sandbox import Start as ConfinedStart
from everturn.ports.tool import Confinement, ToolContext
from everturn.tools.bash.shell import Shell, Side, Start
from everturn.tools.bash.tool import BashInput


async def run_confining(
    shell: Shell, sandbox: Sandbox | None, holder: Holder | None, call: BashInput, context: ToolContext
) -> tuple[Start, Cell | None]:
    """With the environment that the command is really given: the shell learns from it. Raises `ToolFault`.

    Who may let it out has been asked before the call came here.
    """
    if context.holding is not None:
        return await _hold(shell, holder, context.holding, call, context)
    if sandbox is None or sandbox.judge(call.command, leave=call.dangerouslyDisableSandbox) is Confinement.LEAVES:
        return shell.plan_start(call.command, context.folders), None
    start = shell.plan_start(call.command, context.folders, Side.SANDBOX)
    wanted = ConfinedStart(arguments=start.arguments, environment=start.environment)
    # Nobody waits for what runs in the background: a question from there would come out of the blue.
    inquire = None if call.run_in_background else context.inquire
    cell = await sandbox.confine(call.command, wanted, context.folder, inquire)
    return replace(start, environment={**cell.start.environment, **cell.start.handed}), cell


async def _hold(
    shell: Shell, holder: Holder | None, holding: Holding, call: BashInput, context: ToolContext
) -> tuple[Start, Cell]:
    if holder is None:
        raise ToolFault("The command did not run: nobody approved it, and nothing here can hold it.")
    start = shell.plan_start(call.command, context.folders, Side.HELD)
    cell = await holder.hold(
        holding, ConfinedStart(arguments=start.arguments, environment=start.environment, seal=shell.seal), start.folder
    )
    return replace(start, environment=dict(cell.start.environment)), cell
