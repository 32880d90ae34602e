"""A raw HTTP client: what it returns is what came over the wire, and how it ended."""

import asyncio
import contextlib
import json
import socket
import ssl
from typing import Any
from urllib.parse import urlsplit

import pytest

HEADERS = {"x-api-key": "sk-test", "anthropic-version": "2023-06-01"}
QUIET = 0.3
PATIENCE = 60


class Reply:
    """One answer: status, headers, body without its framing, and the bytes themselves."""

    def __init__(self, raw: bytes, ended: str) -> None:
        self.raw = raw
        self.ended = ended
        head, _, rest = raw.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(status.split(" ")[1]) if status.startswith("HTTP/1.1 ") else 0
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        self.body = _unchunked(rest) if self.headers.get("transfer-encoding") == "chunked" else rest

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, Any]]:
        frames = [frame for frame in self.body.decode().split("\n\n") if frame.startswith("event:")]
        return [json.loads(frame.partition("\ndata: ")[2]) for frame in frames]

    @property
    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events]


def _unchunked(data: bytes) -> bytes:
    body = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        body += data[: int(size, 16)]
        data = data[int(size, 16) + 2 :]
    return body


class Client:
    async def post(
        self, url: str, body: Any, *, headers: dict[str, str] | None = None, path: str = "/v1/messages", **options: Any
    ) -> Reply:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.send(url, "POST", path, data, HEADERS if headers is None else headers, **options)

    async def get(self, url: str, path: str) -> Reply:
        return await self.send(url, "GET", path, b"", HEADERS)

    async def send(
        self,
        url: str,
        method: str,
        path: str,
        data: bytes,
        headers: dict[str, str],
        *,
        size: int | None = None,
        enough: int | None = None,
    ) -> Reply:
        """Read to the end; with `size`, until so many bytes came and then nothing more; with `enough`, no further."""
        parts = urlsplit(url)
        lines = [
            f"{method} {parts.path}{path} HTTP/1.1",
            f"host: {parts.netloc}",
            "connection: close",
            f"content-length: {len(data)}",
        ]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        request = "\r\n".join([*lines, "", ""]).encode() + data
        with socket.socket() as raw:
            raw.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(raw, (parts.hostname, parts.port))
            with contextlib.suppress(ConnectionError):
                await loop.sock_sendall(raw, request)
            return await _read(raw, size, enough)


async def _read(raw: socket.socket, size: int | None, enough: int | None) -> Reply:
    loop = asyncio.get_running_loop()
    got = bytearray()
    while enough is None or len(got) < enough:
        # Silence can only be seen by waiting for it: shortly, and only when all that was due has come.
        patience = QUIET if size is not None and len(got) >= size else PATIENCE
        receiving = asyncio.ensure_future(loop.sock_recv(raw, 1 << 20))
        await asyncio.wait({receiving}, timeout=patience)
        if not receiving.done():
            receiving.cancel()
            await asyncio.wait({receiving})
            return Reply(bytes(got), "silence")
        if isinstance(receiving.exception(), ConnectionResetError):
            return Reply(bytes(got), "reset")
        if not receiving.result():
            return Reply(bytes(got), "closed")
        got += receiving.result()
    return Reply(bytes(got), "left")


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def ask():
    """A request that is in order, but for what is given."""

    def make(prompt: Any = "Hello", **fields: Any) -> dict[str, Any]:
        messages = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
        return {"model": "claude-opus-4-8", "max_tokens": 1000, "messages": messages, **fields}

    return make


@pytest.fixture
def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
