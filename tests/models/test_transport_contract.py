"""What every transport promises, run on each of them against real servers on loopback."""

import asyncio
import gzip
import zlib

import pytest

from everturn.core.errors import RETRYABLE, FaultKind, ModelFault
from everturn.models.transport.http1_transport import Http1Transport
from everturn.models.transport.httpx2_transport import Httpx2Transport

TRANSPORTS = {"h11": Http1Transport, "httpx2": Httpx2Transport}


@pytest.fixture(params=sorted(TRANSPORTS))
async def transport_of(request):
    """Makes transports of one kind; closes them at the end."""
    made = []

    def make(**options):
        made.append(TRANSPORTS[request.param](**options))
        return made[-1]

    yield make
    for transport in made:
        await transport.aclose()


async def read(response):
    try:
        return b"".join([piece async for piece in response.body()])
    finally:
        await response.aclose()


async def fault_of(awaitable):
    with pytest.raises(ModelFault) as caught:
        await awaitable
    return caught.value


async def test_a_request_arrives_as_it_was_given_and_the_answer_as_it_was_sent(stage, transport_of):
    server = await stage.serve(lambda exchange: exchange.reply(201, b"hello", X_Test="yes"))

    response = await transport_of().post(f"{server.url}/a/b?c=d", {"x-api-key": "k", "user-agent": "u"}, b'{"a":1}')

    assert (response.status, response.headers["x-test"], await read(response)) == (201, "yes", b"hello")
    (seen,) = server.requests
    assert (seen.method, seen.path, seen.body) == ("POST", "/a/b?c=d", b'{"a":1}')
    named = {name: seen.headers[name] for name in ("host", "x-api-key", "user-agent", "accept-encoding")}
    assert named == {
        "host": f"127.0.0.1:{server.port}",
        "x-api-key": "k",
        "user-agent": "u",
        "accept-encoding": "identity",
    }


@pytest.mark.parametrize("method", ["GET", "DELETE", "POST"])
async def test_a_request_of_any_method_arrives_and_is_answered(stage, transport_of, method):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"hello"))

    response = await transport_of().send(method, f"{server.url}/a", {"last-event-id": "7"})

    assert (response.status, await read(response)) == (200, b"hello")
    (seen,) = server.requests
    assert (seen.method, seen.path, seen.headers["last-event-id"], seen.body) == (method, "/a", "7", b"")


async def test_what_was_sent_once_is_not_sent_again_where_a_kept_connection_dies(stage, transport_of):
    async def answer(exchange):
        if exchange.body == b"first":
            await exchange.reply(200, b"x")
        else:
            exchange.reset()

    server = await stage.serve(answer)
    transport = transport_of()
    await read(await transport.send("POST", server.url, {}, b"first"))

    fault = await fault_of(transport.send("POST", server.url, {}, b"second"))

    assert fault.kind is FaultKind.CONNECTION
    assert [seen.body for seen in server.requests] == [b"first", b"second"]


async def test_pieces_are_handed_on_as_they_come(stage, transport_of):
    first_was_read = asyncio.Event()

    async def answer(exchange):
        await exchange.start()
        await exchange.chunk(b"one")
        await first_was_read.wait()
        await exchange.chunk(b"two")
        await exchange.send(b"0\r\n\r\n")

    server = await stage.serve(answer)
    response = await transport_of().post(server.url, {}, b"")
    pieces = []
    async for piece in response.body():
        pieces.append(piece)
        first_was_read.set()
    await response.aclose()

    assert pieces == [b"one", b"two"]


async def test_a_body_of_many_megabytes_arrives_whole(stage, transport_of):
    server = await stage.serve(lambda exchange: exchange.reply())
    body = bytes(range(256)) * 40_000

    await read(await transport_of().post(server.url, {}, body))

    assert server.requests[0].body == body


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"hello " * 50_000)),
        ("gzip", gzip.compress(b"hello " * 20_000) + gzip.compress(b"hello " * 30_000)),
        ("deflate", zlib.compress(b"hello " * 50_000)),
        ("deflate", zlib.compress(b"hello " * 50_000)[2:-4]),
        ("gzip, identity", gzip.compress(b"hello " * 50_000)),
    ],
)
async def test_a_compressed_answer_is_read_though_none_was_asked_for(stage, transport_of, encoding, body):
    server = await stage.serve(lambda exchange: exchange.reply(200, body, content_encoding=encoding))

    assert await read(await transport_of().post(server.url, {}, b"")) == b"hello " * 50_000


@pytest.mark.parametrize("body", [b"event: ping\n\n", gzip.compress(b"hello " * 50_000)[:-20]])
async def test_compression_that_is_none_or_breaks_off_breaks_the_stream(stage, transport_of, body):
    server = await stage.serve(lambda exchange: exchange.reply(200, body, content_encoding="gzip"))

    fault = await fault_of(read(await transport_of().post(server.url, {}, b"")))

    assert fault.kind is FaultKind.STREAM_BROKEN


