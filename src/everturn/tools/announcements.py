"""Built-in tools before their code is needed: the model is told of them from `announcements.json`, which is made from the code.

Most prompts use a few of the tools, and none before the model has answered: what is not loaded does not delay the request.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from everturn.ports.tool import PatchHunk, Tool, ToolContext, ToolResult, Traits

FILE = Path(__file__).with_name("announcements.json")


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a tool without its code."""

    name: str
    description: str
    schema: dict[str, Any]
    result_limit: int


class AnnouncedTool:
    """`ports.tool.Tool` that is made by the first call of it."""

    deferred = False

    def __init__(self, announcement: Announcement, make: "Callable[[], Tool]") -> None:
        self.name = announcement.name
        self.description = announcement.description
        self.schema = announcement.schema
        self.result_limit = announcement.result_limit
        self._make = make
        self._made: Tool | None = None

    @property
    def made(self) -> "Tool":
        if self._made is None:
            self._made = self._make()
        return self._made

    def settle(self, input_: dict[str, Any], folder: str) -> dict[str, Any]:
        return self.made.settle(input_, folder)

    def parse(self, input_: dict[str, Any]) -> Any:
        return self.made.parse(input_)

    def parse_approved(self, input_: dict[str, Any]) -> Any:
        return self.made.parse_approved(input_)

    def traits(self, call: Any) -> "Traits":
        return self.made.traits(call)

    def derive(self, call: Any) -> dict[str, Any]:
        return self.made.derive(call)

    def line(self, call: Any) -> str:
        return self.made.line(call)

    def done(self, result: "ToolResult") -> str:
        return self.made.done(result)

    async def check(self, call: Any, context: "ToolContext") -> "Sequence[PatchHunk]":
        return await self.made.check(call, context)

    async def run(self, call: Any, context: "ToolContext") -> "ToolResult":
        return await self.made.run(call, context)


@cache
def load_announcements() -> dict[str, Announcement]:
    told = msgspec.json.decode(FILE.read_bytes(), type=list[Announcement])
    return {each.name: each for each in told}


def encode_announcements(tools: "Iterable[Tool]") -> bytes:
    told = [
        Announcement(name=tool.name, description=tool.description, schema=tool.schema, result_limit=tool.result_limit)
        for tool in tools
    ]
    return msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n"
