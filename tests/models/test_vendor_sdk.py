"""The vendor's SDK as a second opinion: it folds the same streams to the same content, and sends the same bodies."""

import json

import anthropic
import pytest

from everturn.core.messages import decode_block, encode_block, text_block
from everturn.core.stream import Fold
from everturn.core.transcript import Wire
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.credentials import Credentials
from everturn.models.transport.http1_transport import Http1Transport
from everturn.ports.model import Request, TaskBudget, ThinkingConfig, ThinkingMode

USAGE = {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 5}
TOOL = {"name": "Read", "description": "reads", "input_schema": {"type": "object", "properties": {}}}


def stream_of(*blocks, stop="end_turn"):
    """Each block is its start and its deltas."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": USAGE}
    events = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, (start, *deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 42}})
    events.append({"type": "message_stop"})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def text(*parts):
    return ({"type": "text", "text": ""}, *({"type": "text_delta", "text": part} for part in parts))


def thinking(*parts):
    start = {"type": "thinking", "thinking": "", "signature": ""}
    return (
        start,
        *({"type": "thinking_delta", "thinking": part} for part in parts),
        {"type": "signature_delta", "signature": "c2lnbmF0dXJl"},
    )


def use(*parts):
    start = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}
    return (start, *({"type": "input_json_delta", "partial_json": part} for part in parts))


STREAMS = {
    "text": stream_of(text("Hel", "lo, ", "wörld 🎉\n")),
    "several blocks": stream_of(text("one"), text("two")),
    "thinking": stream_of(thinking("hm, ", "well"), text("so")),
    "redacted thinking": stream_of(({"type": "redacted_thinking", "data": "xyz"},), text("so")),
    "a tool call": stream_of(text("I read"), use('{"file_path": "/a', '", "n": [1, 2.5, null]}'), stop="tool_use"),
    "a tool call without input": stream_of(use(), stop="tool_use"),
    "cut by the cap": stream_of(text("long"), stop="max_tokens"),
}


@pytest.fixture
async def both(stage, catalog):
    """A server that plays a stream, and the two clients of it."""

    async def answer(exchange):
        await exchange.reply(200, server.plays, content_type="text/event-stream")

    server = await stage.serve(answer)
    server.plays = STREAMS["text"]
    vendor = anthropic.AsyncAnthropic(base_url=server.url, api_key="k", max_retries=0)
    credentials = Credentials(api_key="k")
    ours = AnthropicModel(transport=Http1Transport(), catalog=catalog, credentials=credentials, base_url=server.url)
    yield server, vendor, ours
    await vendor.close()
    await ours.aclose()


@pytest.mark.parametrize("name", STREAMS)
async def test_the_same_stream_is_folded_to_the_same_content(both, ask, name):
    server, vendor, ours = both
    server.plays = STREAMS[name]
    hello = [{"role": "user", "content": "hello"}]

    async with vendor.messages.stream(model="claude-opus-5", max_tokens=9, messages=hello) as events:
        theirs = await events.get_final_message()
    folded = Fold(lambda id_: id_)
    async for event in ours.stream(ask()):
        folded.feed(event)

    content = [block.model_dump(mode="json", exclude_none=True) for block in theirs.content]
    assert [json.loads(block.raw) for block in folded.finish()] == content
    assert (folded.api_id, folded.model, folded.stop_reason) == (theirs.id, theirs.model, theirs.stop_reason)
    usage = theirs.usage
    assert (folded.usage.input, folded.usage.output, folded.usage.cache_write, folded.usage.cache_read) == (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    )


async def test_the_same_parameters_are_sent_as_the_same_body(both):
    server, vendor, ours = both
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/a"}}
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
            {"role": "assistant", "content": [thought, call]},
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
            Wire("assistant", (decode_block(json.dumps(thought).encode()), encode_block(call))),
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
