"""Servers over streamable HTTP, in both eras: sessions, streams that break off, redirects, refusals."""

import asyncio
import json

import pytest
from tests.mcp.conftest import PATIENCE_S, text_of
from tests.mcp.http_scripts import HELLO, Script, event, result_of, words

from everturn.mcp.faults import NeedsAuthorisation, ProtocolFault, RequestRefused, ServerGone, ServerTimeout
from everturn.mcp.message_lines import MAX_MESSAGE
from everturn.mcp.servers import HttpServer

STREAM = {"content_type": "text/event-stream"}


@pytest.fixture
def meet(stage, connect_to):
    """A client of a scripted server; the server comes with it."""

    async def make(script, *, path="/mcp", wishes=None, **fields):
        server = await stage.serve(script)
        given = {"start_timeout_s": PATIENCE_S, "call_timeout_s": PATIENCE_S, **fields}
        return connect_to(HttpServer(name="web", url=f"{server.url}{path}", **given), **(wishes or {})), server

    return make


def requests_of(server, method):
    return [seen for seen in server.requests if seen.body and json.loads(seen.body).get("method") == method]


async def test_a_session_is_named_in_each_request_and_ended(meet):
    script = Script()
    client, server = await meet(script, headers={"X-Team": "blue"})

    await client.call_tool("a")
    await client.aclose()

    assert script.heard[:3] == ["server/discover", "initialize", "notifications/initialized"]
    (called,) = requests_of(server, "tools/call")
    named = ("mcp-session-id", "mcp-protocol-version", "x-team", "accept")
    assert [called.headers[name] for name in named] == [
        "s1",
        "2025-11-25",
        "blue",
        "application/json, text/event-stream",
    ]
    (begun,) = requests_of(server, "initialize")
    assert {"mcp-session-id", "mcp-protocol-version"}.isdisjoint(begun.headers)
    assert (server.requests[-1].method, server.requests[-1].headers["mcp-session-id"]) == ("DELETE", "s1")


async def test_no_request_overtakes_the_word_that_the_client_is_ready(meet):
    ready = asyncio.Event()

    async def be_slow(exchange, message):
        await asyncio.sleep(0.1)
        ready.set()
        await exchange.reply(202)

    async def call(exchange, message):
        await script.answer(exchange, message, words(str(ready.is_set())))

    script = Script(**{"notifications/initialized": be_slow, "tools/call": call})
    client, _ = await meet(script)

    assert text_of(await client.call_tool("a")) == "True"


async def test_the_stateless_era_has_no_session_and_says_in_headers_what_a_request_is_about(meet):
    script = Script(stateless=True)
    client, server = await meet(script)

    await client.call_tool("größe")
    await client.call_tool("plain-name")
    await client.aclose()

    assert script.heard == ["server/discover", "tools/call", "tools/call"]
    first, second = requests_of(server, "tools/call")
    assert first.headers["mcp-protocol-version"] == "2026-07-28"
    assert first.headers["mcp-method"] == "tools/call"
    assert (first.headers["mcp-name"], second.headers["mcp-name"]) == ("=?base64?Z3LDtsOfZQ==?=", "plain-name")
    assert "mcp-session-id" not in first.headers
    meta = json.loads(first.body)["params"]["_meta"]
    assert meta == {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "everturn", "version": "1.2.3"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    }


async def test_a_server_that_has_left_the_session_era_is_asked_anew_though_it_was_known(meet):
    async def refuse(exchange, message):
        error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32022, "message": "Unsupported version"}}
        await exchange.reply(400, json.dumps(error).encode(), content_type="application/json")

    client, _ = await meet(Script(stateless=True, initialize=refuse), protocol_version="2025-11-25")

    assert (await client.connect()).protocol_version == "2026-07-28"


