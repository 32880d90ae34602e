"""Servers and judges that others have written, installed once from their registries."""

import asyncio
import contextlib
import platform
import re
import shutil
import socket
import subprocess
import sys

from tests.shelf import clean_environment, find_node_modules, find_python

from everturn.mcp.servers import StdioServer

EVERYTHING = "@modelcontextprotocol/server-everything@2026.8.31"
FILESYSTEM = "@modelcontextprotocol/server-filesystem@2026.8.31"
MEMORY = "@modelcontextprotocol/server-memory@2026.8.31"
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
NEXT_CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
"""The first that knows the stateless era."""
OLDEST_NODE = 22
"""What the conformance suite needs."""
NODE = "22.23.3"


def find_script(package):
    folder = find_node_modules("mcp-node-servers", EVERYTHING, FILESYSTEM, MEMORY)
    return folder / "node_modules" / package.rpartition("@")[0] / "dist" / "index.js"


def node_server(package, *arguments, name="real"):
    return StdioServer(name=name, command="node", args=(str(find_script(package)), *arguments))


def python_server(program, *arguments, name="real"):
    python = find_python("mcp-python-servers", "mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19")
    return StdioServer(name=name, command=str(python.with_name(program)), args=arguments)


def find_new_node():
    """The machine's, or one from the registry."""
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.match(r"v(\d+)", said)[1]) >= OLDEST_NODE:
        return shutil.which("node")
    arch = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine()]
    package = f"node-{sys.platform}-{arch}"
    return str(find_node_modules("node-22", f"{package}@{NODE}") / "node_modules" / package / "bin" / "node")


def find_free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@contextlib.asynccontextmanager
async def serving(*command, **variables):
    """The program, once it has said that it listens."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env=clean_environment() | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        while (line := await process.stdout.readline()) and not re.search(rb"(?i)listening|running on", line):
            pass
        reading = asyncio.create_task(process.stdout.read())
        yield
    finally:
        process.kill()
        await process.wait()
        await reading
