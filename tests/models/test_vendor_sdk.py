"""The vendor's SDK as a second opinion: it folds the same streams to the same content, and sends the same bodies."""

import json

import anthropic
import pytest
from tests.models.comparing import digest_fold, digest_vendor
from tests.models.streams import (
    STREAMS,
    block,
    call,
    encode_stream,
    message_delta,
    message_start,
    stream_of,
    text,
)

from everturn.core.messages import decode_block, encode_block, text_block
from everturn.core.received_json import INVALID_JSON
from everturn.core.stream import Fold
from everturn.core.transcript import Wire
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.credentials import Credentials
from everturn.models.transport.http1_transport import Http1Transport
from everturn.ports.model import Request, TaskBudget, ThinkingConfig, ThinkingMode

TOOL = {"name": "Read", "description": "reads", "input_schema": {"type": "object", "properties": {}}}


@pytest.fixture
async def both(stage, catalog):
    """A server that plays a stream, and the two clients of it."""

    async def answer(exchange):
        await exchange.reply(200, server.plays, content_type="text/event-stream")

    server = await stage.serve(answer)
    server.plays = encode_stream(STREAMS["text"])
    vendor = anthropic.AsyncAnthropic(base_url=server.url, api_key="k", max_retries=0)
    credentials = Credentials(api_key="k")
    ours = AnthropicModel(transport=Http1Transport(), catalog=catalog, credentials=credentials, base_url=server.url)
    yield server, vendor, ours
    await vendor.close()
    await ours.aclose()


HELLO = {"model": "claude-opus-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}


@pytest.mark.parametrize("name", STREAMS)
async def test_the_same_stream_is_folded_to_the_same_message(both, ask, name):
    server, vendor, ours = both
    server.plays = encode_stream(STREAMS[name])

    async with vendor.beta.messages.stream(**HELLO) as events:
        theirs = await events.get_final_message()
    folded = Fold(lambda id_: id_)
    async for event in ours.stream(ask()):
        folded.feed(event)

    assert digest_fold(folded) == digest_vendor(theirs)


BEYOND = {
    "input that was cut": ('{"command": "rm -rf bu', "a command that was cut off must not run"),
    "input with more behind it": ('{"a": 1} {"b": 2}', "nobody knows which of the two is meant"),
    "a key that stands twice": ('{"a": 1, "a": 2}', "one of the two would be lost"),
    "numbers that JSON does not have": ('{"a": NaN}', "it cannot be sent back"),
    "a number beyond all bounds": ('{"a": 1e400}', "it cannot be sent back"),
    "no object": ("[1]", "the API takes back objects only"),
}
"""Input that the SDK completes or lets pass, and why a call does not run from it here."""


@pytest.mark.parametrize("name", BEYOND)
async def test_input_that_only_the_sdk_takes_goes_back_wrapped_and_does_not_run(both, ask, name):
    server, vendor, ours = both
    written, _why = BEYOND[name]
    server.plays = encode_stream(stream_of(call("", written), stop="tool_use"))

    async with vendor.beta.messages.stream(**HELLO) as events:
        theirs = await events.get_final_message()
    folded = Fold(lambda id_: id_)
    async for event in ours.stream(ask()):
        folded.feed(event)

    (block,) = folded.blocks
    assert theirs.content[0].input is not None
    assert json.loads(bytes(block.view.input)) == {INVALID_JSON: written}


OURS_ALONE = {
    "a message that ends without counts": (
        [message_start(), *block(0, *text("a")), {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}],
        ("end_turn", [{"type": "text", "text": "a"}]),
    ),
    "a message that begins without counts": (
        [message_start(None), *block(0, *text("a")), message_delta()],
        ("end_turn", [{"type": "text", "text": "a"}]),
    ),
    "a stop reason that a later change leaves out": (
        [message_start(), *block(0, *text("a")), message_delta("end_turn"), message_delta(None)],
        ("end_turn", [{"type": "text", "text": "a"}]),
    ),
    "indices with gaps, out of order": (
        [message_start(), *block(7, *text("b")), *block(2, *text("a")), message_delta()],
        ("end_turn", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    ),
    "input of a kind of call that is not known yet": (
        [message_start(), *block(0, *call("", '{"a"', ": 1}", kind="future_tool_use")), message_delta()],
        (
            "end_turn",
            [{"type": "future_tool_use", "id": "future_tool_use_1", "name": "Read", "input": {"a": 1}}],
        ),
    ),
    "a message that begins with content that is null": (
        [message_start(content=None), *block(0, *text("a")), message_delta()],
        ("end_turn", [{"type": "text", "text": "a"}]),
    ),
    "input that is no JSON": (
        [message_start(), *block(0, *call("", '{"unit": celsius}')), message_delta("tool_use")],
        (
            "tool_use",
            [{"type": "tool_use", "id": "tool_use_1", "name": "Read", "input": {INVALID_JSON: '{"unit": celsius}'}}],
        ),
    ),
    "a call that the cap cut off before its block ended": (
        [
            message_start(),
            *block(0, *text("a")),
            *list(block(1, *call("", '{"a": "b')))[:-1],
            message_delta("max_tokens"),
        ],
        ("max_tokens", [{"type": "text", "text": "a"}]),
    ),
}
"""Streams that the SDK cannot read, or of which it loses something; the first stands in the vendor's documentation."""


@pytest.mark.parametrize("name", OURS_ALONE)
async def test_a_stream_that_the_sdk_does_not_read_whole_is_read(both, ask, name):
    server, _, ours = both
    events, expected = OURS_ALONE[name]
    server.plays = encode_stream([*events, {"type": "message_stop"}])

    folded = Fold(lambda id_: id_)
    async for event in ours.stream(ask()):
        folded.feed(event)

    assert (folded.stop_reason, [json.loads(block.raw) for block in folded.finish()]) == expected


async def test_the_same_parameters_are_sent_as_the_same_body(both):
    server, vendor, ours = both
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    use = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/a"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "x"}]}
    marked = {"cache_control": {"type": "ephemeral"}}

    await vendor.beta.messages.create(
        model="claude-opus-5",
        max_tokens=2_000,
        stream=True,
        system=[{"type": "text", "text": "one"}, {"type": "text", "text": "two", **marked}],
        tools=[TOOL],
        messages=[
            {"role": "user", "content": [{"type": "text", "text": "read it", **marked}]},
            {"role": "assistant", "content": [thought, use]},
            {"role": "user", "content": [{**result, **marked}]},
        ],
        thinking={"type": "adaptive"},
        output_config={"effort": "xhigh", "task_budget": {"type": "tokens", "total": 50_000}},
        speed="fast",
        stop_sequences=["END"],
        betas=["task-budgets-2026-03-13", "fast-mode-2026-02-01"],
    )
    request = Request(
        model="claude-opus-5",
        max_tokens=2_000,
        system=("one", "two"),
        tools=(json.dumps(TOOL).encode(),),
        messages=(
            Wire("user", (text_block("read it"),)),
            Wire("assistant", (decode_block(json.dumps(thought).encode()), encode_block(use))),
            Wire("user", (encode_block(result),)),
        ),
        thinking=ThinkingConfig(mode=ThinkingMode.ADAPTIVE),
        effort="xhigh",
        task_budget=TaskBudget(total=50_000),
        fast=True,
        stop_sequences=("END",),
    )
    async for _ in ours.stream(request):
        pass

    theirs, mine = server.requests
    assert json.loads(mine.body) == json.loads(theirs.body)
    named = ("anthropic-beta", "content-type")
    assert [mine.headers[name] for name in named] == [theirs.headers[name] for name in named]