async def test_an_encoding_that_nobody_asked_for_is_not_an_api(stage, transport_of):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"x", content_encoding="br"))

    fault = await fault_of(read(await transport_of().post(server.url, {}, b"")))

    assert fault.kind is FaultKind.NOT_AN_API


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
async def test_an_answer_beyond_the_cap_is_not_read_to_its_end(stage, transport_of, encoding):
    body = gzip.compress(bytes(2_000_000)) if encoding == "gzip" else bytes(2_000_000)
    server = await stage.serve(lambda exchange: exchange.reply(200, body, content_encoding=encoding))

    fault = await fault_of(read(await transport_of(body_cap=1_000_000).post(server.url, {}, b"")))

    assert (fault.kind, fault.text) == (
        FaultKind.OVERSIZED,
        "The response is larger than 1 MB; the rest was not read.",
    )


async def test_a_refused_connection_names_host_and_reason(transport_of, closed_port):
    fault = await fault_of(transport_of().post(f"http://127.0.0.1:{closed_port}/", {}, b""))

    assert (fault.kind, fault.text) == (
        FaultKind.CONNECTION,
        f"No connection to 127.0.0.1:{closed_port}: connection refused.",
    )


async def hang_up(exchange):
    exchange.writer.close()


async def talk_nonsense(exchange):
    await exchange.send(b"\x00\x01\x02 hello, not http\r\n\r\n")
    exchange.writer.close()


async def reset(exchange):
    exchange.reset()


@pytest.mark.parametrize("answer", [hang_up, talk_nonsense, reset])
async def test_no_answer_in_http_is_a_fault_of_the_connection(stage, transport_of, answer):
    server = await stage.serve(answer)

    fault = await fault_of(transport_of().post(server.url, {}, b"x"))

    assert (fault.kind, f"127.0.0.1:{server.port}" in fault.text) == (FaultKind.CONNECTION, True)
    assert len(server.requests) == 1


async def wait_for_ever(exchange):
    await exchange.until_gone()


async def fall_silent(exchange):
    await exchange.start()
    await exchange.chunk(b"one")
    await exchange.until_gone()


async def test_silence_before_the_answer_is_bounded(stage, transport_of):
    server = await stage.serve(wait_for_ever)

    fault = await fault_of(transport_of(stall_s=0.1).post(server.url, {}, b""))

    assert (fault.kind, fault.text) == (FaultKind.STALLED, f"127.0.0.1:{server.port} did not answer within 0.1 s.")
    await server.all_gone.wait()


async def test_silence_within_the_answer_is_bounded(stage, transport_of):
    server = await stage.serve(fall_silent)
    response = await transport_of(stall_s=1.0).post(server.url, {}, b"")

    fault = await fault_of(read(response))

    assert fault.kind is FaultKind.STALLED
    await server.all_gone.wait()


async def cut_a_chunk(exchange):
    await exchange.start()
    await exchange.send(b"ff\r\nonly this")
    exchange.writer.close()


async def cut_with_a_reset(exchange):
    await exchange.start()
    await exchange.chunk(b"one")
    exchange.reset()


@pytest.mark.parametrize("answer", [cut_a_chunk, cut_with_a_reset])
async def test_an_answer_that_breaks_off_breaks_the_stream(stage, transport_of, answer):
    server = await stage.serve(answer)

    async def post_and_read(transport):
        return await read(await transport.post(server.url, {}, b""))

    fault = await fault_of(post_and_read(transport_of()))

    assert fault.kind in {FaultKind.STREAM_BROKEN, FaultKind.CONNECTION}
    assert fault.kind in RETRYABLE


async def test_a_redirect_is_an_answer_like_any_other_and_is_not_followed(stage, transport_of):
    elsewhere = await stage.serve(lambda exchange: exchange.reply())
    server = await stage.serve(lambda exchange: exchange.reply(307, location=elsewhere.url))

    response = await transport_of().post(server.url, {"x-api-key": "k"}, b"")
    await read(response)

    assert (response.status, response.headers["location"], elsewhere.connections) == (307, elsewhere.url, 0)


async def test_a_connection_serves_again_after_its_answer_was_read(stage, transport_of):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"x"))
    transport = transport_of()

    for _ in range(3):
        await read(await transport.post(server.url, {}, b""))

    assert (server.connections, len(server.requests)) == (1, 3)


