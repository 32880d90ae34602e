"""The client as the official conformance suite drives it: the scenario is in a variable, the server's address is the last argument."""

import asyncio
import json
import os
import sys
import tempfile
from threading import Thread

import httpx2

from everturn.compose.system import SystemClock
from everturn.mcp.client import McpClient
from everturn.mcp.elicitation import ElicitationAnswer
from everturn.mcp.faults import NeedsAuthorisation
from everturn.mcp.host import Host
from everturn.mcp.servers import HttpServer
from everturn.models.transport.choose import choose_transport

CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
"""What some scenarios want to be done."""
ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}


async def accept(question):
    return ElicitationAnswer(action="accept", content={})


def browse(url):
    """As a browser would, with a person who says yes."""
    Thread(target=lambda: httpx2.get(url, follow_redirects=True)).start()


async def use(server, host):
    client = McpClient(server, host, elicit=accept)
    try:
        await client.connect()
        listing = await client.list_tools()
        wanted = [(call["name"], call["arguments"]) for call in CONTEXT.get("toolCalls", ())]
        for name, arguments in wanted or [(tool.name, ARGUMENTS.get(tool.name, {})) for tool in listing.items]:
            await client.call_tool(name, arguments)
    finally:
        await client.aclose()


async def main(url, logins):
    host = Host(
        clock=SystemClock(),
        environment=os.environ,
        client_version="1.0.0",
        open_transport=lambda url: choose_transport({}, url, stall_s=60.0, body_cap=1 << 60),
        login_folder=logins,
    )
    server = HttpServer(name="conformance", url=url, start_timeout_s=30.0, call_timeout_s=30.0)
    for _ in range(3):
        try:
            await use(server, host)
        except NeedsAuthorisation as refused:
            from everturn.mcp.oauth import log_in

            await log_in(server, host, browse, refused=refused, patience_s=30.0)
        else:
            break
    await host.aclose()


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(sys.argv[-1], folder))
