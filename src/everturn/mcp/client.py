"""The client of one server: connects, asks, and connects again when the server has gone; the first thing that others import of this package."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, TypeVar

import msgspec

from everturn.mcp.connection import ServerConnection, Wishes, open_connection
from everturn.mcp.definitions import (
    Listing,
    PromptDefinition,
    ResourceDefinition,
    ResourceTemplate,
    ServerFacts,
    ToolDefinition,
)
from everturn.mcp.elicitation import Elicit
from everturn.mcp.exchange import OnProgress
from everturn.mcp.faults import McpFault, ProtocolFault, RequestRefused, ServerGone, SessionEnded
from everturn.mcp.host import Host
from everturn.mcp.listings import load_listing
from everturn.mcp.mirrored import Mirrored, MisplacedHeaderError, encode_mirrored, find_mirrored
from everturn.mcp.protocol import HEADER_MISMATCH
from everturn.mcp.results import (
    CallOutcome,
    FilledPrompt,
    ResourceContents,
    decode_call,
    decode_prompt,
    decode_resource,
)
from everturn.mcp.servers import HttpServer, Server

T = TypeVar("T")
Change = Literal["tools", "resources", "prompts"]
OnChange = Callable[[Change], object]
OnState = Callable[["McpFault | None"], object]
RECONNECT_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Pauses before each attempt; afterwards the next call makes one more."""
STEADY_S = 60.0
"""A connection that lasted so long was a good one: the pauses begin anew."""
KINDS: tuple[Change, ...] = ("tools", "resources", "prompts")
_CHANGES: dict[str, Change] = {
    "notifications/tools/list_changed": "tools",
    "notifications/resources/list_changed": "resources",
    "notifications/prompts/list_changed": "prompts",
}


