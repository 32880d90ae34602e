"""The link over streamable HTTP: each message a POST, its answer JSON or a stream of events; one more stream for what nobody asked for."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import aclosing, suppress
from typing import Any

import msgspec

from everturn.mcp.faults import McpFault, NeedsAuthorisation, ProtocolFault, RequestRefused, ServerGone, SessionEnded
from everturn.mcp.host import Host
from everturn.mcp.http_requests import HttpRequests, describe_status, is_kind, read_body, read_events
from everturn.mcp.json_rpc import Outgoing, RpcError, RpcNotification, RpcRequest, encode_message
from everturn.mcp.link import Receiver
from everturn.mcp.mirrored import encode_value
from everturn.mcp.protocol import INTERNAL_ERROR, INVALID_REQUEST, NAMED_BY, is_stateless
from everturn.mcp.servers import HttpServer
from everturn.ports.transport import Response

EVENTS = "text/event-stream"
JSON = "application/json"
RETRY_S = 1.0
"""Before a stream that broke off is asked for again, where the server says nothing else."""
MAX_RETRY_S = 60.0
MAX_ATTEMPTS = 5
"""One after the other, without anything new from the server."""
_ACCEPTED = 202
_OK = range(200, 300)
_NOT_FOUND = 404
_FAILING = 500
_FAREWELL_S = 2.0


class _RefusalBody(msgspec.Struct, frozen=True):
    error: RpcError


class _Stream:
    """How far a stream has come, so that it can be asked for from there on."""

    def __init__(self) -> None:
        self.last_id = ""
        self.retry_s = RETRY_S
        self.grew = False
        """Something new came since it was asked for."""


class HttpLink:
    """`link.Link`."""

    def __init__(self, server: HttpServer, host: Host) -> None:
        self._server = server
        self._host = host
        self._requests = HttpRequests(server, host)
        self._receiver: Receiver
        self._version = ""
        self._session = ""
        self._posts: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._told: asyncio.Task[None] | None = None
        """The last notification: a request must not arrive before it."""

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def send(self, message: Outgoing, headers: Mapping[str, str] | None = None) -> None:
        if isinstance(message, RpcRequest):
            # The version of this moment: while one is being agreed upon, it changes from request to request.
            task = self._start(self._ask(message, headers or {}, self._version, self._told))
            self._posts[message.id] = task
            task.add_done_callback(lambda _: self._posts.pop(message.id, None))
        else:
            self._told = self._start(self._tell(message, self._told))

    def settle(self, version: str) -> None:
        self._version = version

    def abandon(self, request_id: int, reason: str) -> None:
        if (task := self._posts.get(request_id)) is not None:
            task.cancel()
        if not is_stateless(self._version):
            # In the stateless era, that its answer is not read any more says it all.
            params = {"requestId": request_id, "reason": reason}
            self.send(RpcNotification(jsonrpc="2.0", method="notifications/cancelled", params=params))

    def describe(self) -> str:
        return ""

    async def aclose(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._session:
            session, self._session = self._session, ""
            with suppress(McpFault, TimeoutError):
                async with asyncio.timeout(_FAREWELL_S):
                    async with self._requests.send("DELETE", encode_headers(self._version, session)):
                        pass
        await self._requests.aclose()

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _ask(
        self, request: RpcRequest, more: Mapping[str, str], version: str, told: asyncio.Task[None] | None
    ) -> None:
        try:
            await _wait_for(told)
            await self._post(request, more, version)
            text = f'The MCP server "{self._server.name}" ended its answer to {request.method} without a result.'
            self._receiver.fail(request.id, ServerGone(self._server.name, text))
        except SessionEnded as fault:
            self._receiver.fail(request.id, fault)
            self._receiver.lose(ServerGone(fault.server, fault.text))
        except McpFault as fault:
            self._receiver.fail(request.id, fault)

    async def _tell(self, message: Outgoing, told: asyncio.Task[None] | None) -> None:
        await _wait_for(told)
        with suppress(McpFault):
            async with self._requests.send(
                "POST", encode_headers(self._version, self._session), encode_message(message)
            ):
                pass
        if isinstance(message, RpcNotification) and message.method == "notifications/initialized":
            self._start(self._listen())

    async def _post(self, request: RpcRequest, more: Mapping[str, str], version: str) -> None:
        """Returns when the server has ended its answer, or when the request has its result."""
        session = self._session if request.method != "initialize" else ""
        headers = encode_headers(version, session) | encode_subject(request, version) | dict(more)
        stream = _Stream()
        async with self._requests.send("POST", headers, encode_message(request)) as response:
            if response.status not in _OK or response.status == _ACCEPTED:
                await self._refuse(request, session, response)
                return
            if request.method == "initialize":
                self._session = response.headers.get("mcp-session-id", "")
            if not is_kind(response, EVENTS):
                self._receiver.take(await read_body(response, self._server.name))
                return
            with suppress(ServerGone):
                await self._read(response, stream, request.id)
        if not is_stateless(version):
            await self._resume(stream, request.id)

    async def _refuse(self, request: RpcRequest, session: str, response: Response) -> None:
        """Raises `McpFault`."""
        name = self._server.name
        if response.status == _NOT_FOUND and session:
            text = f'The MCP server "{name}" has ended the session.'
            raise SessionEnded(name, text)
        if response.status == _ACCEPTED:
            text = f'The MCP server "{name}" took {request.method} for a notification, and sends no answer.'
            raise ProtocolFault(name, text)
        if is_kind(response, JSON):
            body = await read_body(response, name)
            with suppress(msgspec.DecodeError):
                error = msgspec.json.decode(body, type=_RefusalBody).error
                # Its id may be missing: it was refused before that was read.
                refusal = {"jsonrpc": "2.0", "id": request.id, "error": msgspec.to_builtins(error)}
                self._receiver.take(msgspec.json.encode(refusal))
                return
            text = f'The MCP server "{name}" answered with HTTP {response.status}.'
        else:
            text = await describe_status(response, self._server)
        code = INTERNAL_ERROR if response.status >= _FAILING else INVALID_REQUEST
        raise RequestRefused(name, text, code=code)

    async def _read(self, response: Response, stream: _Stream, request_id: int | None) -> None:
        async with aclosing(read_events(response, self._server.name)) as events:
            async for event in events:
                if event.id:
                    stream.last_id = event.id
                if event.retry_ms is not None:
                    stream.retry_s = min(event.retry_ms / 1_000, MAX_RETRY_S)
                stream.grew = True
                if event.data and event.kind == "message":
                    self._receiver.take(event.data)
                    if request_id is not None and not self._receiver.waits_for(request_id):
                        return

    async def _resume(self, stream: _Stream, request_id: int) -> None:
        """The rest of an answer that broke off, from its last event on."""
        attempts = 0
        while stream.last_id and self._receiver.waits_for(request_id) and attempts < MAX_ATTEMPTS:
            attempts += 1
            await self._host.clock.sleep(stream.retry_s)
            stream.grew = False
            with suppress(ServerGone):
                if not await self._follow(stream, request_id):
                    return
            if stream.grew:
                attempts = 0

    async def _listen(self) -> None:
        """What the server says without being asked, as long as it lives."""
        stream = _Stream()
        attempts = 0
        while attempts < MAX_ATTEMPTS:
            stream.grew = False
            try:
                if not await self._follow(stream, None):
                    return
            except SessionEnded as fault:
                self._receiver.lose(ServerGone(fault.server, fault.text))
                return
            except NeedsAuthorisation:
                return
            except McpFault:
                pass
            attempts = 0 if stream.grew else attempts + 1
            await self._host.clock.sleep(stream.retry_s * 2**attempts)

    async def _follow(self, stream: _Stream, request_id: int | None) -> bool:
        """False: the server has no such stream. Raises `McpFault`."""
        headers = encode_headers(self._version, self._session) | {"accept": EVENTS}
        if stream.last_id:
            headers["last-event-id"] = stream.last_id
        async with self._requests.send("GET", headers) as response:
            if response.status == _NOT_FOUND and self._session:
                raise SessionEnded(self._server.name, f'The MCP server "{self._server.name}" has ended the session.')
            if response.status >= _FAILING:
                raise ServerGone(self._server.name, await describe_status(response, self._server))
            if response.status not in _OK or not is_kind(response, EVENTS):
                return False
            await self._read(response, stream, request_id)
        return True


def encode_headers(version: str, session: str) -> dict[str, str]:
    headers = {"content-type": JSON, "accept": f"{JSON}, {EVENTS}"}
    if version:
        headers["mcp-protocol-version"] = version
    if session:
        headers["mcp-session-id"] = session
    return headers


def encode_subject(request: RpcRequest, version: str) -> dict[str, str]:
    """What the request is about, for those who only look at headers."""
    if not is_stateless(version):
        return {}
    headers = {"mcp-method": request.method}
    subject = (request.params or {}).get(NAMED_BY.get(request.method, ""))
    if isinstance(subject, str):
        headers["mcp-name"] = encode_value(subject)
    return headers


async def _wait_for(told: asyncio.Task[None] | None) -> None:
    if told is not None and not told.done():
        await asyncio.wait({told})
