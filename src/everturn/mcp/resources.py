"""The tools ListMcpResources and ReadMcpResource: what servers offer to be read, offered where a server has any."""

from collections.abc import Callable
from typing import Any

import msgspec

from everturn.core.errors import InputFault, ToolFault
from everturn.mcp.attached_server import AttachedServer
from everturn.mcp.content import join_texts, render_resource
from everturn.mcp.faults import McpFault
from everturn.mcp.tools import RESULT_LIMIT, McpShown
from everturn.ports.tool import Access, Tool, ToolContext, ToolResult, Traits

Find = Callable[[str], tuple[AttachedServer, ...]]
"""The servers that have resources; with a name, this one. Raises `OptionError`."""


class _ResourceTool(Tool):
    result_limit = RESULT_LIMIT

    def __init__(self, find: Find) -> None:
        self._find = find

    def parse(self, input_: dict[str, Any]) -> dict[str, str]:
        needed = self.schema.get("required", ())
        for name in needed:
            if not isinstance(input_.get(name), str):
                raise InputFault(f"{self.name} needs `{name}`, a text.")
        known = self.schema["properties"]
        for name, value in input_.items():
            if name not in known or not isinstance(value, str):
                raise InputFault(f"{self.name} takes {', '.join(known)}, each a text; not `{name}`.")
        return dict(input_)

    def traits(self, call: Any) -> Traits:  # noqa: ARG002 - the same for each
        return Traits(access=Access.NETWORK, read_only=True, concurrent=True)


class ListResources(_ResourceTool):
    name = "ListMcpResources"
    description = "Lists what MCP servers offer to be read, each with its server and URI. ReadMcpResource reads one."
    schema = {  # noqa: RUF012 - never changed
        "type": "object",
        "properties": {"server": {"type": "string", "description": "Only of this server"}},
        "additionalProperties": False,
    }

    def line(self, call: dict[str, str]) -> str:
        return f"{self.name} {call.get('server', '')}".strip()

    async def run(self, call: dict[str, str], context: ToolContext) -> ToolResult:
        lines: list[str] = []
        for attached in self._find(call.get("server", "")):
            try:
                for each in await context.abort.guard(attached.list_resources()):
                    about = {"server": attached.name, "uri": each.uri, "name": each.name}
                    more = {"description": each.description, "mimeType": each.mime_type}
                    told = about | {name: value for name, value in more.items() if value}
                    lines.append(msgspec.json.encode(told).decode())
            except McpFault as fault:
                lines.append(f"{attached.name}: {fault}")
        return ToolResult(content="\n".join(lines) or "No server offers a resource now.")


class ReadResource(_ResourceTool):
    name = "ReadMcpResource"
    description = "Reads a resource of an MCP server, by the server and the URI that ListMcpResources gives."
    schema = {  # noqa: RUF012 - never changed
        "type": "object",
        "properties": {"server": {"type": "string"}, "uri": {"type": "string"}},
        "required": ["server", "uri"],
        "additionalProperties": False,
    }

    def line(self, call: dict[str, str]) -> str:
        return f"{self.name} {call['server']} {call['uri']}"

    async def run(self, call: dict[str, str], context: ToolContext) -> ToolResult:
        [attached] = self._find(call["server"])
        try:
            client = await context.abort.guard(attached.ready())
            contents = await context.abort.guard(client.read_resource(call["uri"]))
        except McpFault as fault:
            raise ToolFault(str(fault)) from None
        shown = McpShown(server=attached.name, tool=self.name)
        return ToolResult(content=join_texts([render_resource(each) for each in contents]), shown=shown)


def list_resources_tool(find: Find) -> Tool:
    return ListResources(find)


def read_resource_tool(find: Find) -> Tool:
    return ReadResource(find)
