"""One GET, bounded in size: the name is resolved and judged, and the address that was judged is the one dialled."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncGenerator, Mapping

import h11
import msgspec

from everturn.core.compression import CompressionError, Inflater, UnknownCodingError
from everturn.core.errors import ToolFault
from everturn.ports.web import Net, WebUrl
from everturn.tools.web.addresses import is_public

MAX_BYTES = 10_000_000
"""Of a body, unpacked; the rest is not read."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEAD_LIMIT = 65_536
_READ = 65_536
_DIALLED = 3
"""Addresses of one name that are tried."""
_CLOSE_S = 1.0


class HttpAnswer(msgspec.Struct, frozen=True, kw_only=True):
    status: int
    reason: str
    headers: dict[str, str]
    """Names in small letters; of what stands twice, the first."""
    body: bytes
    """Empty for a redirect: nobody reads it."""
    complete: bool
    """False: it was cut at the limit."""


async def run_get(net: Net, url: WebUrl, headers: Mapping[str, str], *, most_bytes: int = MAX_BYTES) -> HttpAnswer:
    """Follows no redirect. Raises `ToolFault`; whoever calls it bounds the time."""
    addresses = await find_addresses(net, url)
    reader, writer = await _dial(net, url, addresses)
    try:
        return await _exchange(reader, writer, url, headers, most_bytes)
    except (OSError, ssl.SSLError, h11.RemoteProtocolError) as error:
        raise ToolFault(f"The connection to {url.authority} broke: {_describe(error)}.") from None
    finally:
        writer.transport.abort()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await writer.wait_closed()


async def find_addresses(net: Net, url: WebUrl) -> tuple[str, ...]:
    """Those of the first look. The second look is for names that change their answer, as an attacker's do."""
    try:
        first, second = await net.resolve(url.host, url.port), await net.resolve(url.host, url.port)
    except OSError as error:
        raise ToolFault(f"The name {url.host} cannot be resolved: {_describe(error)}.") from None
    if not first or not all(is_public(address) for address in (*first, *second)):
        raise ToolFault(f"{url.host} is not on the public internet. Only public addresses are fetched.")
    return first


async def _dial(net: Net, url: WebUrl, addresses: tuple[str, ...]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    problem = "no address answers"
    for address in addresses[:_DIALLED]:
        try:
            return await net.dial(address, url.port, name=url.host if url.scheme == "https" else None)
        except OSError as error:
            problem = _describe(error)
    raise ToolFault(f"No connection to {url.authority}: {problem}.")


async def _exchange(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    url: WebUrl,
    headers: Mapping[str, str],
    most_bytes: int,
) -> HttpAnswer:
    http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_LIMIT)
    fields = {"host": url.authority, **headers, "accept-encoding": "gzip, deflate", "connection": "close"}
    request = h11.Request(method="GET", target=url.target, headers=list(fields.items()))
    writer.write((http.send(request) or b"") + (http.send(h11.EndOfMessage()) or b""))
    await writer.drain()
    async with contextlib.aclosing(_events(http, reader)) as events:
        async for event in events:
            if isinstance(event, h11.Response):
                head = event
                break
        else:
            raise ToolFault(f"{url.authority} hung up without an answer.")
        named = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(list(head.headers))}
        is_redirect = head.status_code in REDIRECTS and "location" in named
        body, complete = (b"", True) if is_redirect else await _read(events, named, most_bytes)
    return HttpAnswer(
        status=head.status_code,
        reason=head.reason.decode("latin-1"),
        headers=named,
        body=body,
        complete=complete,
    )


async def _read(
    events: AsyncGenerator[h11.Event, None], headers: Mapping[str, str], most_bytes: int
) -> tuple[bytes, bool]:
    coding = headers.get("content-encoding", "")
    body = bytearray()
    try:
        inflater = Inflater(coding)
        async for event in events:
            if isinstance(event, h11.Data):
                for piece in inflater.feed(bytes(event.data)):
                    body += piece
                    if len(body) > most_bytes:
                        return bytes(body[:most_bytes]), False
    except UnknownCodingError as error:
        raise ToolFault(f"The server sent the page as {error.name[:40]!r}, which was not asked for.") from None
    except CompressionError:
        raise ToolFault(f"The server says that the page is {coding.strip().lower()}, but it is not.") from None
    return bytes(body), True


async def _events(http: h11.Connection, reader: asyncio.StreamReader) -> AsyncGenerator[h11.Event, None]:
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            http.receive_data(await reader.read(_READ))
        elif isinstance(event, h11.Event):
            yield event
            if isinstance(event, h11.EndOfMessage):
                return
        else:
            return


def _describe(error: Exception) -> str:
    """In a few words, and without the addresses that asyncio adds."""
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate was refused ({error.verify_message})"
        case ssl.SSLError():
            return f"TLS failed ({error.reason or 'no reason given'})"
        case OSError(strerror=str(words)) if words and "(" not in words:
            return words.lower()
        case h11.RemoteProtocolError():
            return "it does not speak HTTP"
        case _:
            return type(error).__name__
