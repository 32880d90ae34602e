"""A program that starts a deaf server, tells its process id, and is killed before it can end anything."""

import asyncio
import os
import signal
import sys

from everturn.compose.system import SystemClock
from everturn.mcp.client import McpClient
from everturn.mcp.host import Host
from everturn.mcp.servers import StdioServer


async def main():
    host = Host(clock=SystemClock(), environment=os.environ, client_version="1", open_transport=None)
    server = StdioServer(name="deaf", command=sys.executable, args=(sys.argv[1], "deaf"))
    outcome = await McpClient(server, host).call_tool("process")
    sys.stdout.write(outcome.content[0].text)
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


asyncio.run(main())
