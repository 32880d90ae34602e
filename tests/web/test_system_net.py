"""The machine's own network: real names, real TLS, and a proxy that is asked for addresses, never for names."""

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path

import pytest

from everturn.tools.web.system_net import SystemNet

CERTIFICATES = Path(__file__).parent.parent / "models" / "certificates"


@pytest.fixture
async def listen():
    servers, serving = [], set()

    async def start(handle, certificate=None):
        async def serve(reader, writer):
            serving.add(asyncio.current_task())
            try:
                with suppress(OSError, asyncio.IncompleteReadError):
                    await handle(reader, writer)
            finally:
                await hang_up(writer)

        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATES / f"{certificate}.pem")
        servers.append(await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context))
        return servers[-1].sockets[0].getsockname()[1]

    yield start
    for task in serving:
        task.cancel()
    await asyncio.gather(*serving, return_exceptions=True)
    for server in servers:
        server.close()
        await server.wait_closed()


async def echo(reader, writer):
    writer.write(await reader.readexactly(4))
    await reader.read()


async def hang_up(writer):
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


async def speak(streams):
    reader, writer = streams
    writer.write(b"ping")
    heard = await reader.readexactly(4)
    await hang_up(writer)
    return heard


def proxy(seen):
    async def tunnel(reader, writer):
        seen.append((await reader.readuntil(b"\r\n\r\n")).decode())
        port = int(seen[-1].split(" ")[1].rpartition(":")[2])
        inner = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            await asyncio.gather(pour(reader, inner[1]), pour(inner[0], writer), return_exceptions=True)
        finally:
            await hang_up(inner[1])

    return tunnel


async def pour(reader, writer):
    while piece := await reader.read(65_536):
        writer.write(piece)
        await writer.drain()
    writer.transport.abort()


async def test_a_name_becomes_addresses():
    assert "127.0.0.1" in await SystemNet().resolve("localhost", 80)
    assert await SystemNet().resolve("127.0.0.1", 80) == ("127.0.0.1",)


@pytest.mark.parametrize("name", ["name.invalid", f"{'a' * 64}.com"])
async def test_a_name_that_has_no_address_is_an_os_error(name):
    with pytest.raises(OSError, match=r".+"):
        await SystemNet().resolve(name, 80)


async def test_a_plain_connection_is_made(listen):
    assert await speak(await SystemNet().dial("127.0.0.1", await listen(echo), name=None)) == b"ping"


async def test_tls_is_spoken_with_the_name_and_not_with_the_address(listen):
    net = SystemNet(ca_file=str(CERTIFICATES / "good.pem"))
    port = await listen(echo, "good")

    assert await speak(await net.dial("127.0.0.1", port, name="localhost")) == b"ping"
    with pytest.raises(ssl.SSLCertVerificationError):
        await net.dial("127.0.0.1", port, name="example.com")


async def test_a_stranger_without_a_certificate_is_refused(listen):
    with pytest.raises(ssl.SSLCertVerificationError):
        await SystemNet().dial("127.0.0.1", await listen(echo, "good"), name="localhost")


@pytest.mark.parametrize("certificate", [None, "good"])
async def test_a_proxy_is_asked_for_the_address(listen, certificate):
    seen = []
    port, gate = await listen(echo, certificate), await listen(proxy(seen))
    net = SystemNet(ca_file=str(CERTIFICATES / "good.pem"), proxy_for=lambda _: f"http://user:p%40ss@127.0.0.1:{gate}")

    heard = await speak(await net.dial("127.0.0.1", port, name="localhost" if certificate else None))

    assert heard == b"ping"
    assert seen[0].startswith(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n")
    assert "proxy-authorization: Basic dXNlcjpwQHNz\r\n" in seen[0]


@pytest.mark.parametrize("answer", [b"HTTP/1.1 403 Forbidden\r\n\r\n", b"", b"nonsense\r\n\r\n"])
async def test_a_proxy_that_refuses_is_an_os_error(listen, answer):
    async def refuse(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.write_eof()
        await reader.read()

    gate = await listen(refuse)

    with pytest.raises(OSError, match="the proxy"):
        await SystemNet(proxy_for=lambda _: f"http://127.0.0.1:{gate}").dial("93.184.216.34", 443, name="example.com")
