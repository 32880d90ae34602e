"""Waits on this machine for the browser that comes back from a login: one request to a loopback address, answered with one page."""

import asyncio
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

PATH = "/callback"
_HOST = "127.0.0.1"
_HEAD_LIMIT = 16_384
_HEAD_S = 10.0
_PAGE = """<!doctype html><meta charset="utf-8"><title>Everturn</title>
<body style="font-family: sans-serif; margin: 4em"><h1>{title}</h1><p>You can close this window.</p></body>"""


class LoginCallback:
    """Open between `listen` and `aclose`."""

    def __init__(self) -> None:
        self.port = 0
        self._came: asyncio.Future[dict[str, str]]
        self._server: asyncio.Server

    @property
    def address(self) -> str:
        return f"http://{_HOST}:{self.port}{PATH}"

    async def listen(self, port: int) -> None:
        """At another port where this one is taken; 0 is any. Read the one that it is from `port`."""
        self._came = asyncio.get_running_loop().create_future()
        try:
            self._server = await asyncio.start_server(self._serve, _HOST, port, limit=_HEAD_LIMIT)
        except OSError:
            self._server = await asyncio.start_server(self._serve, _HOST, 0, limit=_HEAD_LIMIT)
        self.port = self._server.sockets[0].getsockname()[1]

    async def wait(self) -> dict[str, str]:
        """The parameters that the browser brought: `code` and `state`, or `error`."""
        return await self._came

    async def aclose(self) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_HEAD_S):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                status, title = self._take(head.partition("\r\n")[0])
                page = _PAGE.format(title=title)
                fields = "content-type: text/html; charset=utf-8\r\nconnection: close\r\ncache-control: no-store"
                writer.write(
                    f"HTTP/1.1 {status}\r\n{fields}\r\ncontent-length: {len(page.encode())}\r\n\r\n{page}".encode()
                )
                await writer.drain()
        writer.close()

    def _take(self, line: str) -> tuple[str, str]:
        method, _, rest = line.partition(" ")
        parts = urlsplit(rest.partition(" ")[0])
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if method != "GET" or parts.path != PATH or not given.keys() & {"code", "error"}:
            return "404 Not Found", "There is nothing here."
        if not self._came.done():
            self._came.set_result(given)
        return "200 OK", "The login failed." if "error" in given else "You are logged in."