async def test_an_answer_that_breaks_off_is_fetched_from_its_last_event_on(meet):
    async def begin(exchange, message):
        asked.append(message)
        await exchange.start(**STREAM)
        await exchange.chunk(event(id="e7", retry=1))
        await exchange.send(b"0\r\n\r\n")

    async def go_on(exchange, message):
        if exchange.headers.get("last-event-id") != "e7":
            await exchange.reply(405)
            return
        await exchange.start(**STREAM)
        await exchange.chunk(event(result_of(asked[0], words("whole")), id="e8"))
        await exchange.send(b"0\r\n\r\n")

    asked = []
    client, server = await meet(Script(**{"tools/call": begin, "GET": go_on}))

    assert text_of(await client.call_tool("a")) == "whole"
    assert len(requests_of(server, "tools/call")) == 1


async def test_an_answer_that_breaks_off_without_a_way_back_is_a_fault_and_nothing_is_repeated(meet):
    async def begin(exchange, message):
        await exchange.start(**STREAM)
        await exchange.chunk(b": nothing yet\n\n")
        exchange.reset()

    client, server = await meet(Script(**{"tools/call": begin}))

    with pytest.raises(ServerGone) as caught:
        await client.call_tool("a")

    assert caught.value.text == 'The MCP server "web" ended its answer to tools/call without a result.'
    assert len(requests_of(server, "tools/call")) == 1


async def test_an_answer_that_is_not_resumed_for_ever_ends(meet):
    async def begin(exchange, message):
        await exchange.start(**STREAM)
        await exchange.chunk(event(id="e1", retry=1))
        await exchange.send(b"0\r\n\r\n")

    async def give_nothing(exchange, message):
        await exchange.reply(503)

    client, server = await meet(Script(**{"tools/call": begin, "GET": give_nothing}))

    with pytest.raises(ServerGone):
        await client.call_tool("a")

    assert len([seen for seen in server.requests if seen.headers.get("last-event-id") == "e1"]) == 5


async def test_questions_and_progress_come_in_the_stream_of_the_call(meet):
    answers = []
    answered = asyncio.Event()

    async def call(exchange, message):
        await exchange.start(**STREAM)
        token = message["params"]["_meta"]["progressToken"]
        progress = {"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}
        await exchange.chunk(event({"jsonrpc": "2.0", **progress}))
        await exchange.chunk(event({"jsonrpc": "2.0", "id": "q", "method": "ping"}))
        await answered.wait()
        await exchange.chunk(event(result_of(message, words("done"))))
        await exchange.send(b"0\r\n\r\n")

    async def note(exchange, message):
        answers.append(message)
        answered.set()
        await exchange.reply(202)

    told = []
    client, _ = await meet(Script(**{"tools/call": call, "an answer": note}))

    assert text_of(await client.call_tool("a", progress=told.append)) == "done"
    assert [progress.progress for progress in told] == [1]
    assert answers == [{"jsonrpc": "2.0", "id": "q", "result": {}}]


async def test_a_stream_that_stays_open_after_its_answer_holds_nobody_up(meet):
    async def call(exchange, message):
        await exchange.start(**STREAM)
        await exchange.chunk(event(result_of(message, words("done"))))
        await exchange.until_gone()

    client, _ = await meet(Script(**{"tools/call": call}))

    assert text_of(await client.call_tool("a")) == "done"


async def test_a_session_that_the_server_has_forgotten_is_begun_again_and_the_request_with_it(meet):
    async def call(exchange, message):
        if exchange.headers["mcp-session-id"] == "s1":
            script.session = "s2"
            await exchange.reply(404)
        else:
            await script.answer(exchange, message, words(exchange.headers["mcp-session-id"]))

    script = Script(**{"tools/call": call})
    client, _ = await meet(script)

    assert text_of(await client.call_tool("a")) == "s2"


async def test_a_change_is_told_over_the_stream_that_nobody_asked_for(meet):
    changed = asyncio.Event()

    async def listen(exchange, message):
        await exchange.start(**STREAM)
        await exchange.chunk(event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        await exchange.until_gone()

    client, _ = await meet(Script(GET=listen), wishes={"on_change": lambda _: changed.set()})
    await client.connect()

    async with asyncio.timeout(PATIENCE_S):
        await changed.wait()


@pytest.mark.parametrize("target", ["http://10.0.0.1/mcp?token=abc", "https://169.254.169.254/latest", "//127.0.0.2/x"])
async def test_a_redirect_to_another_host_is_not_followed(meet, target):
    client, server = await meet(lambda exchange: exchange.reply(307, location=target))

    with pytest.raises(ProtocolFault) as caught:
        await client.connect()

    assert "Redirects to another host are not followed" in caught.value.text
    assert "token" not in caught.value.text
    assert len(server.requests) == 1


async def test_a_redirect_within_the_host_is_followed_with_method_and_body(meet):
    script = Script()

    async def answer(exchange):
        await (script(exchange) if exchange.path == "/mcp/" else exchange.reply(307, location="/mcp/"))

    client, _ = await meet(answer)

    assert text_of(await client.call_tool("a")) == "a"


@pytest.mark.parametrize(("status", "location"), [(302, "/other"), (307, "/mcp")])
async def test_a_redirect_that_loses_the_request_or_never_ends_is_a_fault(meet, status, location):
    client, _ = await meet(lambda exchange: exchange.reply(status, location=location))

    with pytest.raises(ProtocolFault):
        await client.connect()


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, 'The MCP server "web" wants a login. `everturn mcp login web` does it.'),
        (
            {"Authorization": "Bearer secret"},
            'The MCP server "web" refuses the credentials that its entry in the configuration declares.',
        ),
    ],
)
async def test_a_server_that_wants_a_login_says_what_to_do(meet, headers, said):
    client, _ = await meet(lambda exchange: exchange.reply(401), headers=headers)

    with pytest.raises(NeedsAuthorisation) as caught:
        await client.connect()

    assert caught.value.text == said


