"""The model client against servers that behave, and against those that do not."""

import asyncio
import contextlib
import json

import pytest

from everturn.core.errors import RETRYABLE, FaultKind, ModelFault, OptionError
from everturn.core.stream import (
    BlockStarted,
    BlockStopped,
    MessageChanged,
    MessageStarted,
    MessageStopped,
    Pinged,
    TextAdded,
)
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.credentials import Credentials
from everturn.models.transport.http1_transport import Http1Transport

KEY = "sk-ant-api03-abcdefghijklmnop"
SSE = {"content_type": "text/event-stream; charset=utf-8"}
PAYLOADS = [
    {"type": "message_start", "message": {"id": "msg_1", "model": "m", "usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]
EVENTS = [
    MessageStarted("msg_1", "m", {"input_tokens": 3}),
    BlockStarted(0, b'{"type": "text", "text": ""}'),
    Pinged(),
    TextAdded(0, "hello"),
    BlockStopped(0),
    MessageChanged("end_turn", {}, {"output_tokens": 2}),
    MessageStopped(),
]


def frames(payloads=PAYLOADS):
    return b"".join(b"event: %s\ndata: %s\n\n" % (p["type"].encode(), json.dumps(p).encode()) for p in payloads)


@pytest.fixture
async def model_at(catalog):
    """A model that talks to this address; it is closed at the end."""
    made = []

    def make(url, credentials=None, **options):
        credentials = credentials or Credentials(api_key=KEY)
        transport = Http1Transport(stall_s=5)
        made.append(
            AnthropicModel(transport=transport, catalog=catalog, credentials=credentials, base_url=url, **options)
        )
        return made[-1]

    yield make
    for model in made:
        await model.aclose()


async def events_of(model, request):
    return [event async for event in model.stream(request)]


async def fault_of(model, request):
    with pytest.raises(ModelFault) as caught:
        await events_of(model, request)
    return caught.value


async def test_a_response_is_streamed_as_events(stage, model_at, ask):
    server = await stage.serve(lambda exchange: exchange.reply(200, frames(), **SSE))

    assert await events_of(model_at(f"{server.url}/prefix/"), ask()) == EVENTS

    (seen,) = server.requests
    assert (seen.path, seen.headers["x-api-key"]) == ("/prefix/v1/messages", KEY)
    assert json.loads(seen.body)["stream"] is True


async def test_the_turns_of_a_session_share_one_connection(stage, model_at, ask):
    server = await stage.serve(lambda exchange: exchange.reply(200, frames(), **SSE))
    model = model_at(server.url)

    await model.warm()
    for _ in range(3):
        await events_of(model, ask())

    assert (server.connections, len(server.requests)) == (1, 3)


async def test_the_connection_is_kept_where_the_end_of_the_body_comes_a_little_later(stage, model_at, ask):
    async def answer(exchange):
        await exchange.start(**SSE)
        await exchange.chunk(frames())
        await asyncio.sleep(0)
        await exchange.send(b"0\r\n\r\n")

    server = await stage.serve(answer)
    model = model_at(server.url)

    for _ in range(10):
        async with contextlib.aclosing(model.stream(ask())) as events:
            async for event in events:
                if isinstance(event, MessageStopped):
                    break

    # What a busy machine makes of "a little" is more than anybody waits for, once in a while.
    assert server.connections < 5


async def test_a_response_is_over_with_its_message_though_the_server_goes_on(stage, model_at, ask):
    async def answer(exchange):
        await exchange.start(**SSE)
        await exchange.chunk(frames())
        late = {"type": "error", "error": {"type": "api_error", "message": "late"}}
        await exchange.chunk(frames([late]))
        await exchange.until_gone()

    server = await stage.serve(answer)

    assert await events_of(model_at(server.url), ask()) == EVENTS
    await server.all_gone.wait()


async def test_a_stream_that_is_left_ends_its_connection(stage, model_at, ask):
    async def answer(exchange):
        await exchange.start(**SSE)
        await exchange.chunk(frames(PAYLOADS[:4]))
        await exchange.until_gone()

    server = await stage.serve(answer)
    async with contextlib.aclosing(model_at(server.url).stream(ask())) as events:
        first = await anext(events)

    await server.all_gone.wait()
    assert first == EVENTS[0]


async def test_a_stream_without_end_just_ends(stage, model_at, ask):
    server = await stage.serve(lambda exchange: exchange.reply(200, frames(PAYLOADS[:4]), **SSE))

    assert await events_of(model_at(server.url), ask()) == EVENTS[:4]


@pytest.mark.parametrize("body", [b"", b": only a comment\n\n", frames([{"type": "ping"}])])
async def test_an_answer_without_content_is_worth_another_attempt(stage, model_at, ask, body):
    server = await stage.serve(lambda exchange: exchange.reply(200, body, **SSE))

    fault = await fault_of(model_at(server.url), ask())

    assert (fault.kind, fault.kind in RETRYABLE) == (FaultKind.STREAM_BROKEN, True)


@pytest.mark.parametrize("headers", [{"content_type": "text/html"}, {}])
async def test_a_web_page_is_no_answer_of_an_api(stage, model_at, ask, headers):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"<html>log in to wifi</html>", **headers))

    fault = await fault_of(model_at(server.url), ask())

    assert (fault.kind, fault.text) == (
        FaultKind.NOT_AN_API,
        (
            "The server did not answer as an API, but with a web page (log in to wifi). "
            "Check ANTHROPIC_BASE_URL, and whether this network asks for a login."
        ),
    )


@pytest.mark.parametrize("headers", [{"content_type": "application/json"}, {}])
async def test_a_server_that_does_not_stream_is_understood(stage, model_at, ask, headers):
    message = {
        "id": "msg_1",
        "type": "message",
        "model": "m",
        "content": [{"type": "text", "text": "hello"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3},
    }
    server = await stage.serve(lambda exchange: exchange.reply(200, json.dumps(message).encode(), **headers))

    assert await events_of(model_at(server.url), ask()) == [
        MessageStarted("msg_1", "m", {"input_tokens": 3}),
        BlockStarted(0, b'{"type": "text", "text": "hello"}'),
        BlockStopped(0),
        MessageChanged("end_turn", {}, {"input_tokens": 3}),
        MessageStopped(),
    ]


async def test_a_refusal_is_a_fault_that_never_shows_the_key(stage, model_at, ask):
    def echo(exchange):
        error = {"type": "authentication_error", "message": f"invalid x-api-key: {exchange.headers['x-api-key']}"}
        body = json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()
        return exchange.reply(401, body, content_type="application/json")

    server = await stage.serve(echo)

    fault = await fault_of(model_at(server.url), ask())

    assert (fault.kind, fault.status, fault.request_id) == (FaultKind.AUTHENTICATION, 401, "req_1")
    assert fault.text.startswith("The API refused the request (HTTP 401): invalid x-api-key: [key]. Check ANTHROPIC")
    assert (KEY in str(fault), len(server.requests)) == (False, 1)


async def test_an_error_inside_the_stream_never_shows_the_key_nor_a_secret_header(stage, model_at, ask):
    def echo(exchange):
        said = f"{exchange.headers['authorization']} {exchange.headers['x-gateway-token']}"
        return exchange.reply(200, frames([{"type": "error", "error": {"type": "api_error", "message": said}}]), **SSE)

    server = await stage.serve(echo)
    credentials = Credentials(auth_token="gateway-bearer-7f3a9c1e5b2d")
    model = model_at(server.url, credentials, custom_headers={"x-gateway-token": "Token abcdefgh-999"})

    fault = await fault_of(model, ask())

    assert (fault.kind, fault.text) == (
        FaultKind.SERVER,
        "The stream ended with an error: Bearer [key] [key]",
    )


async def test_a_redirect_never_carries_the_key_elsewhere(stage, model_at, ask):
    elsewhere = await stage.serve(lambda exchange: exchange.reply())
    server = await stage.serve(lambda exchange: exchange.reply(301, location=f"{elsewhere.url}/evil"))

    fault = await fault_of(model_at(server.url), ask())

    assert (fault.kind, "127.0.0.1" in fault.text, elsewhere.connections) == (FaultKind.NOT_AN_API, True, 0)


async def test_a_refused_key_of_a_helper_is_renewed_once(stage, model_at, ask, tmp_path):
    count = tmp_path / "count"

    async def answer(exchange):
        good = exchange.headers["x-api-key"] == "helper-key-2"
        await (exchange.reply(200, frames(), **SSE) if good else exchange.reply(401, b""))

    server = await stage.serve(answer)
    helper = f"echo x >> {count}; echo helper-key-$(wc -l < {count} | tr -d ' ')"
    model = model_at(server.url, Credentials(helper=helper))

    assert await events_of(model, ask()) == EVENTS
    assert [seen.headers["authorization"] for seen in server.requests] == ["Bearer helper-key-1", "Bearer helper-key-2"]


async def test_a_key_of_a_helper_that_stays_refused_is_not_renewed_twice(stage, model_at, ask):
    server = await stage.serve(lambda exchange: exchange.reply(401, b""))

    fault = await fault_of(model_at(server.url, Credentials(helper="echo some-old-key")), ask())

    assert (fault.kind, len(server.requests)) == (FaultKind.AUTHENTICATION, 2)


async def test_without_a_key_nothing_is_sent_to_the_public_api(model_at, ask):
    fault = await fault_of(model_at("https://api.anthropic.com", Credentials()), ask())

    assert (fault.kind, fault.text) == (
        FaultKind.AUTHENTICATION,
        "There is no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.",
    )


async def test_a_server_that_wanted_a_key_is_answered_with_where_to_set_one(stage, model_at, ask):
    server = await stage.serve(lambda exchange: exchange.reply(401, b""))

    fault = await fault_of(model_at(server.url, Credentials()), ask())

    assert fault.text.endswith("(HTTP 401). There is no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.")


async def test_another_server_may_need_no_key(stage, model_at, ask):
    server = await stage.serve(lambda exchange: exchange.reply(200, frames(), **SSE))

    assert await events_of(model_at(server.url, Credentials()), ask()) == EVENTS


async def test_a_wait_that_the_server_asks_for_is_passed_on(stage, model_at, ask):
    server = await stage.serve(lambda exchange: exchange.reply(429, b"", retry_after="2"))

    fault = await fault_of(model_at(server.url), ask())

    assert (fault.kind, fault.retry_after) == (FaultKind.RATE_LIMITED, 2.0)


async def test_a_refusal_that_breaks_off_is_still_told_by_its_status(stage, model_at, ask):
    async def answer(exchange):
        await exchange.start(529)
        await exchange.send(b"ff\r\n{")
        exchange.writer.close()

    server = await stage.serve(answer)

    assert (await fault_of(model_at(server.url), ask())).kind is FaultKind.OVERLOADED


async def test_tokens_are_counted_by_the_api(stage, model_at, ask):
    server = await stage.serve(lambda exchange: exchange.reply(200, b'{"input_tokens": 17}'))

    assert await model_at(server.url).count_tokens(ask()) == 17
    assert (server.requests[0].path, "max_tokens" in json.loads(server.requests[0].body)) == (
        "/v1/messages/count_tokens",
        False,
    )


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((200, b"{}"), FaultKind.NOT_AN_API),
        ((200, b"<html>"), FaultKind.STREAM_BROKEN),
        ((529, b""), FaultKind.OVERLOADED),
    ],
)
async def test_a_count_that_is_none_is_a_fault(stage, model_at, ask, answer, kind):
    server = await stage.serve(lambda exchange: exchange.reply(*answer))

    with pytest.raises(ModelFault) as caught:
        await model_at(server.url).count_tokens(ask())

    assert caught.value.kind is kind


