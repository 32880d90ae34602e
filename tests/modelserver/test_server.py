"""The server as such: addresses, connections, the record of requests."""

import asyncio
import json
import socket
import ssl
from pathlib import Path

import pytest

from everturn.modelserver import ModelServer, Received, calls, error, script, text
from everturn.modelserver.rules.lints import Lint

CERTIFICATES = Path(__file__).parent / "certificates"


async def test_requests_are_remembered_without_keys(client, ask):
    body = ask()
    headers = {
        "x-api-key": "sk-secret",
        "Authorization": "Bearer sk-other",
        "anthropic-version": "2023-06-01",
        "X-Note": "a",
    }
    async with ModelServer(["Hello"], clock=lambda: 5.0) as server:
        await client.post(server.url, body, headers=headers, path="/v1/messages?beta=true")
        raw = json.dumps(body).encode()
        assert server.requests == [
            Received(
                number=1,
                at=0.0,
                case="",
                method="POST",
                path="/v1/messages",
                headers={
                    "host": server.url.removeprefix("http://"),
                    "connection": "close",
                    "content-length": str(len(raw)),
                    "x-api-key": "[redacted]",
                    "authorization": "[redacted]",
                    "anthropic-version": "2023-06-01",
                    "x-note": "a",
                },
                raw=raw,
                body=body,
            )
        ]


async def test_the_log_file_has_a_line_for_each_request_and_no_value_of_a_header_with_a_key(client, ask, tmp_path):
    path = tmp_path / "requests.jsonl"
    async with ModelServer(["Hello"], log=path) as server:
        await client.post(server.url, ask("my key is not sk-test"))
        await client.post(server.url, b"no json with a word")
        await client.post(server.url, ask(), headers={"authorization": "Bearer sk-bearer", "anthropic-version": "1"})
    text_of_log = path.read_text("utf-8")
    lines = [json.loads(line) for line in text_of_log.splitlines()]
    assert [(line["number"], line["path"], line["refused"]) for line in lines] == [
        (1, "/v1/messages", None),
        (2, "/v1/messages", "json-valid"),
        (3, "/v1/messages", None),
    ]
    assert lines[0]["body"] == ask("my key is not sk-test")
    assert (lines[0]["headers"]["x-api-key"], lines[2]["headers"]["authorization"]) == ("[redacted]", "[redacted]")
    assert text_of_log.count("sk-test") == 1
    assert "sk-bearer" not in text_of_log


@pytest.mark.parametrize("key", ["role", "e", "1", '"', "null", "messages", "claude"])
async def test_the_log_stays_json_and_the_body_what_it_was_whatever_the_key_is(client, ask, tmp_path, key):
    path = tmp_path / "requests.jsonl"
    async with ModelServer(["Hello"], log=path) as server:
        await client.post(server.url, ask("e 1 null role"), headers={"x-api-key": key})

    assert json.loads(path.read_text("utf-8"))["body"] == ask("e 1 null role")


async def test_neighbours_of_the_same_role_are_noted(client, ask):
    async with ModelServer(["Hello"]) as server:
        await client.post(server.url, ask([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]))
        assert server.requests[0].lints == (
            Lint(id="same-role-twice", message="messages.1: 'user' follows 'user'; the API merges them"),
        )


async def test_one_waits_for_requests_without_polling(client, ask):
    async with ModelServer(cases={"a": ["Hello"], "b": ["Hello"]}) as server:
        waiting = asyncio.create_task(server.wait_for(2, case="a"))
        for case in ("a", "b", "a"):
            await client.post(server.url_of(case), ask(case))
        assert [received.number for received in await waiting] == [1, 3]
        with pytest.raises(TimeoutError):
            await server.wait_for(9, patience=0.01)


async def test_an_unknown_case_is_told(client, ask):
    async with ModelServer(cases={"a": ["Hello"]}) as server:
        reply = await client.post(f"{server.url}/b", ask())
    assert reply.status == 404
    assert reply.json["error"] == {
        "type": "not_found_error",
        "message": "There is no case 'b' here: the base URL ends in the id of a case.",
    }


