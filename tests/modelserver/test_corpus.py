"""The fault corpus, played case by case: the bytes on the wire are what the case says."""

import email.utils
import gzip
import json
import re
import time
import zlib
from pathlib import Path

import pytest

from everturn.modelserver import ModelServer, load_cases, parse_cases

CORPUS = Path(__file__).parent.parent / "corpora" / "model_faults.jsonl"
CASES = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
SCRIPTS = load_cases(CORPUS)
QUICK = 0.001


def expected_body(response: dict, key: str) -> bytes:
    eol = response.get("eol", "\n")
    body = b""
    for item in response.get("sse", []):
        if "raw" in item:
            body += item["raw"].replace("\n", eol).encode("utf-8", "surrogatepass")
        elif "raw_hex" in item:
            body += bytes.fromhex(item["raw_hex"])
        elif "event" in item:
            body += f"event: {item['event']}{eol}data: {json.dumps(item['data'])}{eol}{eol}".encode()
    if "json" in response:
        body += json.dumps(response["json"]).replace("{APIKEY}", key).encode()
    return body + response.get("body", "").encode()


def expected_headers(response: dict) -> dict[str, str]:
    kind = (
        {"content-type": "text/event-stream"}
        if "sse" in response
        else {"content-type": "application/json"}
        if "json" in response
        else {}
    )
    return {**kind, **response.get("headers", {}), "connection": "close"}


def rendered_head(response: dict) -> bytes:
    lines = ["HTTP/1.1 200 OK", *(f"{name}: {value}" for name, value in expected_headers(response).items())]
    return "\r\n".join([*lines, "", ""]).encode()


def check_headers(found: dict[str, str], wanted: dict[str, str]) -> None:
    found = dict(found)
    for name, value in wanted.items():
        offset = re.fullmatch(r"\{date\+(\d+)\}", value)
        if offset:
            due = email.utils.parsedate_to_datetime(found.pop(name)).timestamp()
            assert abs(due - time.time() - int(offset[1])) < 5
        else:
            assert found.pop(name) == value
    assert found == {}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
async def test_each_response_of_a_case_is_played_to_the_byte(case, client, ask):
    async with ModelServer(cases={case["id"]: SCRIPTS[case["id"]]}, time_scale=QUICK) as server:
        for response in case["responses"]:
            if "bomb_bytes" in response:
                await check_bomb(server.url_of(case["id"]), client, ask, response)
                continue
            wanted = b"" if "transport" in response else expected_body(response, "sk-test")
            stalls = "stall" in {response.get("transport"), response.get("end")}
            head = b"" if "transport" in response else rendered_head(response)
            size = len(head + wanted) if stalls else None
            reply = await client.post(server.url_of(case["id"]), ask(model="m"), size=size)
            assert reply.ended == ending(response)
            if response.get("transport") == "garbage":
                assert reply.raw
                assert not reply.raw.startswith(b"HTTP")
            elif "transport" in response:
                assert reply.raw == b""
            else:
                assert reply.raw.startswith(f"HTTP/1.1 {response['status']} ".encode())
                check_headers(reply.headers, expected_headers(response))
                assert reply.body == wanted


def ending(response: dict) -> str:
    transport = response.get("transport", "")
    if transport == "stall" or response.get("end") == "stall":
        return "silence"
    if transport in {"rst", "refuse"} or transport.startswith(("dns", "tls")) or response.get("end") == "rst":
        return "reset"
    return "closed"


async def check_bomb(url, client, ask, response):
    """The first megabytes are enough."""
    reply = await client.post(url, ask(model="m"), enough=20_000)
    assert reply.headers == {**expected_headers(response), "content-encoding": "gzip"}
    beginning = zlib.decompressobj(31).decompress(reply.body)
    assert len(beginning) > 5 << 20
    assert set(beginning.split(b"\n")[:-1]) == {b": " + b"0" * (1 << 20)}


def test_the_corpus_is_whole():
    assert len(CASES) == 111


async def test_the_last_response_of_a_case_repeats(client, ask):
    case = next(case for case in CASES if case["id"] == "fault-http-500-forever")
    async with ModelServer(cases=SCRIPTS) as server:
        replies = [await client.post(server.url_of(case["id"]), ask()) for _ in range(3)]
        assert [reply.status for reply in replies] == [500, 500, 500]


async def test_cases_under_one_address_are_independent(client, ask):
    async with ModelServer(cases=SCRIPTS) as server:
        first = await client.post(server.url_of("fault-http-500"), ask())
        other = await client.post(server.url_of("fault-http-503"), ask())
        again = await client.post(server.url_of("fault-http-500"), ask())
        assert [reply.status for reply in (first, other, again)] == [500, 503, 200]
        assert [len(server.asked(case)) for case in ("fault-http-500", "fault-http-503")] == [2, 1]


async def test_a_zipped_stream_can_be_unzipped(client, ask):
    lines = [
        {"id": "a", "responses": [{"status": 200, "gzip": True, "sse": [{"raw": "event: ping\n"}, {"raw": "\n"}]}]},
        {"id": "b", "responses": [{"transport": "eof"}]},
    ]
    async with playing(lines) as server:
        reply = await client.post(server.url_of("a"), ask())
        assert reply.headers["content-encoding"] == "gzip"
        assert gzip.decompress(reply.body) == b"event: ping\n\n"


def playing(lines: list[dict]) -> ModelServer:
    return ModelServer(cases=parse_cases("\n".join(json.dumps(line) for line in lines)), time_scale=QUICK)


async def test_items_repeat_with_their_number_and_long_texts_are_made_up(client, ask):
    items = [
        {"repeat": 2, "items": [{"event": "ping", "data": {"n": "{i}", "text": "round {i}"}}, {"raw": ": {i}\n\n"}]},
        {"repeat_text": 5},
        {"sleep_ms": 1},
    ]
    async with playing(
        [{"id": "a", "responses": [{"sse": items}]}, {"id": "b", "responses": [{"transport": "rst"}]}]
    ) as server:
        reply = await client.post(server.url_of("a"), ask())
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "xxxxx"}}
    assert reply.body == (
        b'event: ping\ndata: {"n": 0, "text": "round 0"}\n\n: 0\n\n'
        b'event: ping\ndata: {"n": 1, "text": "round 1"}\n\n: 1\n\n'
        b"event: content_block_delta\ndata: " + json.dumps(delta).encode() + b"\n\n"
    )


async def test_small_chunks_and_the_key_are_played(client, ask):
    responses = [{"status": 401, "json": {"message": "bad key {APIKEY}"}, "chunk": 3, "gap_ms": 1}]
    async with playing(
        [{"id": "a", "responses": responses}, {"id": "b", "responses": [{"transport": "eof"}]}]
    ) as server:
        reply = await client.post(server.url_of("a"), ask())
        closed = await client.post(server.url_of("b"), ask())
    assert reply.json == {"message": "bad key sk-test"}
    assert (closed.raw, closed.ended) == (b"", "closed")
