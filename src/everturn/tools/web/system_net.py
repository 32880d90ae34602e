"""The machine's own network behind `ports.web.Net`: its resolver, TCP, TLS, and a proxy where one is set."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

_CONNECT_S = 10.0


class SystemNet:
    """`proxy_for` answers with the proxy of a URL, or None. Through a proxy, too, it is the address that is asked for."""

    def __init__(self, *, ca_file: str | None = None, proxy_for: Callable[[str], str | None] | None = None) -> None:
        self._ca_file = ca_file
        self._proxy_for = proxy_for
        self._context: ssl.SSLContext | None = None

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError:
            raise OSError(0, "the name is not valid") from None
        return tuple(dict.fromkeys(str(place[0]) for *_, place in found))

    async def dial(
        self, address: str, port: int, *, name: str | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        context = await self._trust() if name is not None else None
        scheme = "http" if name is None else "https"
        proxy = self._proxy_for(f"{scheme}://{name or address}:{port}/") if self._proxy_for else None
        async with asyncio.timeout(_CONNECT_S):
            if proxy is None:
                return await asyncio.open_connection(address, port, ssl=context, server_hostname=name)
            return await self._dial_through(proxy, address, port, name, context)

    async def _dial_through(
        self, proxy: str, address: str, port: int, name: str | None, context: ssl.SSLContext | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        import base64

        parts = urlsplit(proxy)
        secure = await self._trust() if parts.scheme == "https" else None
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80, ssl=secure)
        try:
            place = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
            secret = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()
            login = f"proxy-authorization: Basic {base64.b64encode(secret).decode()}\r\n" if parts.username else ""
            writer.write(f"CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n{login}\r\n".encode("latin-1"))
            await _await_tunnel(reader)
            if context is not None:
                await writer.start_tls(context, server_hostname=name)
        except BaseException:
            writer.transport.abort()
            raise
        return reader, writer

    async def _trust(self) -> ssl.SSLContext:
        if self._context is None:
            # Reads every certificate of the machine: off the loop.
            self._context = await asyncio.to_thread(_build_context, self._ca_file)
        return self._context


async def _await_tunnel(reader: asyncio.StreamReader) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise ConnectionError(0, "the proxy hung up") from None
    if (status := head.partition(b" ")[2][:3].decode("latin-1")) != "200":
        raise ConnectionError(0, f"the proxy refused it with {status!r}")


def _build_context(ca_file: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(cafile=ca_file)
    context.set_alpn_protocols(["http/1.1"])
    return context
