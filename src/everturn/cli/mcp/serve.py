"""`everturn mcp serve`: our tools for another program, over standard input and output, behind the same rules as for a model."""

import asyncio
import os
from typing import Any

import msgspec

from everturn import __version__
from everturn.cli.console import complain
from everturn.cli.flags import resolve_mode
from everturn.cli.syntax import Arguments
from everturn.compose.cli import Launch, build_model, build_program_parts, plan_launch
from everturn.core.messages import ToolResult
from everturn.core.state import Exit
from everturn.engine.engine import Engine
from everturn.frontends.harmless import make_line

MISSING = "to be a server takes the package mcp: pip install 'everturn[mcp]'"
FLAGS = {"--allowed-tools": "allowed_tools", "--disallowed-tools": "disallowed_tools"}
NOT_SERVED = frozenset({"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ToolSearch"})
"""They are about a conversation."""


def run_serve(asked: Arguments) -> int:
    """Until standard input ends. Raises `OptionError`."""
    fields: dict[str, Any] = {field: asked.get(flag) for flag, field in FLAGS.items() if flag in asked}
    if "--permission-mode" in asked:
        fields["permission_mode"] = resolve_mode(asked.text("--permission-mode"))
    launch = plan_launch({**fields, "persist": False}, os.environ)
    for warning in launch.warnings:
        complain(make_line(warning))
    try:
        return asyncio.run(serve(launch))
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        complain(MISSING)
        return Exit.ERROR


async def serve(launch: Launch) -> int:
    from mcp.server import NotificationOptions, Server
    from mcp.server.stdio import stdio_server
    from mcp.types import CallToolResult, ListToolsResult, Tool

    # Its own servers would only pass on what the other program can have by itself.
    setup = msgspec.structs.replace(launch.setup, written=msgspec.structs.replace(launch.setup.written, servers=()))
    launch = msgspec.structs.replace(launch, setup=setup)
    parts = build_program_parts(launch, build_model(launch), person=None, is_watched=False, name_option=str)
    turn = asyncio.Lock()
    async with Engine(parts=parts) as engine:
        served = {tool.name: tool for tool in engine.tools if tool.name not in NOT_SERVED}

        async def list_tools(_context: Any, _params: Any) -> Any:
            return ListToolsResult(
                tools=[
                    Tool(name=tool.name, description=tool.description, input_schema=tool.schema)
                    for tool in served.values()
                ]
            )

        async def call_tool(_context: Any, params: Any) -> Any:
            if params.name not in served:
                text = {"type": "text", "text": f"There is no tool named {params.name}."}
                return CallToolResult.model_validate({"content": [text], "isError": True})
            async with turn:
                result = await engine.call_tool(params.name, dict(params.arguments or {}))
            return CallToolResult.model_validate({"content": render_content(result), "isError": result.is_error})

        server = Server("everturn", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options(NotificationOptions()))
    return Exit.OK


def render_content(result: ToolResult) -> list[dict[str, Any]]:
    """Content of the Messages API as content of the protocol."""
    content = msgspec.json.decode(result.content)
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [render_block(block) for block in blocks]


def render_block(block: dict[str, Any]) -> dict[str, Any]:
    source = block.get("source", {})
    if block.get("type") == "image" and source.get("type") == "base64":
        return {"type": "image", "data": source["data"], "mimeType": source["media_type"]}
    if block.get("type") == "text":
        return {"type": "text", "text": block["text"]}
    return {"type": "text", "text": f"[{block.get('type')}: it cannot be passed on]"}
