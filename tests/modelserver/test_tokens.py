"""The token estimate, and the sizes of pictures on which it depends."""

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.modelserver import Ask, ModelServer
from everturn.modelserver.pictures import parse_size
from everturn.modelserver.prompt_cache import count_input
from everturn.modelserver.tokens import cut_text, estimate_block, estimate_text

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 300, 200)
GIF = b"GIF89a" + struct.pack("<HH", 300, 200)
JPEG = b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"\0" * 14 + b"\xff\xc0" + struct.pack(">HBHH", 17, 8, 200, 300)
WEBP_VP8 = b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + struct.pack("<HH", 300, 200)
WEBP_VP8L = b"RIFF\0\0\0\0WEBPVP8L" + b"\0" * 4 + b"\x2f" + struct.pack("<I", 299 | 199 << 14)
WEBP_VP8X = b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + (299).to_bytes(3, "little") + (199).to_bytes(3, "little")


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "data", [PNG, GIF, JPEG, WEBP_VP8, WEBP_VP8L, WEBP_VP8X], ids=["png", "gif", "jpeg", "vp8", "vp8l", "vp8x"]
)
def test_the_size_of_a_picture_is_read_from_its_head(data):
    assert parse_size(encoded(data)) == (300, 200)


@given(
    st.binary(max_size=60)
    | st.sampled_from([PNG, GIF, JPEG, WEBP_VP8X]).flatmap(lambda data: st.integers(0, 12).map(lambda n: data[:-n]))
)
def test_a_broken_picture_has_no_size_and_does_no_harm(data):
    size = parse_size(encoded(data))
    assert size is None or len(size) == 2


def test_what_is_not_base64_has_no_size():
    assert parse_size("é" * 8) is None


BLOCKS = [
    ({"type": "text", "text": "12345"}, 2),
    ({"type": "text", "text": "é" * 4}, 2),
    ({"type": "text", "text": ""}, 0),
    ({"type": "thinking", "thinking": "1234", "signature": "s" * 100}, 1),
    ({"type": "tool_use", "id": "t", "name": "Read", "input": {"a": 1}}, 1 + 2),
    ({"type": "tool_result", "tool_use_id": "t", "content": "12345678"}, 2),
    (
        {
            "type": "tool_result",
            "tool_use_id": "t",
            "content": [{"type": "text", "text": "1234"}, {"type": "text", "text": "5"}],
        },
        2,
    ),
    ({"type": "tool_result", "tool_use_id": "t"}, 0),
    ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded(PNG)}}, 11 * 8),
    ({"type": "image", "source": {"type": "url", "url": "u"}}, 4784),
    ({"type": "document", "source": {"type": "base64", "data": "x" * 50_001}}, 4000),
    ({"type": "document", "source": {"type": "text", "data": "12345"}}, 2),
    ({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "12345"}]}}, 2),
    ({"type": "redacted_thinking", "data": "x", "cache_control": {}}, 10),
]


@pytest.mark.parametrize(("block", "tokens"), BLOCKS, ids=lambda value: str(value)[:40])
def test_a_block_counts_by_its_kind(block, tokens):
    assert estimate_block(block) == tokens


@given(st.text(), st.integers(0, 50))
def test_a_cut_text_is_a_beginning_that_fits(text, tokens):
    part = cut_text(text, tokens)
    assert text.startswith(part)
    assert estimate_text(part) <= tokens
    if estimate_text(text) <= tokens:
        assert part == text


def test_lone_surrogates_count_too():
    assert estimate_text("\ud800") == 1


async def test_counting_and_usage_agree(client, ask):
    body = ask("Hello", system="Be brief.", tools=[{"name": "Read", "input_schema": {"type": "object"}}])
    counted = {key: value for key, value in body.items() if key != "max_tokens"}
    async with ModelServer(["Hello"]) as server:
        count = await client.post(server.url, counted, path="/v1/messages/count_tokens")
        answer = await client.post(server.url, body)
    assert count.json == {"input_tokens": count_input(Ask(body))}
    assert answer.json["usage"]["input_tokens"] == count.json["input_tokens"]


async def test_counting_with_context_management_tells_the_original(client, ask):
    body = {key: value for key, value in ask("1234").items() if key != "max_tokens"} | {
        "context_management": {"edits": []}
    }
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01", "anthropic-beta": "context-management-2025-06-27"}
    async with ModelServer(["Hello"]) as server:
        reply = await client.post(server.url, body, headers=headers, path="/v1/messages/count_tokens")
    assert reply.json == {"input_tokens": 4, "context_management": {"original_input_tokens": 4}}
