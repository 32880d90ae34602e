"""The default transport: our own HTTP/1.1 client, which keeps connections open between turns."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping

from everturn.core.errors import FaultKind, ModelFault
from everturn.models.transport.body import ResponseBody
from everturn.models.transport.connection import Connection, Unanswered, open_connection
from everturn.models.transport.limits import BODY_CAP, CONNECT_S, IDLE_LIMIT, IDLE_S, STALL_S
from everturn.models.transport.origin import Origin, parse_target
from everturn.models.transport.tls import Trust


class Http1Response:
    def __init__(self, owner: "Http1Transport", connection: Connection, status: int, headers: dict[str, str]) -> None:
        self.status = status
        self.headers: Mapping[str, str] = headers
        self._owner = owner
        self._connection = connection
        self._pieces = self._read()
        self._closed = False

    def body(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self, max_wait_s: float = 0.0) -> None:
        if not self._closed:
            self._closed = True
            try:
                await self._pieces.aclose()
                if max_wait_s:
                    await self._connection.finish(max_wait_s)
            finally:
                await self._owner.take_back(self._connection)

    async def _read(self) -> AsyncGenerator[bytes, None]:
        body = ResponseBody(self.headers.get("content-encoding", ""), self._owner.body_cap)
        while piece := await self._connection.read_piece(self._owner.stall_s):
            for part in body.feed(piece):
                yield part
        body.finish()


class _Warming:
    """A connection that is being opened ahead of the first request."""

    def __init__(self) -> None:
        self.done = asyncio.Event()
        self.fault: ModelFault | None = None


class Http1Transport:
    """`connect_s` bounds the way to an open connection, `stall_s` every silence after it; both in seconds.

    `trust` takes the place of `ca_file` where reading it has begun already.

    Asks for no compression: a stream of small events gains nothing by it and is delayed by it.
    """

    def __init__(
        self,
        *,
        connect_s: float = CONNECT_S,
        stall_s: float = STALL_S,
        idle_s: float = IDLE_S,
        ca_file: str | None = None,
        trust: Trust | None = None,
        body_cap: int = BODY_CAP,
    ) -> None:
        self.connect_s = connect_s
        self.stall_s = stall_s
        self.idle_s = idle_s
        self.body_cap = body_cap
        self._trust = trust or Trust(ca_file)
        self._idle: dict[Origin, list[Connection]] = {}
        self._warming: dict[Origin, _Warming] = {}
        self._closed = False

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Http1Response:
        origin, path = parse_target(url)
        request = ("POST", path, {"accept-encoding": "identity", **headers}, body)
        if (warming := self._warming.get(origin)) is not None:
            await warming.done.wait()
            if warming.fault is not None:
                # This was the attempt: another would only take as long again before anybody hears of it.
                raise warming.fault
        if (idle := await self._take_idle(origin)) is not None:
            # It may have died while it waited; the fresh connection that takes its place gets no second chance.
            with contextlib.suppress(Unanswered):
                return await self._ask(idle, *request)
        return await self._ask_once(await self._open(origin), *request)

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Http1Response:
        origin, path = parse_target(url)
        connection = await self._take_idle(origin) or await self._open(origin)
        return await self._ask_once(connection, method, path, {"accept-encoding": "identity", **headers}, body)

    async def warm(self, url: str) -> None:
        with contextlib.suppress(ModelFault):
            origin, _ = parse_target(url)
            if self._idle.get(origin) or origin in self._warming:
                return
            warming = self._warming[origin] = _Warming()
            try:
                await self.take_back(await self._open(origin))
            except ModelFault as fault:
                warming.fault = fault
            finally:
                del self._warming[origin]
                warming.done.set()

    async def aclose(self) -> None:
        self._closed = True
        idle = [connection for kept in self._idle.values() for connection in kept]
        self._idle.clear()
        for connection in idle:
            await connection.close()

    async def take_back(self, connection: Connection) -> None:
        """A connection whose answer was read to its end serves again; any other is closed."""
        if not self._closed and connection.rewind() and len(self._idle.get(connection.origin, ())) < IDLE_LIMIT:
            self._keep(connection)
        else:
            await connection.close()

    def _keep(self, connection: Connection) -> None:
        connection.idle_since = asyncio.get_running_loop().time()
        self._idle.setdefault(connection.origin, []).append(connection)

    async def _take_idle(self, origin: Origin) -> Connection | None:
        oldest = asyncio.get_running_loop().time() - self.idle_s
        kept = self._idle.get(origin, [])
        while kept:
            connection = kept.pop()
            if connection.fresh and connection.idle_since >= oldest:
                return connection
            await connection.close()
        return None

    async def _open(self, origin: Origin) -> Connection:
        context = await self._trust.context() if origin.secure else None
        return await open_connection(origin, context, connect_s=self.connect_s)

    async def _ask_once(
        self, connection: Connection, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Http1Response:
        try:
            return await self._ask(connection, method, path, headers, body)
        except Unanswered as gone:
            raise ModelFault(FaultKind.CONNECTION, str(gone)) from None

    async def _ask(
        self, connection: Connection, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Http1Response:
        try:
            answer = await connection.ask(method, path, headers, body, stall_s=self.stall_s)
        except BaseException:
            await connection.close()
            raise
        return Http1Response(self, connection, answer.status, answer.headers)
