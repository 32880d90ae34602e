"""Thinking that goes back: what the server gave out is accepted, what was changed is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.modelserver import ModelServer, Wire, call, check_request, redacted, say, text, thinking
from everturn.modelserver.signatures import is_signed, sign
from everturn.modelserver.wire import SseItem

TOOLS = [{"name": "Read", "input_schema": {"type": "object"}}]
ADAPTIVE = {"type": "adaptive"}


@given(st.text(), st.text(), st.sampled_from(["a", "b"]), st.sampled_from(["a", "b"]))
def test_a_signature_holds_for_its_text_and_model_alone(one, other, model, another):
    assert is_signed(sign(model, one), another, other) == ((model, one) == (another, other))


@given(st.text())
def test_nothing_else_is_a_signature(signature):
    assert not is_signed(signature, "m", "text")


def back(content: list[dict]) -> list[dict]:
    results = [{"type": "tool_result", "tool_use_id": block["id"]} for block in content if block["type"] == "tool_use"]
    return [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": content},
        {"role": "user", "content": results or "On."},
    ]


ANSWERS = {
    "signed by the server": say(thinking("Hm."), call("Read", {})),
    "signed by the script": say(thinking("Hm.", signature="custom"), call("Read", {})),
    "with redacted thinking": say(redacted(), thinking("Hm."), call("Read", {})),
    "without a call": say(thinking("Hm."), "Hello"),
    "played as bytes": Wire(
        json={
            "type": "message",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": sign("claude-opus-4-8", "Hm.")},
                {"type": "text", "text": "Hello"},
            ],
        }
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_thinking_that_was_given_out_is_accepted(name, client, ask):
    async with ModelServer([ANSWERS[name], "Done."]) as server:
        content = (await client.post(server.url, ask(thinking=ADAPTIVE))).json["content"]
        reply = await client.post(server.url, ask(back(content), thinking=ADAPTIVE, tools=TOOLS))
        assert reply.json["content"] == [{"type": "text", "text": "Done."}]
        assert check_request(server.requests[-1].body, handed=server.handed) is None
        assert server.requests[-1].lints == ()


async def test_thinking_streamed_as_bytes_is_accepted_too(client, ask):
    events = [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "H"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "m."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "custom"}},
    ]
    wire = Wire(sse=tuple(SseItem(event=event["type"], data=event) for event in events))
    async with ModelServer([wire, "Done."]) as server:
        await client.post(server.url, ask(stream=True))
        content = [{"type": "thinking", "thinking": "Hm.", "signature": "custom"}, {"type": "text", "text": "Hello"}]
        assert (await client.post(server.url, ask(back(content)))).status == 200


CHANGES = {
    "another text": (lambda content: [content[0] | {"thinking": "Oh."}, *content[1:]], {}, "thinking-unchanged"),
    "another model": (lambda content: content, {"model": "claude-opus-5"}, "signature-valid"),
    "another order": (lambda content: [content[1], content[0], content[2]], {}, "thinking-unchanged"),
    "one left out": (lambda content: content[1:], {}, "thinking-unchanged"),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_changed_thinking_is_refused(name, client, ask):
    change, fields, rule = CHANGES[name]
    async with ModelServer(
        [say(thinking("Hm.", signature="s1"), thinking("So.", signature="s2"), call("Read", {}))]
    ) as server:
        content = (await client.post(server.url, ask(thinking=ADAPTIVE))).json["content"]
        await client.post(server.url, ask(back(change(content)), thinking=ADAPTIVE, tools=TOOLS, **fields))
        assert server.requests[-1].refused == rule


async def test_thinking_that_is_left_out_altogether_is_noted(client, ask):
    async with ModelServer([say(thinking("Hm."), call("Read", {}, call_id="toolu_1")), "Done."]) as server:
        content = (await client.post(server.url, ask(thinking=ADAPTIVE))).json["content"]
        reply = await client.post(server.url, ask(back(content[1:]), thinking=ADAPTIVE, tools=TOOLS))
        assert reply.status == 200
        assert [lint.id for lint in server.requests[-1].lints] == ["thinking-dropped"]


async def test_thinking_of_earlier_turns_may_go(client, ask):
    async with ModelServer([say(thinking("Hm."), call("Read", {})), text("Done.")]) as server:
        content = (await client.post(server.url, ask(thinking=ADAPTIVE))).json["content"]
        messages = [
            *back(content[1:]),
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "Thanks."},
        ]
        assert (await client.post(server.url, ask(messages, thinking=ADAPTIVE, tools=TOOLS))).status == 200
        assert server.requests[-1].lints == ()


async def test_stripped_thinking_is_no_fault_on_another_model(client, ask):
    async with ModelServer([say(thinking("Hm."), call("Read", {})), text("Done.")]) as server:
        content = (await client.post(server.url, ask(thinking=ADAPTIVE))).json["content"]
        await client.post(server.url, ask(back(content[1:]), model="claude-opus-5", tools=TOOLS))
        assert (server.requests[-1].refused, server.requests[-1].lints) == (None, ())
