"""Small tools in the same process, with every trait that matters to the loop, and the policy in front of them."""

import asyncio
from collections.abc import Callable
from typing import Any

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.policy import Call, Ruling, Verdict
from everturn.ports.tool import Tool, ToolContext, ToolResult, Traits

TRAITS = {
    "Read": Traits(read_only=True, concurrent=True),
    "Stare": Traits(read_only=True, concurrent=False),
    "Write": Traits(read_only=False, concurrent=False),
    "Post": Traits(read_only=False, concurrent=True),
    "Forbidden": Traits(read_only=False, concurrent=False),
}
WITH_EFFECTS = frozenset({"Write", "Post", "Forbidden"})
PIXEL = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"},
}


class StageTool(Tool):
    """Runs for so many passes of the event loop, deaf to the abort signal, and then does what its input says."""

    description = "For tests."
    schema: dict[str, Any] = {"type": "object", "properties": {}}  # noqa: RUF012 (nobody changes it)
    result_limit = 1_000

    def __init__(self, name: str, note_run: Callable[[str, str], None]) -> None:
        self.name = name
        self._note_run = note_run

    def parse(self, input_: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(input_.get("ticks", 0), int):
            raise InputFault("ticks: must be a number")
        return input_

    def traits(self, call: dict[str, Any]) -> Traits:
        return TRAITS[self.name]

    def line(self, call: dict[str, Any]) -> str:
        return self.name

    async def run(self, call: dict[str, Any], context: ToolContext) -> ToolResult:
        self._note_run(context.tool_use_id, self.name)
        for _ in range(call.get("ticks", 0)):
            await asyncio.sleep(0)
        context.progress("nearly done")
        match call.get("outcome"):
            case "raise":
                raise RuntimeError("It broke.")
            case "fault":
                raise ToolFault("It cannot be done.")
            case "picture":
                return ToolResult(content=[{"type": "text", "text": "See:"}, PIXEL])
            case "nothing":
                return ToolResult(content="")
        # What was read is verbose enough to go stale.
        return ToolResult(content=f"{self.name} is done." * (60 if self.name == "Read" else 1))


class GatePolicy:
    def prepare(self, call: Call) -> None:
        return None

    def advise(self, call: Call) -> str:
        return ""

    def judge_allowed(self, call: Call) -> Verdict:
        return self.judge(call)

    def judge_apart(self, call: Call) -> Verdict:
        return self.judge(call)

    def judge(self, call: Call) -> Verdict:
        if call.name == "Forbidden":
            return Verdict(ruling=Ruling.DENY, reason="it is forbidden")
        return Verdict(ruling=Ruling.ALLOW, reason="it is fine")
