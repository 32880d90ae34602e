"""One connection from its opening to its end: link, exchange, the version that both speak, and answers to the server's questions."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from everturn.mcp.definitions import ServerFacts
from everturn.mcp.elicitation import Elicit
from everturn.mcp.exchange import Exchange, OnProgress
from everturn.mcp.faults import McpFault, RequestRefused, ServerGone, ServerTimeout
from everturn.mcp.handshake import ClientFacts, Handshake
from everturn.mcp.host import Host
from everturn.mcp.link import Link
from everturn.mcp.protocol import ADDRESS_REQUIRED, NEWEST_SESSION, is_stateless
from everturn.mcp.questions import Questions
from everturn.mcp.rounds import Rounds
from everturn.mcp.servers import HttpServer, InProcessServer, Server, StdioServer

LISTEN_AGAIN_S = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0)
"""Pauses before the server is asked again to tell what changes."""


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
        self._questions = Questions(server.name, host, wishes.elicit)
        self._ours = ClientFacts(client_version=host.client_version, capabilities=self._questions.encode_capabilities())
        self._exchange = Exchange(
            server.name,
            link,
            on_request=self._questions.answer,
            on_notification=wishes.on_notification,
            on_lost=wishes.on_lost,
        )
        self._meta: dict[str, Any] | None = None
        """Of each request in the stateless era."""
        self._listening: asyncio.Task[None] | None = None
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
            if wanted := _plan_subscription(self.facts):
                self._listening = asyncio.get_running_loop().create_task(self._listen(wanted, self._meta))

    async def _listen(self, wanted: dict[str, bool], meta: dict[str, Any]) -> None:
        """Asks to be told of changed lists, and again when the server has ended that."""
        params = {"_meta": meta, "notifications": wanted}
        for pause_s in LISTEN_AGAIN_S:
            with suppress(McpFault):
                await self._exchange.request("subscriptions/listen", params, timeout_s=None)
            if self.lost is not None:
                return
            await self._host.clock.sleep(pause_s * (0.5 + self._host.clock.jitter()))

    @property
    def is_stateless(self) -> bool:
        return self._meta is not None

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None,
        *,
        timeout_s: float,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """The time does not run while the person answers a question of the server. Raises `McpFault`."""

        async def send(asked: dict[str, Any] | None) -> bytes:
            return await self._exchange.request(
                method, asked, timeout_s=timeout_s, on_progress=on_progress, headers=headers
            )

        if self._meta is None:
            try:
                return await send(params)
            except RequestRefused as refused:
                if refused.code != ADDRESS_REQUIRED or not await self._questions.open_addresses(refused.data):
                    raise
            return await send(params)
        rounds = Rounds(self._server.name, self._questions, self._host.clock)
        return await rounds.run(method, {**(params or {}), "_meta": self._meta}, send)

    async def aclose(self, fault: McpFault | None = None) -> None:
        """What is under way fails with this fault."""
        if fault is not None:
            self._exchange.fail(None, fault)
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait({self._listening})
        await self._exchange.aclose()
        await self._link.aclose()


def _plan_subscription(facts: ServerFacts) -> dict[str, bool]:
    """The changes that the server says it tells."""
    kinds = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
    return {
        field: True
        for kind, field in kinds.items()
        if isinstance(offered := facts.capabilities.get(kind), dict) and offered.get("listChanged") is True
    }


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
