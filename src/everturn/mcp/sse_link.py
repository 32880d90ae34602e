"""The link over the older transport: one stream of events for all that the server says, one address for all that it is told."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import aclosing, suppress
from typing import Any
from urllib.parse import urljoin

from everturn.mcp.faults import McpFault, ProtocolFault, RequestRefused, ServerGone
from everturn.mcp.host import Host
from everturn.mcp.http_link import EVENTS, JSON
from everturn.mcp.http_requests import HttpRequests, describe_status, find_origin, is_kind, read_events
from everturn.mcp.json_rpc import Outgoing, RpcNotification, RpcRequest, encode_message
from everturn.mcp.link import Receiver
from everturn.mcp.protocol import INVALID_REQUEST
from everturn.mcp.servers import HttpServer
from everturn.mcp.sse import SseEvent

_OK = range(200, 300)


class SseLink:
    """`link.Link`. Up to version 2024-11-05; some servers have nothing else to this day."""

    def __init__(self, server: HttpServer, host: Host) -> None:
        self._server = server
        self._requests = HttpRequests(server, host)
        self._receiver: Receiver
        self._target: asyncio.Future[str]
        self._version = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._last: asyncio.Task[None] | None = None
        """The message before: they arrive in the order in which they were sent."""
        self._is_closing = False

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._target = asyncio.get_running_loop().create_future()
        self._start(self._listen())
        await asyncio.shield(self._target)

    def send(self, message: Outgoing, headers: Mapping[str, str] | None = None) -> None:
        del headers
        self._last = self._start(self._post(message, self._last))

    def settle(self, version: str) -> None:
        self._version = version

    def abandon(self, request_id: int, reason: str) -> None:
        params = {"requestId": request_id, "reason": reason}
        self.send(RpcNotification(jsonrpc="2.0", method="notifications/cancelled", params=params))

    def describe(self) -> str:
        return ""

    async def aclose(self) -> None:
        self._is_closing = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._requests.aclose()

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _listen(self) -> None:
        name = self._server.name
        fault: McpFault = ServerGone(name, f'The MCP server "{name}" has ended its stream.')
        try:
            async with self._requests.send("GET", self._encode_headers(EVENTS)) as response:
                if response.status not in _OK:
                    fault = RequestRefused(name, await describe_status(response, self._server), code=INVALID_REQUEST)
                elif not is_kind(response, EVENTS):
                    fault = ProtocolFault(name, f'The MCP server "{name}" has no stream of events at its address.')
                else:
                    async with aclosing(read_events(response, name)) as events:
                        async for event in events:
                            self._take(event)
        except McpFault as found:
            fault = found
        if not self._target.done():
            self._target.set_exception(fault)
        elif not self._is_closing:
            self._receiver.lose(ServerGone(name, fault.text))

    def _take(self, event: SseEvent) -> None:
        if event.kind == "endpoint":
            self._settle_target(event.data.decode("utf-8", "replace"))
        elif event.kind == "message" and event.data:
            self._receiver.take(event.data)

    def _settle_target(self, named: str) -> None:
        name = self._server.name
        target = urljoin(self._requests.url, named)
        if self._target.done():
            return
        if find_origin(target) == find_origin(self._requests.url):
            self._target.set_result(target)
        else:
            text = f'The MCP server "{name}" wants its messages at {find_origin(target)}, which is another host.'
            self._target.set_exception(ProtocolFault(name, text))

    async def _post(self, message: Outgoing, last: asyncio.Task[None] | None) -> None:
        if last is not None and not last.done():
            await asyncio.wait({last})
        request_id = message.id if isinstance(message, RpcRequest) else None
        try:
            headers = self._encode_headers(JSON)
            url = await asyncio.shield(self._target)
            async with self._requests.send("POST", headers, encode_message(message), url=url) as response:
                if response.status not in _OK:
                    text = await describe_status(response, self._server)
                    raise RequestRefused(self._server.name, text, code=INVALID_REQUEST)
        except McpFault as fault:
            with suppress(McpFault):
                if request_id is not None:
                    self._receiver.fail(request_id, fault)

    def _encode_headers(self, accept: str) -> dict[str, str]:
        headers = {"content-type": JSON, "accept": accept}
        if self._version:
            headers["mcp-protocol-version"] = self._version
        return headers