async def test_a_connection_is_closed_where_its_answer_was_not_read(stage, transport_of):
    server = await stage.serve(fall_silent)
    response = await transport_of().post(server.url, {}, b"")
    pieces = response.body()
    assert await anext(pieces) == b"one"

    await response.aclose()

    await server.all_gone.wait()
    assert [piece async for piece in pieces] == []


async def test_many_requests_at_once_do_not_disturb_each_other(stage, transport_of):
    server = await stage.serve(lambda exchange: exchange.reply(200, exchange.body))
    transport = transport_of()

    async def echo(number):
        return await read(await transport.post(server.url, {}, b"%d" % number))

    assert await asyncio.gather(*map(echo, range(20))) == [b"%d" % number for number in range(20)]


@pytest.mark.parametrize("moment", ["waiting for the answer", "waiting for a piece"])
async def test_cancelling_leaves_no_connection_and_no_task(stage, transport_of, moment):
    asked = asyncio.Event()

    async def answer(exchange):
        if moment == "waiting for a piece":
            await exchange.start()
        asked.set()
        await exchange.until_gone()

    server = await stage.serve(answer)
    transport = transport_of()
    before = asyncio.all_tasks()

    async def work():
        return await read(await transport.post(server.url, {}, b""))

    task = asyncio.create_task(work())
    await asked.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await server.all_gone.wait()

    assert task.cancelled()
    assert {other for other in asyncio.all_tasks() - before if "tracked" not in repr(other)} == set()


REFUSED = {
    "good": "it is self-signed; to trust it, name a file",
    "expired": "it has expired",
    "other": "it was issued for another host, not for 127.0.0.1",
}


@pytest.mark.parametrize("certificate", REFUSED)
async def test_a_bad_certificate_is_told_in_words_and_not_retried(stage, transport_of, certificates, certificate):
    server = await stage.serve(lambda exchange: exchange.reply(), certificate)
    ca_file = None if certificate == "good" else str(certificates / f"{certificate}.pem")

    fault = await fault_of(transport_of(ca_file=ca_file).post(server.url, {}, b""))

    assert (fault.kind, fault.kind in RETRYABLE, server.requests) == (FaultKind.TLS, False, [])
    assert REFUSED[certificate] in fault.text


async def test_a_certificate_is_trusted_by_way_of_a_given_file(stage, transport_of, certificates):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"safe"), "good")

    response = await transport_of(ca_file=str(certificates / "good.pem")).post(server.url, {}, b"")

    assert await read(response) == b"safe"


async def test_a_server_without_tls_is_told_from_one_with_it(stage, transport_of):
    async def speak_at_once(reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await reader.read()
        writer.close()

    port = await stage.listen(speak_at_once)

    fault = await fault_of(transport_of().post(f"https://127.0.0.1:{port}/", {}, b""))

    assert (fault.kind, fault.text) == (
        FaultKind.TLS,
        "127.0.0.1 does not speak TLS; does its address begin with http:// instead?",
    )


async def test_a_ca_file_that_is_missing_is_named(transport_of, tmp_path):
    missing = str(tmp_path / "none.pem")

    fault = await fault_of(transport_of(ca_file=missing).post("https://127.0.0.1:1/", {}, b""))

    assert (fault.kind, fault.text) == (
        FaultKind.TLS,
        f"The CA file {missing} cannot be used: No such file or directory.",
    )


async def test_warming_is_quiet_whatever_happens(transport_of, closed_port):
    await transport_of().warm(f"http://127.0.0.1:{closed_port}/")
    await transport_of(ca_file="/nowhere/at/all.pem").warm("https://127.0.0.1:1/")


async def test_an_address_that_is_none_is_a_fault_and_no_crash(transport_of):
    kinds = [(await fault_of(transport_of().post(url, {}, b""))).kind for url in ("nonsense", "http://", "ftp://x/")]

    assert kinds == [FaultKind.INVALID] * 3


@pytest.mark.parametrize("value", ["a\nb: c", "a\x00b", "\u4f60"])
async def test_a_header_that_cannot_be_sent_is_a_fault_that_does_not_show_it(stage, transport_of, value):
    server = await stage.serve(lambda exchange: exchange.reply())

    fault = await fault_of(transport_of().post(server.url, {"x-api-key": value}, b""))

    assert (fault.kind, fault.text) == (
        FaultKind.INVALID,
        "The request cannot be sent: its path or a header holds characters that HTTP does not allow.",
    )
    assert server.requests == []


async def test_a_server_that_never_takes_the_body_is_given_up(stage, transport_of):
    async def never_read(reader, writer):
        writer.transport.pause_reading()
        await asyncio.Event().wait()

    port = await stage.listen(never_read)

    fault = await fault_of(transport_of(stall_s=0.2).post(f"http://127.0.0.1:{port}/", {}, bytes(30_000_000)))

    assert fault.kind is FaultKind.STALLED