async def test_a_bad_address_is_refused_at_once(model_at):
    with pytest.raises(OptionError) as caught:
        model_at("nonsense")

    assert caught.value.field == "base_url"


@pytest.mark.parametrize(
    "life", [b'event: ping\ndata: {"type": "ping"}\n\n', b": still here\n\n"], ids=["pings", "comments"]
)
async def test_signs_of_life_are_no_answer_for_ever(stage, model_at, ask, life):
    async def only_live(exchange):
        await exchange.start(200, **SSE)
        with contextlib.suppress(ConnectionError):
            while True:
                await exchange.chunk(life)
                await asyncio.sleep(0.01)

    server = await stage.serve(only_live)

    fault = await fault_of(model_at(server.url, first_event_s=0.1), ask())

    assert (fault.kind, fault.answered) == (FaultKind.STALLED, False)
    assert fault.text == "The server sent signs of life, but no answer within 0.1 s."


async def test_pings_in_the_midst_of_an_answer_are_life(stage, model_at, ask):
    async def slowly(exchange):
        await exchange.start(200, **SSE)
        for payload in (PAYLOADS[0], *[PAYLOADS[2]] * 30, *PAYLOADS[1:]):
            await exchange.chunk(frames([payload]))
            await asyncio.sleep(0.01)

    server = await stage.serve(slowly)

    assert (await events_of(model_at(server.url, first_event_s=0.2), ask()))[-1] == MessageStopped()


@pytest.mark.parametrize("says", ["nothing", "a head"])
async def test_a_server_that_falls_silent_before_its_first_word_has_not_answered(stage, catalog, ask, says):
    async def silent(exchange):
        if says == "a head":
            await exchange.start(200, **SSE)
        await exchange.until_gone()

    server = await stage.serve(silent)
    transport = Http1Transport(stall_s=0.1)
    credentials = Credentials(api_key=KEY)
    model = AnthropicModel(transport=transport, catalog=catalog, credentials=credentials, base_url=server.url)

    fault = await fault_of(model, ask())

    await model.aclose()
    assert (fault.kind, fault.reached, fault.answered) == (FaultKind.STALLED, True, False)
