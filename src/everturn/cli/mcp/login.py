"""`everturn mcp login`: a login by OAuth in the person's browser; what it brings is kept in our home, for its owner alone."""

import asyncio

from everturn.cli.console import complain, flush, write
from everturn.cli.errors import UsageError
from everturn.cli.mcp.definitions import find_defined, find_readable, open_host
from everturn.cli.syntax import Arguments
from everturn.core.state import Exit
from everturn.frontends.harmless import make_line
from everturn.mcp.client import McpClient
from everturn.mcp.faults import McpFault, NeedsAuthorisation
from everturn.mcp.host import Host
from everturn.mcp.servers import HttpServer

MISSING = "a login needs the package mcp: pip install 'everturn[mcp]'"


def run_login(asked: Arguments) -> int:
    """Raises `UsageError`."""
    [name] = asked.words
    found = find_defined(name)
    if found.why_not:
        raise UsageError(f"{name} does not start here: {found.why_not}", see="everturn trust")
    server = find_readable(found).server
    if not isinstance(server, HttpServer):
        raise UsageError(f"{name} is a command: only servers with an address have a login", see="everturn mcp --help")
    try:
        return asyncio.run(log_in_and_try(server))
    except McpFault as fault:
        complain(make_line(str(fault)))
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        complain(MISSING)
    return Exit.ERROR


async def log_in_and_try(server: HttpServer) -> int:
    host = open_host()
    try:
        refused = await find_refusal(server, host)
        from everturn.mcp.oauth import log_in

        await log_in(server, host, show_address, refused=refused)
        await connect(server, host)
    finally:
        await host.aclose()
    write(f"You are logged in to {make_line(server.name)}.\n")
    return Exit.OK


def show_address(url: str) -> None:
    write(f"Open this address in your browser:\n{make_line(url)}\n")
    flush()


async def find_refusal(server: HttpServer, host: Host) -> NeedsAuthorisation | None:
    """With what the server asks for a login; None where it does not."""
    try:
        await connect(server, host)
    except NeedsAuthorisation as refused:
        return refused
    return None


async def connect(server: HttpServer, host: Host) -> None:
    client = McpClient(server, host)
    try:
        await client.connect()
    finally:
        await client.aclose()
