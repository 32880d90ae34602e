"""The proxy: takes a request, judges its host, connects to the address that was judged, and passes bytes on."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import msgspec

from everturn.ports.sandbox import render_target
from everturn.sandbox.network.hosts import (
    HostPattern,
    is_local_name,
    judge_address,
    judge_name,
    parse_host,
    split_port,
)

HEAD_S = 30.0
CONNECT_S = 20.0
MAX_CONNECTIONS = 256
"""At once, at all doors. Each may take two descriptors of ours, and many systems give a process 1,024."""
TOO_MANY = "too many connections at once"
UNNAMED = "sandbox.network.allowedDomains does not name it"
_PIECE = 65_536
_HTTP = 80
_REQUEST = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}) ([\x21-\x7e]+) HTTP/1\.[01]")
_URL = re.compile(r"http://([^/?#@]+)((?:[/?][^#]*)?)", re.IGNORECASE)
_HOP = frozenset({b"host", b"connection", b"keep-alive"})


class RefusedConnection(msgspec.Struct, frozen=True, kw_only=True):
    """A host that was not reached, and why."""

    host: str
    why: str


class RefusalError(Exception):
    """`status`: what the client is told."""

    def __init__(self, status: str, host: str, why: str) -> None:
        super().__init__(why)
        self.status, self.host, self.why = status, host, why


class _Request(msgspec.Struct, frozen=True, kw_only=True):
    """Where a client wants to, and what to send there first."""

    host: str
    port: int
    first: bytes = b""
    """Empty for a tunnel."""


Note = Callable[[RefusedConnection], object]
AskHost = Callable[[str, int], Awaitable[str | None]]
"""About a host that nothing names: None for a yes, else why not."""
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a host and a port to addresses. May raise `OSError`."""


async def resolve_by_system(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Proxy:
    """One per session; `serve` handles one connection."""

    def __init__(
        self,
        allowed: Sequence[HostPattern],
        denied: Sequence[HostPattern] = (),
        *,
        own_port: int | None = None,
        object_to: Callable[[str], str | None] = lambda _: None,
        resolve: Resolve | None = None,
    ) -> None:
        """`own_port`: of the person's own proxy, which is given everything unjudged. `resolve` is asked once for each.

        `object_to` says what else is against a host.
        """
        self._allowed, self._denied, self._own_port = allowed, denied, own_port
        self._object_to = object_to
        self._resolve = resolve or resolve_by_system
        self._served = 0

    @property
    def is_full(self) -> bool:
        return self._served >= MAX_CONNECTIONS

    def note_come(self) -> None:
        """A connection was taken, and is going to be served."""
        self._served += 1

    def note_gone(self) -> None:
        self._served -= 1

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, note: Note, ask: AskHost | None = None
    ) -> None:
        """Until both sides have ended, or it is cancelled."""
        try:
            await self._serve(reader, writer, note, ask)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            # The client is gone, or never said what it wanted.
            pass
        finally:
            writer.close()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, note: Note, ask: AskHost | None
    ) -> None:
        if self._own_port is not None:
            theirs = await asyncio.open_connection("127.0.0.1", self._own_port)
            await pass_on((reader, writer), theirs)
            return
        try:
            async with asyncio.timeout(HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
            request = parse_request(head)
            theirs = await self._connect(request, ask)
        except RefusalError as refusal:
            note(RefusedConnection(host=refusal.host, why=refusal.why))
            writer.write(render_refusal(refusal))
            await writer.drain()
            return
        if request.first:
            theirs[1].write(request.first)
        else:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await pass_on((reader, writer), theirs)

    async def _admit(self, host: str, port: int, ask: AskHost | None) -> HostPattern:
        """By its name alone: to look for the address of a host is to speak to somebody about it. Raises `RefusalError`."""
        shown = render_target(host, port)
        verdict = self._object_to(host) or judge_name(host, port, self._allowed, self._denied)
        if isinstance(verdict, HostPattern):
            return verdict
        problem = verdict or (await ask(host, port) if ask else UNNAMED)
        if problem is not None:
            raise RefusalError("403 Forbidden", shown, problem)
        return HostPattern(text=shown, host=host, port=port)

    async def _connect(
        self, request: _Request, ask: AskHost | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = request.host, request.port
        shown = render_target(host, port)
        pattern = await self._admit(host, port, ask)
        status, failure = "403 Forbidden", "it has no address"
        local = is_local_name(host)
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError):
            raise RefusalError("502 Bad Gateway", shown, "its name leads nowhere") from None
        for address in addresses:
            if problem := judge_address(address, host, port, pattern, self._denied, is_local=local):
                failure = problem
                continue
            try:
                async with asyncio.timeout(CONNECT_S):
                    # The address, not the name: asked again, a name may lead elsewhere.
                    return await asyncio.open_connection(address, port, limit=_PIECE)
            except (OSError, TimeoutError) as error:
                status, failure = "502 Bad Gateway", f"it does not answer ({type(error).__name__})"
        raise RefusalError(status, shown, failure)


def parse_request(head: bytes) -> _Request:
    """Raises `RefusalError`."""
    line, _, fields = head.partition(b"\r\n")
    match = _REQUEST.fullmatch(line)
    if match is None:
        raise RefusalError("400 Bad Request", "", "it is no request to a proxy")
    method, target = match[1], match[2].decode("ascii")
    if method == b"CONNECT":
        return _parse_authority(target, None)
    url = _URL.fullmatch(target)
    if url is None:
        raise RefusalError("400 Bad Request", target[:200], "a proxy is asked for http:// addresses, or to CONNECT")
    where = _parse_authority(url[1], _HTTP)
    path = url[2] if url[2].startswith("/") else f"/{url[2]}"
    kept = [
        field
        for field in fields.removesuffix(b"\r\n\r\n").split(b"\r\n")
        if field and (name := field.partition(b":")[0].lower()) not in _HOP and not name.startswith(b"proxy-")
    ]
    # One request for each connection: a second one could be meant for another host.
    lines = [b"%b %b HTTP/1.1" % (method, path.encode()), b"Host: %b" % url[1].encode(), b"Connection: close", *kept]
    return msgspec.structs.replace(where, first=b"\r\n".join((*lines, b"", b"")))


def _parse_authority(text: str, usual_port: int | None) -> _Request:
    host, port = split_port(text)
    name = parse_host(host)
    port = usual_port if port is None else port
    if name is None or port is None or port <= 0:
        raise RefusalError("400 Bad Request", text[:200], "it is no host with a port")
    return _Request(host=name, port=port)


def render_refusal(refusal: RefusalError) -> bytes:
    text = f"The sandbox did not connect to {refusal.host or 'this'}: {refusal.why}.\n".encode()
    head = (
        f"HTTP/1.1 {refusal.status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + text


Side = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def pass_on(ours: Side, theirs: Side) -> None:
    """Both ways; closes what it was given last."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_copy(ours[0], theirs[1]))
            group.create_task(_copy(theirs[0], ours[1]))
    finally:
        theirs[1].close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_PIECE):
            writer.write(data)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.write_eof()
