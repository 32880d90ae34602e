"""The MCP servers of an engine, where the settings or the options name any; everything behind them is loaded only then."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from everturn.compose.toolbox import offered_names
from everturn.engine.notices import Notices
from everturn.ports.clock import Clock
from everturn.ports.tool import Tool
from everturn.ports.transport import HttpTransport
from everturn.settings.options import Options
from everturn.settings.setup import Setup
from everturn.tools.builtin import make_tool

if TYPE_CHECKING:
    from everturn.mcp.attached_server import AttachedServer
    from everturn.mcp.configuration import ConfiguredServer
    from everturn.mcp.host import Host
    from everturn.mcp.session_servers import SessionServers

SEARCH = "ToolSearch"
NEVER_S = 100_000.0
NO_CAP = 1 << 60
"""The client of a server has limits of its own, for silences and for sizes."""


def has_servers(setup: Setup) -> bool:
    return bool(setup.written.servers or setup.options.mcp_servers)


def build_servers(setup: Setup, env: Mapping[str, str], clock: Clock, notices: Notices) -> "SessionServers":
    """Raises `OptionError` for a wrong definition of the options or the command line."""
    from everturn.mcp.attached_server import AttachedServer
    from everturn.mcp.configuration import read_servers
    from everturn.mcp.pinned import PinBook
    from everturn.mcp.session_servers import SessionServers

    folder = str(setup.folder)
    read = read_servers(setup.written.servers, setup.options.mcp_servers, env, folder)
    for remark in read.remarks:
        notices.add(remark)
    book, hosts = PinBook(setup.home), list["Host"]()

    def find_host() -> "Host":
        """One for all: it is made when the first server starts."""
        if not hosts:
            hosts.append(build_host(env, clock, folder, str(setup.home)))
        return hosts[0]

    async def end_host() -> None:
        for host in hosts:
            await host.aclose()

    def attach(server: "ConfiguredServer", tell: Callable[[str], None]) -> "AttachedServer":
        return AttachedServer(server, book=book, find_host=find_host, tell=tell)

    return SessionServers(read.servers, attach, end_host)


def build_host(env: Mapping[str, str], clock: Clock, folder: str, home: str) -> "Host":
    """What all servers share."""
    from everturn import __version__
    from everturn.mcp.host import Host

    def open_transport(url: str) -> HttpTransport:
        from everturn.models.transport.choose import choose_transport

        return choose_transport(env, url, stall_s=NEVER_S, body_cap=NO_CAP)

    return Host(
        clock=clock,
        environment=env,
        client_version=__version__,
        open_transport=open_transport,
        roots=lambda: (folder,),
        login_folder=f"{home}/mcp/logins",
    )


def add_instructions(options: Options, servers: "SessionServers") -> Options:
    """The options with what the servers say of their tools in the user's context."""
    given = options.user_context

    def find() -> dict[str, str]:
        told = dict(given() if callable(given) else given)
        text = servers.render_instructions()
        return {**told, "MCP servers": text} if text else told

    return msgspec.structs.replace(options, user_context=find)


def begin_servers(
    servers: "SessionServers", setup: Setup, notices: Notices, removes: Callable[[str], bool], window: int
) -> tuple[Tool, ...]:
    """The tools with which a conversation begins."""
    from everturn.mcp.session_servers import Offering

    options, limits = setup.options, setup.limits
    may_search = SEARCH in offered_names(options) and not removes(SEARCH)
    offering = Offering(
        removes=removes,
        most_tokens=int(window * limits.deferred_share),
        wait_s=limits.server_wait_s,
        make_search=(lambda deferred: make_tool(SEARCH, deferred, servers.list_late_deferred)) if may_search else None,
    )
    return servers.begin(offering, notices.tell)
