"""Answers that go wrong: cut, silent, broken, held."""

import asyncio

import pytest

from everturn.modelserver import (
    ModelServer,
    broken,
    calls,
    closed,
    cut,
    garbage,
    hold,
    reset,
    say,
    stall,
    text,
    thinking,
)

FIRST_DELTA = ["message_start", "content_block_start", "ping", "content_block_delta"]


async def stream(client, ask, answer, **options):
    async with ModelServer([answer]) as server:
        return await client.post(server.url, ask(stream=True), **options)


@pytest.mark.parametrize(("how", "ended"), [("eof", "closed"), ("rst", "reset")])
async def test_a_stream_is_cut_after_its_first_piece(how, ended, client, ask):
    reply = await stream(client, ask, cut(text("Hello there", chunk=5), how=how))
    assert (reply.kinds, reply.ended) == (FIRST_DELTA, ended)
    assert not reply.raw.endswith(b"0\r\n\r\n")


async def test_a_clean_cut_ends_the_body_and_nothing_else(client, ask):
    reply = await stream(client, ask, cut(text("Hello there", chunk=5), how="clean"))
    assert (reply.kinds, reply.ended) == (FIRST_DELTA, "closed")
    assert reply.raw.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("after", [0, 1, 3, 6])
async def test_a_stream_is_cut_after_so_many_events(after, client, ask):
    reply = await stream(client, ask, cut("Hello", after=after))
    assert reply.status == 200
    assert len(reply.kinds) == after


@pytest.mark.parametrize("size", [0, 1, 100, 777])
async def test_a_stream_is_cut_after_so_many_bytes(size, client, ask):
    reply = await stream(client, ask, cut("Hello " * 20, after_bytes=size, how="rst"))
    assert (len(reply.body), reply.ended) == (size, "reset")


async def test_a_cut_after_the_first_piece_of_a_call_skips_the_empty_one(client, ask):
    reply = await stream(client, ask, cut(calls(("Read", {"file_path": "/a/b/c/d/e/f"}), chunk=5)))
    assert reply.events[-1]["delta"] == {"type": "input_json_delta", "partial_json": '{"fil'}


async def test_a_stream_falls_silent(client, ask):
    reply = await stream(client, ask, stall("Hello"), size=600)
    assert (reply.kinds, reply.ended) == (FIRST_DELTA, "silence")


async def test_a_server_that_never_answers(client, ask):
    reply = await stream(client, ask, stall(), size=0)
    assert (reply.raw, reply.ended) == (b"", "silence")


async def test_an_error_comes_in_mid_stream(client, ask):
    reply = await stream(client, ask, broken("Hello", kind="api_error", message="Oh."))
    assert reply.kinds == [*FIRST_DELTA, "error"]
    assert reply.events[-1] == {"type": "error", "error": {"type": "api_error", "message": "Oh."}}


WHOLE = {
    "cut": (cut("Hello " * 50), "closed"),
    "reset": (cut("Hello " * 50, how="rst"), "reset"),
    "silent": (stall("Hello " * 50), "silence"),
}


@pytest.mark.parametrize("name", WHOLE)
async def test_an_answer_that_does_not_stream_ends_halfway(name, client, ask):
    answer, ended = WHOLE[name]
    async with ModelServer([answer]) as server:
        reply = await client.post(server.url, ask(), size=300)
    assert reply.ended == ended
    assert len(reply.body) == int(reply.headers["content-length"]) // 2


async def test_an_error_in_mid_stream_is_a_plain_error_when_nothing_streams(client, ask):
    async with ModelServer([broken("Hello")]) as server:
        reply = await client.post(server.url, ask())
    assert (reply.status, reply.json["error"]["type"]) == (529, "overloaded_error")


@pytest.mark.parametrize(
    ("answer", "raw", "ended"), [(reset(), False, "reset"), (closed(), False, "closed"), (garbage(), True, "closed")]
)
async def test_there_is_no_answer_at_all(answer, raw, ended, client, ask):
    reply = await stream(client, ask, answer)
    assert (bool(reply.raw), reply.ended, reply.status) == (raw, ended, 0)


async def test_an_answer_is_held_until_the_test_lets_it_go(client, ask):
    async with ModelServer([hold(text("Hello there", chunk=5), gate="second piece")]) as server:
        reading = asyncio.create_task(client.post(server.url, ask(stream=True)))
        await server.wait_for(1)
        assert not reading.done()
        server.release("second piece")
        assert (await reading).kinds[-1] == "message_stop"


async def test_an_answer_is_let_through_piece_by_piece(client, ask):
    async with ModelServer([hold(text("Hello there you all!", chunk=5), each=True)]) as server:
        first = await client.post(server.url, ask(stream=True), size=1)
        await server.wait_for_hangups()
        server.release(pieces=2)
        third = await client.post(server.url, ask(stream=True), size=1)
        server.release()
        whole = await client.post(server.url, ask(stream=True))
    assert [reply.kinds.count("content_block_delta") for reply in (first, third, whole)] == [1, 3, 4]


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_is_held_before_its_first_byte(stream, client, ask):
    async with ModelServer([hold("Hello", after=-1)]) as server:
        silent = await client.post(server.url, ask(stream=stream), size=0)
        await server.wait_for_hangups()
        server.release()
        loud = await client.post(server.url, ask(stream=stream))
    assert (silent.ended, loud.status) == ("silence", 200)


async def test_a_client_that_leaves_is_noticed(client, ask):
    async with ModelServer([stall("Hello")]) as server:
        await client.post(server.url, ask(stream=True), enough=100)
        await server.wait_for_hangups(1)
        assert server.hangups == 1


async def test_pauses_are_scaled(client, ask):
    answer = text("Hello there", chunk=1, delay_ms=60_000, gap_ms=60_000)
    async with ModelServer([answer], time_scale=0.00001) as server, asyncio.timeout(60):
        reply = await client.post(server.url, ask(stream=True))
    assert reply.kinds.count("content_block_delta") == 11


async def test_a_cut_can_fall_between_thinking_and_its_signature(client, ask):
    reply = await stream(client, ask, cut(say(thinking("Hm."), "Hello")))
    assert reply.events[-1]["delta"] == {"type": "thinking_delta", "thinking": "Hm."}
