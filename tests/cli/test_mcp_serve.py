"""`everturn mcp serve`: another program lists and calls our tools; what no rule allows does not run."""

import os
import sys

from everturn.compose.mcp import build_host
from everturn.compose.system import SystemClock
from everturn.mcp.client import McpClient
from everturn.mcp.servers import StdioServer


async def test_another_program_calls_our_tools_behind_the_same_rules(program):
    (program.folder / "notes.txt").write_text("Buy milk.\n", "utf-8")
    server = StdioServer(
        name="everturn",
        command=sys.executable,
        args=("-m", "everturn", "mcp", "serve", "--allowedTools", "Bash(touch made)"),
        env=program.env,
        folder=str(program.folder),
        start_timeout_s=120.0,
    )
    host = build_host(os.environ, SystemClock(), str(program.folder), str(program.home))
    client = McpClient(server, host)
    try:
        await client.connect()
        names = [tool.name for tool in (await client.list_tools()).items]
        read = await client.call_tool("Read", {"file_path": str(program.folder / "notes.txt")})
        made = await client.call_tool("Bash", {"command": "touch made"})
        refused = await client.call_tool("Bash", {"command": "rm notes.txt"})
        written = await client.call_tool("Write", {"file_path": str(program.folder / "a"), "content": "x"})
    finally:
        await client.aclose()
        await host.aclose()

    assert {"Bash", "Edit", "Read", "Write"} <= set(names)
    assert not {"ToolSearch", "AskUserQuestion"} & set(names)
    assert "Buy milk." in read.content[0].text
    assert (made.is_error, (program.folder / "made").exists()) == (False, True)
    assert (refused.is_error, written.is_error) == (True, True)
    assert (program.folder / "notes.txt").exists()
    assert not (program.folder / "a").exists()