class McpClient:
    """One for each server. Every method raises `McpFault` and nothing else, and may be cancelled at any time.

    A server that goes is connected again in the background, with growing pauses. A call that was under way then has failed: nobody
    knows whether it was done. A call that comes meanwhile connects at once.
    """

    def __init__(
        self,
        server: Server,
        host: Host,
        *,
        elicit: Elicit | None = None,
        on_change: OnChange | None = None,
        on_state: OnState | None = None,
    ) -> None:
        """`on_change` is told which list should be read again. `on_state` is told a fault when the connection is lost, None when it is back.

        Without `elicit`, the server is told that nobody can be asked.
        """
        self.server = server
        self.facts: ServerFacts | None = None
        """Known after the first `connect`; those of the last connection where it is lost."""
        self._host = host
        self._on_change = on_change
        self._on_state = on_state
        self._wishes = Wishes(elicit=elicit, on_notification=self._note_notification, on_lost=self._note_lost)
        self._connection: ServerConnection | None = None
        self._connecting = asyncio.Lock()
        self._reconnecting: asyncio.Task[None] | None = None
        self._mirrored: dict[str, Mirrored] = {}
        """Of the tools that want arguments in headers."""
        self._diagnosis = ""
        self._opening: asyncio.Task[ServerConnection] | None = None
        self._was_lost = False
        """Somebody was told that the connection is lost."""
        self._attempts = 0
        """To connect again, since a connection was steady."""
        self._connected_at = 0.0
        self._is_closed = False

    @property
    def diagnosis(self) -> str:
        """What the server wrote beside the protocol: the end of its standard error, foreign text on standard output."""
        return self._connection.describe() if self._connection is not None else self._diagnosis

    async def connect(self) -> ServerFacts:
        """Starts the server where that is needed, and agrees on a version. Connected already, it says only what it knows."""
        return (await self._ready()).facts

    async def list_tools(self) -> Listing[ToolDefinition]:
        listing = await self._load("tools", "tools/list", "tools", ToolDefinition)
        if self._connection is None or not (self._connection.is_stateless and isinstance(self.server, HttpServer)):
            return listing
        self._mirrored, items, problems = {}, [], list(listing.problems)
        for tool in listing.items:
            try:
                self._mirrored[tool.name] = find_mirrored(tool.input_schema)
            except MisplacedHeaderError as error:
                problems.append(f"The tool {tool.name} was left out: {error}.")
            else:
                items.append(tool)
        return Listing(items=tuple(items), fresh_s=listing.fresh_s, problems=tuple(problems))

    async def list_resources(self) -> Listing[ResourceDefinition]:
        return await self._load("resources", "resources/list", "resources", ResourceDefinition)

    async def list_resource_templates(self) -> Listing[ResourceTemplate]:
        return await self._load("resources", "resources/templates/list", "resourceTemplates", ResourceTemplate)

    async def list_prompts(self) -> Listing[PromptDefinition]:
        return await self._load("prompts", "prompts/list", "prompts", PromptDefinition)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: OnProgress | None = None,
        timeout_s: float | None = None,
    ) -> CallOutcome:
        """Cancelled, it tells the server so. A tool that says that it failed gives an outcome with `is_error`, no fault."""
        params: dict[str, Any] = {"name": name, "arguments": dict(arguments or {})}
        headers = encode_mirrored(self._mirrored.get(name, ()), params["arguments"])
        try:
            return await self._ask(
                "tools/call", params, decode_call, timeout_s=timeout_s, progress=progress, headers=headers
            )
        except RequestRefused as refused:
            if refused.code != HEADER_MISMATCH:
                raise
        # It wants arguments in headers that were not known yet, or that have changed.
        await self.list_tools()
        headers = encode_mirrored(self._mirrored.get(name, ()), params["arguments"])
        return await self._ask(
            "tools/call", params, decode_call, timeout_s=timeout_s, progress=progress, headers=headers
        )

    async def read_resource(self, uri: str, *, timeout_s: float | None = None) -> tuple[ResourceContents, ...]:
        return await self._ask("resources/read", {"uri": uri}, decode_resource, timeout_s=timeout_s)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout_s: float | None = None
    ) -> FilledPrompt:
        params = {"name": name, "arguments": dict(arguments or {})}
        return await self._ask("prompts/get", params, decode_prompt, timeout_s=timeout_s)

    async def aclose(self) -> None:
        """Ends the server where it is ours. Calls that are under way fail."""
        self._is_closed = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
            await asyncio.wait({self._reconnecting})
        if self._opening is not None:
            self._opening.cancel()
        async with self._connecting:
            await self._drop(self._explain_closed())

    async def _ready(self) -> ServerConnection:
        """A call does not wait for the pauses between the attempts in the background: it makes one at once."""
        if self._connection is not None and self._connection.lost is None:
            return self._connection
        async with self._connecting:
            if self._is_closed:
                raise self._explain_closed()
            if self._connection is not None and self._connection.lost is None:
                return self._connection
            return await self._connect()

    async def _ask(
        self,
        method: str,
        params: dict[str, Any],
        decode: Callable[[bytes], T],
        *,
        timeout_s: float | None,
        progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        patience_s = self.server.call_timeout_s if timeout_s is None else timeout_s

        async def send() -> bytes:
            connection = await self._ready()
            more = headers if connection.is_stateless else None
            return await connection.request(method, params, timeout_s=patience_s, on_progress=progress, headers=more)

        try:
            raw = await send()
        except SessionEnded:
            # The server did not look at it.
            raw = await send()
        try:
            return decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            text = f'The MCP server "{self.server.name}" answered {method} with something that cannot be read: {error}.'
            raise ProtocolFault(self.server.name, text) from None

    async def _load(self, kind: str, method: str, key: str, item: type[T]) -> Listing[T]:
        connection = await self._ready()
        if not connection.facts.offers(kind):
            return Listing()
        return await load_listing(connection, self.server, method, key, item)

    async def _drop(self, fault: McpFault | None) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._diagnosis = connection.describe()
            await connection.aclose(fault)

    def _note_notification(self, method: str, params: bytes) -> None:
        del params
        if self._on_change is not None and (change := _CHANGES.get(method)) is not None:
            self._on_change(change)

    def _note_lost(self, fault: McpFault) -> None:
        if self._is_closed or self._connection is None:
            return
        self._was_lost = True
        if self._on_state is not None:
            self._on_state(fault)
        if self._host.clock.elapsed() - self._connected_at > STEADY_S:
            self._attempts = 0
        if self._reconnecting is None or self._reconnecting.done():
            self._reconnecting = asyncio.get_running_loop().create_task(self._reconnect())

    async def _reconnect(self) -> None:
        while self._attempts < len(RECONNECT_S):
            pause_s = RECONNECT_S[self._attempts]
            self._attempts += 1
            await self._host.clock.sleep(pause_s * (0.5 + self._host.clock.jitter()))
            with suppress(McpFault):
                await self._ready()
                return

    async def _connect(self) -> ServerConnection:
        """While `_connecting` is held."""
        await self._drop(None)
        known = self.facts.protocol_version if self.facts is not None else self.server.protocol_version
        opening = open_connection(self.server, self._host, self._wishes, known)
        self._opening = asyncio.get_running_loop().create_task(opening)
        try:
            connection = await self._opening
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if self._is_closed and current is not None and not current.cancelling():
                raise self._explain_closed() from None
            raise
        finally:
            self._opening = None
        self._connection, self.facts = connection, connection.facts
        self._connected_at = self._host.clock.elapsed()
        if self._was_lost:
            self._was_lost = False
            self._tell_found(connection.facts)
        return connection

    def _tell_found(self, facts: ServerFacts) -> None:
        if self._on_state is not None:
            self._on_state(None)
        for kind in KINDS:
            if self._on_change is not None and facts.offers(kind):
                self._on_change(kind)

    def _explain_closed(self) -> ServerGone:
        return ServerGone(self.server.name, f'The client of the MCP server "{self.server.name}" is closed.')
