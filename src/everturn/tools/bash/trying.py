"""A command that nobody approved is tried held: what it can do so is done, and only where it meets the wall a person is asked."""

from typing import Protocol

from msgspec.structs import replace

from everturn.ports.tool import Access, Inquiry, ToolContext, ToolResult
from everturn.tools.bash.tool import BashInput

_NOBODY = "nobody is here to approve it"
_MOST_SHOWN = 200
HELD = (
    "(It ran held, since no rule allows it: it could read the working folders and the system's programs, and write, reach or see "
    "nothing else. A program may keep silent about what it was refused.)"
)


class Run(Protocol):
    async def __call__(
        self, call: BashInput, context: ToolContext, *, note_refusal: "Note | None" = None
    ) -> ToolResult: ...


class Note(Protocol):
    def __call__(self, refusal: str, /) -> None: ...


async def run_trying(run: Run, call: BashInput, context: ToolContext) -> ToolResult:
    """Held, it has changed nothing: so it can run again as if for the first time."""
    refusals: list[str] = []
    result = await run(call, context, note_refusal=refusals.append)
    refusal = next((each for each in refusals if each), "")
    if not refusal or context.abort.raised:
        return add_note(result, HELD)
    wanted = f"it ran held, since no rule allows it, and was refused something: {refusal[:_MOST_SHOWN]}"
    why_not = _NOBODY if context.inquire is None else await context.inquire(_put_question(call, wanted))
    if why_not is None:
        return await run(call, replace(context, holding=None))
    told = f"The command ran held (nothing written, no network, no other programs than the system's), and wants more. It was not approved: {why_not}."
    content = result.content if isinstance(result.content, str) else ""
    return replace(result, content=f"{told}\n{content}", is_error=True)


def add_note(result: ToolResult, note: str) -> ToolResult:
    if isinstance(result.content, str):
        return replace(result, content=f"{result.content}\n{note}")
    return replace(result, content=[*result.content, {"type": "text", "text": note}])


def _put_question(call: BashInput, reason: str) -> Inquiry:
    given = {"command": call.command} | ({"description": call.description} if call.description else {})
    return Inquiry(name="Bash", input=given, line=f"Bash {call.command}", reason=reason, access=Access.EXECUTE)
