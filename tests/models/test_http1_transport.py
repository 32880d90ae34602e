"""What the default transport does beyond the contract: warming, and connections that died while they waited."""

import asyncio

import pytest

from everturn.core.errors import FaultKind, ModelFault
from everturn.models.transport.http1_transport import Http1Transport


@pytest.fixture
async def transport():
    transport = Http1Transport()
    yield transport
    await transport.aclose()


async def read(response):
    try:
        return b"".join([piece async for piece in response.body()])
    finally:
        await response.aclose()


async def test_a_warm_connection_serves_the_first_request(stage, transport):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"x"))

    await transport.warm(server.url)
    warmed = len(transport._idle)
    await read(await transport.post(f"{server.url}/v1/messages", {}, b""))

    assert (warmed, server.connections) == (1, 1)


async def test_a_request_waits_for_the_connection_that_is_being_opened_for_it(stage, certificates):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"x"), "good")
    transport = Http1Transport(ca_file=str(certificates / "good.pem"))

    async with asyncio.TaskGroup() as group:
        group.create_task(transport.warm(server.url))
        await asyncio.sleep(0)
        await read(await transport.post(server.url, {}, b""))
    await transport.aclose()

    assert server.connections == 1


async def test_a_request_goes_on_by_itself_where_warming_was_cancelled(stage, transport):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"x"))
    warming = asyncio.create_task(transport.warm(server.url))
    await asyncio.sleep(0)
    posting = asyncio.create_task(transport.post(server.url, {}, b""))
    await asyncio.sleep(0)
    warming.cancel()

    assert await read(await posting) == b"x"


async def hang_up_on_the_second(exchange):
    if exchange.number == 2:
        exchange.writer.close()
    else:
        await exchange.reply(200, b"%d" % exchange.number)


async def reset_the_second(exchange):
    if exchange.number == 2:
        exchange.reset()
    else:
        await exchange.reply(200, b"%d" % exchange.number)


@pytest.mark.parametrize("answer", [hang_up_on_the_second, reset_the_second])
async def test_a_kept_connection_that_dies_before_its_first_byte_is_replaced_once(stage, transport, answer):
    server = await stage.serve(answer)

    answers = [await read(await transport.post(server.url, {}, b"")) for _ in range(2)]

    assert (answers, server.connections, len(server.requests)) == ([b"1", b"3"], 2, 3)


async def test_the_replacement_gets_no_second_chance(stage, transport):
    async def answer(exchange):
        if exchange.number == 1:
            await exchange.reply()
        else:
            exchange.writer.close()

    server = await stage.serve(answer)
    await read(await transport.post(server.url, {}, b""))

    with pytest.raises(ModelFault) as caught:
        await transport.post(server.url, {}, b"")

    assert caught.value.kind is FaultKind.CONNECTION
    assert caught.value.text == f"127.0.0.1:{server.port} closed the connection without an answer."
    assert len(server.requests) == 3


async def test_a_kept_connection_that_the_server_closed_is_not_tried_at_all(stage, transport):
    async def answer(exchange):
        await exchange.reply()
        exchange.writer.close()

    server = await stage.serve(answer)
    await read(await transport.post(server.url, {}, b""))
    await server.all_gone.wait()
    (kept,) = next(iter(transport._idle.values()))
    await kept._wire.read(1)
    await read(await transport.post(server.url, {}, b""))

    assert (server.connections, len(server.requests)) == (2, 2)


async def test_a_connection_that_waited_too_long_is_not_used_again(stage):
    server = await stage.serve(lambda exchange: exchange.reply())
    transport = Http1Transport(idle_s=-1)

    for _ in range(2):
        await read(await transport.post(server.url, {}, b""))
    await transport.aclose()

    assert server.connections == 2


async def test_an_answer_that_says_it_closes_is_believed(stage, transport):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"x", connection="close"))

    for _ in range(2):
        await read(await transport.post(server.url, {}, b""))

    assert server.connections == 2


async def test_an_answer_of_http_1_0_ends_with_its_connection(stage, transport):
    async def answer(exchange):
        await exchange.send(b"HTTP/1.0 200 OK\r\n\r\nold but fine")
        exchange.writer.close()

    server = await stage.serve(answer)

    assert await read(await transport.post(server.url, {}, b"")) == b"old but fine"


async def test_a_provisional_answer_is_passed_over(stage, transport):
    async def answer(exchange):
        await exchange.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await exchange.reply(200, b"x")

    server = await stage.serve(answer)
    response = await transport.post(server.url, {}, b"")

    assert (response.status, await read(response)) == (200, b"x")


async def test_closing_the_transport_closes_what_it_kept(stage, transport):
    server = await stage.serve(lambda exchange: exchange.reply())
    await read(await transport.post(server.url, {}, b""))

    await transport.aclose()

    await server.all_gone.wait()


async def test_a_name_that_cannot_be_resolved_is_told_as_such():
    import socket

    from everturn.models.transport.connection import describe_failure

    error = socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    assert describe_failure(error) == "the name cannot be resolved (Name or service not known)"


async def test_a_connection_that_is_warm_only_after_the_end_is_closed(stage, transport):
    server = await stage.serve(lambda exchange: exchange.reply())
    warming = asyncio.create_task(transport.warm(server.url))
    await asyncio.sleep(0)

    await transport.aclose()
    await warming

    assert transport._idle == {}


async def test_a_request_that_waited_for_a_connection_in_vain_does_not_wait_as_long_again():
    accepted = []

    async def say_nothing(reader, writer):
        accepted.append(writer)
        await reader.read()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    transport = Http1Transport(connect_s=0.3)
    warming = asyncio.create_task(transport.warm(url))
    await asyncio.sleep(0)

    with pytest.raises(ModelFault, match=r"No connection to .* within 0.3 s\."):
        await transport.post(url, {}, b"")

    await warming
    await transport.aclose()
    for writer in accepted:
        writer.close()
    server.close()
    assert len(accepted) == 1