async def test_an_error_of_the_web_is_quoted(meet):
    async def fail(exchange, message):
        await exchange.reply(502, b"<h1>Bad\n gateway</h1>", content_type="text/html")

    client, _ = await meet(Script(**{"tools/call": fail}))

    with pytest.raises(RequestRefused) as caught:
        await client.call_tool("a")

    assert caught.value.text == 'The MCP server "web" answered with HTTP 502: <h1>Bad gateway</h1>'


async def test_an_error_of_the_protocol_in_an_error_of_the_web_is_told_as_such(meet):
    async def refuse(exchange, message):
        error = {"jsonrpc": "2.0", "error": {"code": -32602, "message": "no such thing", "data": {"a": 1}}}
        await exchange.reply(400, json.dumps(error).encode(), content_type="application/json")

    client, _ = await meet(Script(**{"tools/call": refuse}))

    with pytest.raises(RequestRefused) as caught:
        await client.call_tool("a")

    assert (caught.value.code, caught.value.data) == (-32602, {"a": 1})


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_an_answer_that_is_too_large_is_not_read_to_its_end(meet, kind):
    async def flood(exchange, message):
        await exchange.start(content_type=kind)
        await exchange.chunk(b'data: {"jsonrpc"')
        for _ in range(MAX_MESSAGE // 1_000_000 + 1):
            await exchange.chunk(b"x" * 1_000_000)
        await exchange.until_gone()

    client, _ = await meet(Script(**{"tools/call": flood}))

    with pytest.raises(ProtocolFault) as caught:
        await client.call_tool("a")

    assert "64 MB" in caught.value.text


async def test_a_request_that_is_taken_for_a_notification_is_a_fault(meet):
    async def accept(exchange, message):
        await exchange.reply(202)

    client, _ = await meet(Script(**{"tools/call": accept}))

    with pytest.raises(ProtocolFault):
        await client.call_tool("a")


async def test_a_call_that_is_given_up_is_withdrawn_in_the_session_era(meet):
    withdrawn = asyncio.Event()

    async def hang(exchange, message):
        await exchange.until_gone()

    async def note(exchange, message):
        withdrawn.set()
        await exchange.reply(202)

    client, _ = await meet(Script(**{"tools/call": hang, "notifications/cancelled": note}))

    with pytest.raises(ServerTimeout):
        await client.call_tool("a", timeout_s=0.2)

    async with asyncio.timeout(PATIENCE_S):
        await withdrawn.wait()


async def test_a_call_that_is_given_up_is_hung_up_on_in_the_stateless_era(meet):
    gone = asyncio.Event()

    async def hang(exchange, message):
        await exchange.until_gone()
        gone.set()

    script = Script(stateless=True, **{"tools/call": hang})
    client, _ = await meet(script)

    with pytest.raises(ServerTimeout):
        await client.call_tool("a", timeout_s=0.2)

    async with asyncio.timeout(PATIENCE_S):
        await gone.wait()
    assert "notifications/cancelled" not in script.heard


async def test_nobody_at_the_address_is_told_as_such(connect_to):
    with pytest.raises(ServerGone) as caught:
        await connect_to(HttpServer(name="web", url="http://127.0.0.1:9/mcp")).connect()

    assert caught.value.text == (
        'The MCP server "web" cannot be reached: No connection to 127.0.0.1:9: connection refused.'
    )


async def test_an_answer_in_two_events_or_with_foreign_events_is_read(meet):
    async def call(exchange, message):
        text = json.dumps(result_of(message, words("done")))
        half = text.index(",") + 1
        await exchange.start(**STREAM)
        await exchange.chunk(b"event: noise\ndata: x\n\n: a comment\r\n\r\n")
        await exchange.chunk(f"data: {text[:half]}\r\ndata: {text[half:]}\r\n\r".encode())
        await exchange.chunk(b"\n")
        await exchange.send(b"0\r\n\r\n")

    client, _ = await meet(Script(**{"tools/call": call}))

    assert text_of(await client.call_tool("a")) == "done"


class OldServer:
    """The older transport: a stream at /sse, messages at /messages."""

    def __init__(self, endpoint="/messages?session=1"):
        self.endpoint = endpoint
        self.streams = []
        self.heard = []

    async def __call__(self, exchange):
        if exchange.method == "GET":
            self.streams.append(exchange)
            await exchange.start(**STREAM)
            await exchange.chunk(f"event: endpoint\ndata: {self.endpoint}\n\n".encode())
            await exchange.until_gone()
            return
        message = json.loads(exchange.body)
        self.heard.append(message["method"])
        await exchange.reply(202)
        if "id" in message:
            result = HELLO if message["method"] == "initialize" else words("old")
            await self.streams[-1].chunk(event(result_of(message, result)))


async def test_the_older_transport_answers_over_its_stream(meet):
    server = OldServer()
    client, _ = await meet(server, path="/sse", kind="sse")

    assert text_of(await client.call_tool("a")) == "old"
    assert server.heard == ["initialize", "notifications/initialized", "tools/call"]


async def test_messages_are_not_sent_to_another_host(meet):
    client, _ = await meet(OldServer("http://10.0.0.1/messages"), path="/sse", kind="sse")

    with pytest.raises(ProtocolFault) as caught:
        await client.connect()

    assert caught.value.text == ('The MCP server "web" wants its messages at http://10.0.0.1, which is another host.')


async def test_a_stream_that_ends_is_begun_again(meet):
    back = asyncio.Event()
    server = OldServer()
    client, _ = await meet(
        server, path="/sse", kind="sse", wishes={"on_state": lambda fault: fault is None and back.set()}
    )
    await client.connect()

    server.streams[0].writer.close()
    async with asyncio.timeout(PATIENCE_S):
        await back.wait()

    assert text_of(await client.call_tool("a")) == "old"
    assert len(server.streams) == 2


async def test_an_address_without_a_stream_is_a_fault(meet):
    client, _ = await meet(Script(), path="/sse", kind="sse")

    with pytest.raises(RequestRefused) as caught:
        await client.connect()

    assert caught.value.text == 'The MCP server "web" answered with HTTP 405.'
