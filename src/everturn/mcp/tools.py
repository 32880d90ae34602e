"""A server's tool as the engine, the rules and the model know it. What the server claims of it is a hint and allows nothing."""

from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.errors import ToolFault
from everturn.core.inputs import settle_input
from everturn.core.marks import harmless
from everturn.mcp.attached_server import AttachedServer, Changed, describe_fault
from everturn.mcp.content import render_outcome
from everturn.mcp.definitions import ToolDefinition
from everturn.mcp.faults import McpFault
from everturn.mcp.schemas import offer_schema
from everturn.ports.abort import AbortedError
from everturn.ports.tool import Access, Inquiry, Tool, ToolContext, ToolResult, Traits

if TYPE_CHECKING:
    from everturn.mcp.exchange import Progress

MAX_DESCRIPTION = 2_048
"""Characters of a description that the model reads."""
RESULT_LIMIT = 100_000
"""Characters: 25,000 tokens."""
MAX_RESULT_LIMIT = 500_000
LIMIT_KEY = "anthropic/maxResultSizeChars"
PERSON_KEY = "anthropic/requiresUserInteraction"
ALWAYS_KEY = "anthropic/alwaysLoad"
_LINE = 120


class McpShown(msgspec.Struct, frozen=True, kw_only=True):
    """What a call of a server's tool brought, for people and hooks."""

    server: str
    tool: str
    structured: Any = None


class McpTool(Tool):
    """Offered as it was agreed to, whether its server is connected or not: the call waits for it."""

    def __init__(
        self, attached: AttachedServer, definition: ToolDefinition, name: str, *, deferred: bool = False
    ) -> None:
        self._attached = attached
        self.own_name = definition.name
        meta = definition.meta or {}
        self.name = name
        self.description = describe(definition, attached.name)
        self.schema = offer_schema(definition.input_schema)
        self.result_limit = find_limit(meta.get(LIMIT_KEY))
        self.deferred = deferred
        self._always_listed = attached.configured.always_load or meta.get(ALWAYS_KEY) is True
        hints = definition.annotations
        self._traits = Traits(
            access=Access.EXECUTE,
            # Order among calls only: whether a call needs a yes does not depend on it.
            concurrent=hints is not None and hints.read_only_hint is True,
            needs_person=meta.get(PERSON_KEY) is True,
        )

    @property
    def always_listed(self) -> bool:
        return self._always_listed

    @property
    def server(self) -> str:
        return self._attached.name

    def settle(self, input_: dict[str, Any], folder: str) -> dict[str, Any]:  # noqa: ARG002 - no path is known here
        """A schema that cannot be understood corrects nothing: the server judges."""
        try:
            return settle_input(self.schema, input_)
        except Exception:  # noqa: BLE001 (whatever a foreign schema brings about)
            return input_

    def parse(self, input_: dict[str, Any]) -> Any:
        return input_

    def traits(self, call: Any) -> Traits:  # noqa: ARG002 - the same for each
        return self._traits

    def line(self, call: Any) -> str:
        text = msgspec.json.encode(call).decode() if call else ""
        line = " ".join(f"{self.name} {text}".split())
        line = "".join(mark if mark.isprintable() else " " for mark in line[: 2 * _LINE])
        return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"

    async def run(self, call: Any, context: ToolContext) -> ToolResult:
        attached = self._attached
        try:
            client = await context.abort.guard(attached.ready())
            if (changed := attached.changed.get(self.own_name)) is not None:
                await self._ask_again(changed, context)
            with attached.asking(context.elicit):
                outcome = await context.abort.guard(
                    client.call_tool(self.own_name, call, progress=lambda each: context.progress(render_progress(each)))
                )
        except AbortedError:
            raise ToolFault(f"{self.name} was interrupted.") from None
        except McpFault as fault:
            raise ToolFault(describe_fault(attached.name, fault)) from None
        shown = McpShown(server=attached.name, tool=self.own_name, structured=outcome.structured)
        return ToolResult(content=render_outcome(outcome), is_error=outcome.is_error, shown=shown)

    async def _ask_again(self, changed: Changed, context: ToolContext) -> None:
        """Raises `ToolFault` where nobody agrees to the new definition."""
        told = f"The MCP server {self.server} has changed the definition of {self.name}"
        if context.inquire is None:
            raise ToolFault(f"{told}, and nobody is here to agree. It was not called.")
        difference = changed.difference
        refused = await context.inquire(
            Inquiry(
                name=self.name,
                input={"changed": difference},
                line=f"use {self.name} with its new definition",
                reason=f"{told} since it was agreed to:\n{difference}",
                access=Access.EXECUTE,
            )
        )
        if refused is not None:
            raise ToolFault(f"{told}, and it was not called: {refused}.")
        self._attached.agree(self.own_name)


def render_progress(progress: "Progress") -> str:
    """One line of a call that tells how far it is."""
    done = f"{progress.progress:g}" + (f" of {progress.total:g}" if progress.total else "")
    return f"{done} {progress.message}\n" if progress.message else f"{done}\n"


def describe(definition: ToolDefinition, server: str) -> str:
    """The server's words, in which nothing can pass for ours."""
    text = (definition.description or definition.title or "").strip()
    if len(text) > MAX_DESCRIPTION:
        text = f"{text[: MAX_DESCRIPTION - 1]}…"
    return harmless(text) or f"{definition.name}, a tool of the MCP server {server}, which does not describe it."


def find_limit(given: Any) -> int:
    """Characters of a result: what the server asks for, up to a limit."""
    if isinstance(given, bool) or not isinstance(given, int) or given <= 0:
        return RESULT_LIMIT
    return min(given, MAX_RESULT_LIMIT)
