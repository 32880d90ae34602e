"""One connection from its opening to its end: link, exchange, the version that both speak, and answers to the server's questions."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from everturn.mcp.definitions import ServerFacts
from everturn.mcp.elicitation import Elicit, encode_answer, parse_elicitation
from everturn.mcp.exchange import Exchange, OnProgress, RefusedError
from everturn.mcp.faults import McpFault, ServerGone, ServerTimeout
from everturn.mcp.handshake import ClientFacts, Handshake
from everturn.mcp.host import Host
from everturn.mcp.link import Link
from everturn.mcp.protocol import METHOD_NOT_FOUND, NEWEST_SESSION, encode_capabilities, is_stateless
from everturn.mcp.servers import HttpServer, InProcessServer, Server, StdioServer


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner of a connection wants to be asked and told."""

    elicit: Elicit | None
    on_notification: Callable[[str, bytes], object]
    on_lost: Callable[[McpFault], object]


class ServerConnection:
    def __init__(self, server: Server, host: Host, wishes: Wishes, link: Link) -> None:
        self._server = server
        self._host = host
        self._wishes = wishes
        self._link = link
        self._ours = ClientFacts(
            client_version=host.client_version,
            capabilities=encode_capabilities(elicits=wishes.elicit is not None, has_roots=bool(host.roots())),
        )
        self._exchange = Exchange(
            server.name,
            link,
            on_request=self._answer,
            on_notification=wishes.on_notification,
            on_lost=wishes.on_lost,
        )
        self._meta: dict[str, Any] | None = None
        """Of each request in the stateless era."""
        self.facts: ServerFacts

    @property
    def lost(self) -> McpFault | None:
        return self._exchange.lost

    def describe(self) -> str:
        return self._link.describe()

    async def open(self, known: str) -> None:
        await self._link.open(self._exchange)
        handshake = Handshake(
            self._server.name, self._exchange, self._ours, self._link.settle, self._server.start_timeout_s
        )
        self.facts = await handshake.run(known)
        if is_stateless(self.facts.protocol_version):
            self._meta = self._ours.encode_meta(self.facts.protocol_version)

    async def request(
        self, method: str, params: dict[str, Any] | None, *, timeout_s: float, on_progress: OnProgress | None = None
    ) -> bytes:
        if self._meta is not None:
            params = {**(params or {}), "_meta": self._meta}
        return await self._exchange.request(method, params, timeout_s=timeout_s, on_progress=on_progress)

    async def aclose(self, fault: McpFault | None = None) -> None:
        """What is under way fails with this fault."""
        if fault is not None:
            self._exchange.fail(None, fault)
        await self._exchange.aclose()
        await self._link.aclose()

    async def _answer(self, method: str, params: bytes) -> dict[str, Any]:
        match method:
            case "ping":
                return {}
            case "roots/list" if folders := self._host.roots():
                return {"roots": [{"uri": Path(folder).as_uri(), "name": Path(folder).name} for folder in folders]}
            case "elicitation/create" if self._wishes.elicit is not None:
                asked = parse_elicitation(self._server.name, params)
                return encode_answer(await self._wishes.elicit(asked))
            case "sampling/createMessage":
                raise RefusedError(METHOD_NOT_FOUND, "Everturn lends servers no model: sampling is refused.")
            case _:
                raise RefusedError(METHOD_NOT_FOUND, f"Everturn does not answer {method}.")


async def open_connection(server: Server, host: Host, wishes: Wishes, known: str) -> ServerConnection:
    """`known`: see `Handshake.run`. Raises `McpFault`; then nothing is left running."""
    if isinstance(server, HttpServer) and server.kind == "sse":
        # What is older than the stateless era cannot speak it.
        known = known or NEWEST_SESSION
    try:
        return await _open(server, host, wishes, known)
    except ServerGone:
        if known or not isinstance(server, StdioServer):
            raise
    # Some programs end at the first request that they do not know: the second attempt asks what every server knows.
    return await _open(server, host, wishes, NEWEST_SESSION)


async def _open(server: Server, host: Host, wishes: Wishes, known: str) -> ServerConnection:
    connection = ServerConnection(server, host, wishes, choose_link(server, host))
    try:
        async with asyncio.timeout(server.start_timeout_s):
            await connection.open(known)
    except BaseException as error:
        await connection.aclose()
        if isinstance(error, TimeoutError):
            said = connection.describe()
            heard = f" It wrote: {said[-300:]}" if said else ""
            text = f'The MCP server "{server.name}" did not start within {server.start_timeout_s:g} s.{heard}'
            raise ServerTimeout(server.name, text) from None
        raise
    return connection


def choose_link(server: Server, host: Host) -> Link:
    match server:
        case StdioServer():
            from everturn.mcp.stdio_link import StdioLink

            return StdioLink(server, host)
        case HttpServer(kind="sse"):
            from everturn.mcp.sse_link import SseLink

            return SseLink(server, host)
        case HttpServer():
            from everturn.mcp.http_link import HttpLink

            return HttpLink(server, host)
        case InProcessServer():
            from everturn.mcp.inprocess_link import InProcessLink

            return InProcessLink(server)
        case _:
            raise ServerGone(server.name, f'The MCP server "{server.name}" is of a kind that is not known.')
