"""Servers that are no model: a host that nobody should talk to, and a proxy with a lock."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from typing import Self


class Listener(ABC):
    """`async with Listener() as listener:` listens on loopback and ends all that it still does when the block ends."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self.handle(reader, writer)
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    @abstractmethod
    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None: ...


class Passerby(Listener):
    """Keeps what it is told; nobody should tell it anything."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[bytes] = []

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(await reader.read(65_536))


class Gatekeeper(Listener):
    """A proxy that forwards plain requests, or wants a password while it is locked."""

    def __init__(self) -> None:
        super().__init__()
        self.locked = False
        self.seen: list[str] = []

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        _, target, _ = head.split(b" ", 2)
        self.seen.append(target.decode())
        if self.locked:
            challenge = b'proxy-authenticate: Basic realm="gate"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n" + challenge)
            await writer.drain()
            return
        authority = target.removeprefix(b"http://").partition(b"/")[0].decode()
        host, port = authority.split(":")
        onward_reader, onward_writer = await asyncio.open_connection(host, int(port))
        path = target.removeprefix(f"http://{authority}".encode())
        # One request for each connection: a lock that is turned later counts for the next request.
        onward = head.replace(target, path, 1).replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
        onward_writer.write(onward)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(relay(reader, onward_writer))
                group.create_task(relay(onward_reader, writer))
        finally:
            onward_writer.close()


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