async def test_a_script_and_cases_live_under_one_address(client, ask):
    async with ModelServer(["root"], cases={"a b": ["case"]}) as server:
        root = await client.post(server.url, ask())
        case = await client.post(f"{server.url}/a%20b", ask())
    assert [reply.json["content"][0]["text"] for reply in (root, case)] == ["root", "case"]


async def request(reader, writer, body: dict, *, more: str = "") -> bytes:
    data = json.dumps(body).encode()
    head = f"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\nanthropic-version: 1\r\n{more}content-length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in answer.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    return await reader.readexactly(length)


async def connect(server: ModelServer, tls: ssl.SSLContext | None = None):
    return await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]), ssl=tls)


async def test_a_connection_serves_many_requests(ask):
    async with ModelServer(["one", "two"]) as server:
        reader, writer = await connect(server)
        answers = [json.loads(await request(reader, writer, ask())) for _ in range(2)]
        writer.close()
        await writer.wait_closed()
    assert [answer["content"][0]["text"] for answer in answers] == ["one", "two"]


async def test_a_stream_leaves_the_connection_open(ask):
    async with ModelServer(["one", "two"]) as server:
        reader, writer = await connect(server)
        data = json.dumps(ask(stream=True)).encode()
        writer.write(
            b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\nanthropic-version: 1\r\ncontent-length: %d\r\n\r\n"
            % len(data)
            + data
        )
        await reader.readuntil(b"\r\n0\r\n\r\n")
        assert json.loads(await request(reader, writer, ask()))["content"][0]["text"] == "two"
        writer.close()
        await writer.wait_closed()


async def test_a_request_in_chunks_and_with_expectations_is_read(ask):
    async with ModelServer(["Hello"]) as server:
        reader, writer = await connect(server)
        writer.write(
            b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\nanthropic-version: 1\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        data = json.dumps(ask()).encode()
        writer.write(b"5\r\n" + data[:5] + b"\r\n%x\r\n" % len(data[5:]) + data[5:] + b"\r\n0\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        writer.close()
        await writer.wait_closed()
        assert server.requests[0].raw == data


async def test_what_is_not_http_is_hung_up_on(client):
    async with ModelServer(["Hello"]) as server:
        reader, writer = await connect(server)
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
        assert server.requests == []


async def test_repeated_headers_are_joined(ask):
    async with ModelServer(["Hello"]) as server:
        reader, writer = await connect(server)
        await request(reader, writer, ask(), more="anthropic-beta: a\r\nanthropic-beta: b\r\n")
        writer.close()
        await writer.wait_closed()
        assert server.requests[0].headers["anthropic-beta"] == "a, b"


async def test_head_gets_no_body(client):
    async with ModelServer(["Hello"]) as server:
        reply = await client.send(server.url, "HEAD", "/v1/messages", b"", {})
    assert (reply.status, reply.body) == (405, b"")


async def test_https_is_served(ask, trusting):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATES / "localhost.pem", CERTIFICATES / "localhost.key")
    async with ModelServer(["Hello"], tls=tls) as server:
        assert server.url.startswith("https://127.0.0.1:")
        reader, writer = await connect(server, trusting)
        answer = json.loads(await request(reader, writer, ask()))
        writer.close()
        await writer.wait_closed()
    assert answer["content"] == [{"type": "text", "text": "Hello"}]


async def test_a_certificate_that_is_not_trusted_is_refused_by_the_client():
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATES / "localhost.pem", CERTIFICATES / "localhost.key")
    async with ModelServer(["Hello"], tls=tls) as server:
        with pytest.raises(ssl.SSLCertVerificationError):
            await connect(server, ssl.create_default_context())


