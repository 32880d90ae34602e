"""Little HTTP servers on loopback that tests script request by request, and a proxy."""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path

CERTIFICATES = Path(__file__).with_name("models") / "certificates"


class Exchange:
    """One request that a server received, and the means to answer it in any way, good or bad."""

    def __init__(self, server, head, body, streams):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = lines[0].split(" ", 2)
        fields = (line.split(":", 1) for line in lines[1:] if ":" in line)
        self.headers = {name.strip().lower(): value.strip() for name, value in fields}
        self.body = body
        self.server = server
        self.number = len(server.requests) + 1
        self.reader, self.writer = streams

    async def until_gone(self):
        """Waits for the client to hang up."""
        await self.reader.read()

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def start(self, status=200, **headers):
        """The head of a chunked answer."""
        fields = {"transfer-encoding": "chunked", **{name.replace("_", "-"): value for name, value in headers.items()}}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        await self.send(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode())

    async def chunk(self, data):
        await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def reply(self, status=200, body=b"", **headers):
        await self.start(status, **headers)
        await self.send((b"%x\r\n%s\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n")

    def reset(self):
        """Ends the connection with RST instead of FIN."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Answer = Callable[[Exchange], Awaitable[None]]


class Server:
    def __init__(self, answer, *, secure):
        self.answer = answer
        self.secure = secure
        self.requests = []
        self.connections = 0
        self.open = 0
        self.all_gone = asyncio.Event()
        self.port = 0

    @property
    def url(self):
        return f"{'https' if self.secure else 'http'}://127.0.0.1:{self.port}"

    async def handle(self, reader, writer):
        self.connections += 1
        self.open += 1
        self.all_gone.clear()
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(length[0].split(b":")[1])) if length else b""
                exchange = Exchange(self, head, body, (reader, writer))
                self.requests.append(exchange)
                await self.answer(exchange)
                if writer.is_closing():
                    return
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self.open -= 1
            if not self.open:
                self.all_gone.set()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


async def relay(reader, writer):
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


class Proxy:
    """Forwards plain requests and tunnels for CONNECT; with a password, it wants that first."""

    def __init__(self, password=None):
        self.password = password
        self.port = 0
        self.seen = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = head.split(b" ", 2)
            self.seen.append((method.decode(), target.decode()))
            if self.password is not None and self.password not in head:
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
                await writer.drain()
                return
            authority = target.removeprefix(b"http://").partition(b"/")[0]
            host, port = authority.decode().rsplit(":", 1)
            up_reader, up_writer = await asyncio.open_connection(host, int(port))
            if method == b"CONNECT":
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                up_writer.write(head.replace(b"http://" + authority, b"", 1))
            async with asyncio.TaskGroup() as group:
                group.create_task(relay(reader, up_writer))
                group.create_task(relay(up_reader, writer))
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


class Stage:
    """Starts servers, and ends them with all that they still do."""

    def __init__(self):
        self._closing = []

    async def serve(self, answer: Answer, certificate: str | None = None) -> Server:
        server = Server(answer, secure=certificate is not None)
        server.port = await self.listen(server.handle, certificate)
        return server

    async def proxy(self, password: bytes | None = None) -> Proxy:
        proxy = Proxy(password)
        proxy.port = await self.listen(proxy.handle)
        return proxy

    async def listen(self, handle, certificate: str | None = None) -> int:
        """For servers that do not even wait for a request. Answers with the port."""
        context = None
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATES / f"{certificate}.pem")
        tasks = set()

        async def tracked(reader, writer):
            tasks.add(asyncio.current_task())
            try:
                with contextlib.suppress(asyncio.CancelledError):
                    await handle(reader, writer)
            finally:
                writer.transport.abort()
                tasks.discard(asyncio.current_task())

        listener = await asyncio.start_server(tracked, "127.0.0.1", 0, ssl=context, limit=1 << 26)
        self._closing.append((listener, tasks))
        return listener.sockets[0].getsockname()[1]

    async def close(self):
        for listener, tasks in self._closing:
            listener.close()
            for task in list(tasks):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await listener.wait_closed()
