"""A web of our own on loopback: names and addresses are made up, every connection ends at one little server."""

import asyncio
from contextlib import suppress

import msgspec
import pytest

from everturn.core.budget import Usage
from everturn.ports.abort import AbortSignal
from everturn.ports.ask import Reply
from everturn.ports.files import FileStates
from everturn.ports.tool import ToolContext

PUBLIC = "93.184.216.34"


class LoopbackNet:
    """Implements `ports.web.Net`: resolves from a table, dials the local server whatever the address, and remembers it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.names: dict[str, list[list[str]]] = {}
        """Answers in their order; the last one stays."""
        self.dialled: list[tuple[str, int, str | None]] = []

    def knows(self, host: str, *answers: list[str]) -> None:
        self.names[host] = list(answers)

    async def resolve(self, host, port):
        if host[0].isdigit() or ":" in host:
            return (host,)
        if host not in self.names:
            raise OSError(-2, "Name or service not known")
        answers = self.names[host]
        return tuple(answers.pop(0) if len(answers) > 1 else answers[0])

    async def dial(self, address, port, *, name):
        self.dialled.append((address, port, name))
        return await asyncio.open_connection("127.0.0.1", self._port)


class Site:
    """The server: `site.pages[path]` is what is sent back, bytes or a coroutine function of reader and writer."""

    def __init__(self) -> None:
        self.pages = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self._serving: set[asyncio.Task[None]] = set()

    def page(self, path, body=b"", *, status="200 OK", **headers):
        body = body if isinstance(body, bytes) else body.encode()
        fields = {"content-type": "text/html; charset=utf-8", "content-length": str(len(body))}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.pages[path] = f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body

    async def close(self):
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def serve(self, reader, writer):
        self._serving.add(asyncio.current_task())
        try:
            await self._answer(reader, writer)
        finally:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader, writer):
        with suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            path = first.split(" ")[1]
            fields = dict(line.split(": ", 1) for line in lines)
            self.requests.append((path, fields))
            page = self.pages.get(path) or b"HTTP/1.1 404 Not Found\r\ncontent-length: 7\r\n\r\nno page"
            if isinstance(page, bytes):
                writer.write(page)
                await writer.drain()
            else:
                await page(reader, writer)
            writer.write_eof()
            await reader.read()


class EchoAsk:
    """Implements `ports.ask.Ask`: remembers the question and always says the same."""

    def __init__(self, text="The answer."):
        self.questions = []
        self._text = text

    async def ask(self, question):
        self.questions.append(question)
        return Reply(text=self._text, stop_reason="end_turn", usage=Usage())

    @property
    def asked(self):
        return self.questions[-1].messages[0].blocks[0].view.text


@pytest.fixture
async def site():
    return Site()


@pytest.fixture
async def net(site):
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    made = LoopbackNet(server.sockets[0].getsockname()[1])
    made.knows("example.com", [PUBLIC])
    yield made
    await site.close()
    server.close()
    await server.wait_closed()


@pytest.fixture
def ask():
    return EchoAsk()


@pytest.fixture
async def context(tmp_path, ask):
    return ToolContext(
        folder=str(tmp_path),
        tool_use_id="toolu_1",
        abort=AbortSignal(),
        files=FileStates(),
        progress=[].append,
        ask=ask,
    )


@pytest.fixture
def use(context):
    async def run(tool, **fields):
        return await tool.run(tool.parse(fields), context)

    return run


@pytest.fixture
def shown():
    """The public form of a result's half for people."""
    return lambda result: msgspec.json.decode(msgspec.json.encode(result.shown))