async def test_models_are_listed_page_by_page(client):
    async with ModelServer(["Hello"]) as server:
        everything = (await client.get(server.url, "/v1/models")).json
        first = (await client.get(server.url, "/v1/models?limit=2")).json
        second = (await client.get(server.url, f"/v1/models?limit=2&after_id={first['last_id']}")).json
    ids = [model["id"] for model in everything["data"]]
    assert (everything["has_more"], everything["first_id"], everything["last_id"]) == (False, ids[0], ids[-1])
    assert [model["id"] for model in first["data"] + second["data"]] == ids[:4]
    assert first["has_more"]


async def test_models_are_listed_backwards_too(client):
    async with ModelServer(["Hello"]) as server:
        ids = [model["id"] for model in (await client.get(server.url, "/v1/models")).json["data"]]
        before = (await client.get(server.url, f"/v1/models?limit=2&before_id={ids[5]}")).json
        first = (await client.get(server.url, f"/v1/models?limit=3&before_id={ids[3]}")).json
    assert ([model["id"] for model in before["data"]], before["has_more"]) == (ids[3:5], True)
    assert ([model["id"] for model in first["data"]], first["has_more"]) == (ids[:3], False)


async def test_one_model_is_described_by_its_alias_too(client):
    async with ModelServer(["Hello"]) as server:
        reply = await client.get(server.url, "/v1/models/claude-haiku-4-5")
        missing = await client.get(server.url, "/v1/models/nobody")
    assert (reply.json["id"], reply.json["max_input_tokens"], reply.json["max_tokens"]) == (
        "claude-haiku-4-5-20251001",
        200_000,
        64_000,
    )
    assert reply.json["capabilities"]["thinking"]["types"]["adaptive"] == {"supported": False}
    assert (missing.status, missing.json["error"]["message"]) == (404, "model: nobody")


async def test_many_clients_are_served_at_once(client, ask):
    async with ModelServer(script(text("Hello", gap_ms=1, chunk=1), calls(("Read", {})))) as server:
        replies = await asyncio.gather(*(client.post(server.url, ask(stream=True)) for _ in range(20)))
        assert [reply.kinds[-1] for reply in replies] == ["message_stop"] * 20
        assert len({reply.headers["request-id"] for reply in replies}) == 20


async def test_a_server_ends_while_clients_are_connected(client, ask):
    server = ModelServer([text("Hello", delay_ms=60_000)])
    async with server:
        pending = asyncio.create_task(client.post(server.url, ask()))
        await server.wait_for(1)
    assert (await pending).ended in {"closed", "reset"}


@pytest.mark.parametrize("answer", [error(29), error(500, headers={"a b": "c"}), text("Hello", headers={"a": "b\nc"})])
async def test_an_answer_that_http_cannot_carry_is_told(answer, client, ask):
    async with ModelServer([answer]) as server:
        reply = await client.post(server.url, ask())
    assert reply.status == 500
    assert reply.json["error"]["message"].startswith("The scripted answer cannot be sent: ")


async def test_a_request_too_deep_for_the_log_is_logged_as_text(client, tmp_path):
    body = b'{"strange": ' + b"[" * 900 + b"]" * 900 + b"}"
    async with ModelServer(["Hello"], log=tmp_path / "log.jsonl") as server:
        reply = await client.post(server.url, body)
    assert reply.status == 400
    assert json.loads((tmp_path / "log.jsonl").read_text("utf-8"))["method"] == "POST"


async def test_a_server_that_runs_for_days_can_forget(client, ask):
    async with ModelServer(["Hello"], remember=False) as server:
        replies = [await client.post(server.url, ask()) for _ in range(2)]
        assert server.requests == []
    assert replies[0].json["id"] != replies[1].json["id"]


@pytest.mark.parametrize("closed", [False, True])
async def test_a_client_that_comes_in_while_it_closes_is_sent_away(closed):
    """Python waits for every client before a server counts as closed (since 3.12): one that nobody serves would hold it."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    async with ModelServer(["Hello"]) as server:
        if not closed:
            server._accept(reader, writer)
    if closed:
        server._accept(reader, writer)
    assert writer.transport.is_closing()
    theirs.close()
