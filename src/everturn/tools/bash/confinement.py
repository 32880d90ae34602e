"""How a command is confined, and what follows if confinement stops one that nobody approved: a person is asked, and it runs again."""

from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from everturn.core.errors import ToolFault
from everturn.ports.holding import Holding
from everturn.ports.sandbox import Cell, Holder, Sandbox
from everturn.ports.sandbox import Start as ConfinedStart
from everturn.ports.tool import Access, Confinement, Inquiry, ToolContext, ToolResult
from everturn.tools.bash.shell import CommandStart, Shell, Side
from everturn.tools.bash.tool import BashInput

_NOBODY = "nobody is here to approve it"
_MAX_SHOWN = 200
"""Characters of a line."""
_MAX_LINES = 3
HELD = (
    "(It ran held, since no rule allows it: it could read the working folders and the system's programs, and write, reach or see "
    "nothing else. A program may keep silent about what it was refused.)"
)


async def run_confining(
    shell: Shell, sandbox: Sandbox | None, holder: Holder | None, call: BashInput, context: ToolContext
) -> tuple[CommandStart, Cell | None]:
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
) -> tuple[CommandStart, Cell]:
    if holder is None:
        raise ToolFault("The command did not run: nobody approved it, and it cannot be confined here.")
    start = shell.plan_start(call.command, context.folders, Side.HELD)
    cell = await holder.hold(
        holding, ConfinedStart(arguments=start.arguments, environment=start.environment, seal=shell.seal), start.folder
    )
    return replace(start, environment=dict(cell.start.environment)), cell


class NoteEnd(Protocol):
    def __call__(self, code: int | None, refusals: tuple[str, ...], /) -> None: ...


class Run(Protocol):
    async def __call__(
        self, call: BashInput, context: ToolContext, *, note_end: NoteEnd | None = None
    ) -> ToolResult: ...


async def run_trying(
    run: Run, call: BashInput, context: ToolContext, *, folder: str, go_back: Callable[[], None]
) -> ToolResult:
    """Held, it has changed nothing but perhaps the shell's folder: so it can run again as if for the first time.

    `folder`: where it runs, if that is not the working folder. `go_back` puts the shell there again.
    """
    wishes: list[str] = []
    result = await run(call, context, note_end=lambda code, refusals: wishes.append(tell_wish(code, refusals)))
    wish = next((each for each in wishes if each), "")
    if not wish or context.abort.raised:
        return add_note(result, HELD)
    go_back()
    where = f"; it would run in {folder!r}, not in the working folder" if folder else ""
    reason = f"it ran held, since no rule allows it, {wish}{where}"
    why_not = _NOBODY if context.inquire is None else await context.inquire(_put_question(call, reason))
    if why_not is None:
        return await run(call, replace(context, holding=None))
    told = (
        "The command ran held (nothing written, no network, no other programs than the system's), and may have wanted more. "
        f"It was not approved: {why_not}."
    )
    content = result.content if isinstance(result.content, str) else ""
    return replace(result, content=f"{told}\n{content}", is_error=True)


def tell_wish(code: int | None, refusals: tuple[str, ...]) -> str:
    """What a person is told of the trial; empty where nothing speaks against its result.

    What the command printed is quoted, and said to be its own words: a person must not take it for ours.
    """
    if code is None or code < 0:
        ending = "and was ended before it was done"
    elif code:
        ending = f"and ended with code {code}, which may be because of that"
    elif refusals:
        ending = "and was refused something"
    else:
        return ""
    last = [each if len(each) <= _MAX_SHOWN else f"{each[:_MAX_SHOWN]}…" for each in refusals[-_MAX_LINES:]]
    # As Python writes a text: what cannot be seen, or would end the quotation, is written out.
    return f"{ending}; the command itself printed: {', '.join(map(repr, last))}" if last else ending


def add_note(result: ToolResult, note: str) -> ToolResult:
    if isinstance(result.content, str):
        return replace(result, content=f"{result.content}\n{note}")
    return replace(result, content=[*result.content, {"type": "text", "text": note}])


def _put_question(call: BashInput, reason: str) -> Inquiry:
    given = {"command": call.command} | ({"description": call.description} if call.description else {})
    return Inquiry(name="Bash", input=given, line=f"Bash {call.command}", reason=reason, access=Access.EXECUTE)
