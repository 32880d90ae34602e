"""What each kind of answer looks like, streamed and whole."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.modelserver import (
    Ask,
    ModelServer,
    block,
    call,
    calls,
    error,
    overloaded,
    pause,
    rate_limited,
    redacted,
    refusal,
    say,
    script,
    server_call,
    spend_limit,
    text,
    thinking,
    too_long,
    truncated,
)
from everturn.modelserver.compose import compose
from everturn.modelserver.delivery import render_events, render_message
from everturn.modelserver.prompt_cache import CacheUse
from everturn.modelserver.signatures import sign

MODEL = "claude-opus-4-8"


def fold(events: list[dict]) -> dict:
    """The message that a stream adds up to."""
    message = dict(events[0]["message"])
    blocks: list[dict] = []
    pieces: dict[int, str] = {}
    for event in events[1:]:
        match event:
            case {"type": "content_block_start", "content_block": start}:
                blocks.append(dict(start))
            case {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }:
                pieces[index] = pieces.get(index, "") + piece
            case {"type": "content_block_delta", "index": index, "delta": {"type": "compaction_delta", **told}}:
                blocks[index] |= told
            case {"type": "content_block_delta", "index": index, "delta": delta}:
                field = delta["type"].removesuffix("_delta")
                blocks[index][field] += delta[field]
            case {"type": "message_delta", "delta": delta, "usage": usage}:
                message |= (
                    delta
                    | {"usage": usage}
                    | {key: value for key, value in event.items() if key not in {"type", "delta", "usage"}}
                )
    for index, piece in pieces.items():
        try:
            blocks[index]["input"] = json.loads(piece)
        except ValueError:
            blocks[index]["input"] = {}
    return message | {"content": blocks}


ANSWERS = {
    "text": (text("Hello"), [{"type": "text", "text": "Hello"}], "end_turn"),
    "thinking": (
        say(thinking("Hm."), "Hello"),
        [{"type": "thinking", "thinking": "Hm.", "signature": sign(MODEL, "Hm.")}, {"type": "text", "text": "Hello"}],
        "end_turn",
    ),
    "thinking signed otherwise": (
        say(thinking("Hm.", signature="mine"), "Hello"),
        [{"type": "thinking", "thinking": "Hm.", "signature": "mine"}, {"type": "text", "text": "Hello"}],
        "end_turn",
    ),
    "redacted thinking": (
        say(redacted("ZGF0YQ=="), "Hello"),
        [{"type": "redacted_thinking", "data": "ZGF0YQ=="}, {"type": "text", "text": "Hello"}],
        "end_turn",
    ),
    "a call": (
        say("I look.", call("Read", {"file_path": "/a"}, call_id="toolu_1")),
        [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/a"}},
        ],
        "tool_use",
    ),
    "a server's call": (
        server_call("web_search", {"query": "x"}, [], call_id="srvtoolu_1"),
        [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        ],
        "end_turn",
    ),
    "a pause": (
        pause(server_call("web_search", {"query": "x"}, call_id="srvtoolu_1")),
        [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}],
        "pause_turn",
    ),
    "any block": (
        block({"type": "compaction", "content": "So far."}),
        [{"type": "compaction", "content": "So far."}],
        "end_turn",
    ),
    "nothing": (say(), [], "end_turn"),
    "a cut text": (truncated("Once upon a"), [{"type": "text", "text": "Once upon a"}], "max_tokens"),
    "an explicit stop": (
        text("Hello", stop_reason="stop_sequence", stop_sequence="."),
        [{"type": "text", "text": "Hello"}],
        "stop_sequence",
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_an_answer_is_the_same_streamed_and_whole(name, client, ask):
    answer, content, stop_reason = ANSWERS[name]
    async with ModelServer([answer]) as server:
        whole = await client.post(server.url, ask())
        streamed = await client.post(server.url, ask(stream=True))
    assert (whole.json["content"], whole.json["stop_reason"]) == (content, stop_reason)
    assert fold(streamed.events) | {"id": ""} == whole.json | {"id": ""}
    assert whole.json["model"] == MODEL
    assert whole.json["role"] == "assistant"


async def test_a_stream_comes_in_the_order_of_the_api(client, ask):
    said = say(
        thinking("Hm."), "Hello", calls(("Read", {}), ("Read", {"a": 1})), server_call("web_search", {}), chunk=5
    )
    async with ModelServer([said]) as server:
        reply = await client.post(server.url, ask(stream=True))
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    delta = "content_block_delta"
    assert reply.kinds == [
        "message_start",
        *("content_block_start", "ping", delta, delta, "content_block_stop"),
        *("content_block_start", delta, "content_block_stop"),
        *("content_block_start", delta, "content_block_stop"),
        *("content_block_start", delta, delta, delta, "content_block_stop"),
        *("content_block_start", delta, "content_block_stop"),
        *("message_delta", "message_stop"),
    ]
    assert [event["delta"] for event in reply.events if event["type"] == delta] == [
        {"type": "thinking_delta", "thinking": "Hm."},
        {"type": "signature_delta", "signature": sign(MODEL, "Hm.")},
        {"type": "text_delta", "text": "Hello"},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": '{"a":'},
        {"type": "input_json_delta", "partial_json": " 1}"},
        {"type": "input_json_delta", "partial_json": ""},
    ]


async def test_a_refusal_says_why(client, ask):
    async with ModelServer([refusal(category="cyber", explanation="No.")]) as server:
        whole = await client.post(server.url, ask())
        streamed = await client.post(server.url, ask(stream=True))
    details = {"type": "refusal", "category": "cyber", "explanation": "No."}
    assert (whole.json["stop_reason"], whole.json["stop_details"], whole.json["content"]) == ("refusal", details, [])
    assert fold(streamed.events)["stop_details"] == details


async def test_a_call_cut_by_the_limit_has_half_its_input(client, ask):
    async with ModelServer([truncated(calls(("Write", {"content": "one two three"})))]) as server:
        reply = await client.post(server.url, ask(stream=True))
    sent = "".join(event["delta"]["partial_json"] for event in reply.events if event["type"] == "content_block_delta")
    assert sent == '{"content": "o'
    assert fold(reply.events)["stop_reason"] == "max_tokens"


async def test_ids_differ_between_requests_and_are_the_same_in_every_run(client, ask):
    runs = []
    for _ in range(2):
        async with ModelServer([calls(("Read", {}), ("Read", {}))]) as server:
            replies = [(await client.post(server.url, ask())).json for _ in range(2)]
            runs.append([(reply["id"], *(part["id"] for part in reply["content"])) for reply in replies])
    assert runs[0] == runs[1]
    ids = [identity for reply in runs[0] for identity in reply]
    assert len(set(ids)) == 6


async def test_extra_fields_headers_and_counts_are_sent(client, ask):
    applied = {"applied_edits": []}
    answer = text(
        "Hello",
        id="msg_1",
        model="other",
        usage={"input_tokens": 7},
        extra={"context_management": applied},
        headers={"x-a": "b"},
    )
    async with ModelServer([answer]) as server:
        whole = await client.post(server.url, ask())
        streamed = await client.post(server.url, ask(stream=True))
    assert whole.headers["x-a"] == "b"
    assert (whole.json["id"], whole.json["model"], whole.json["usage"]["input_tokens"]) == ("msg_1", "other", 7)
    assert whole.json["context_management"] == applied
    assert streamed.events[-2]["context_management"] == applied


async def test_thinking_is_left_out_when_the_request_wants_it(client, ask):
    async with ModelServer([say(thinking("Secret."), "Hello")]) as server:
        reply = await client.post(server.url, ask(thinking={"type": "adaptive", "display": "omitted"}))
        thought, words = reply.json["content"]
        assert (thought["thinking"], thought["signature"] != "") == ("", True)
        history = [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": [thought, words]},
            {"role": "user", "content": "On."},
        ]
        assert (await client.post(server.url, ask(history))).status == 200


ERRORS = {
    "overloaded": (overloaded(), 529, {"type": "overloaded_error", "message": "Overloaded"}, {}),
    "rate limited": (
        rate_limited(retry_after=2),
        429,
        {"type": "rate_limit_error", "message": "This request would exceed your rate limit."},
        {"retry-after": "2"},
    ),
    "spend limit": (
        spend_limit(),
        429,
        {
            "type": "rate_limit_error",
            "message": "You have reached your spend limit.",
            "details": {"error_code": "enforced_spend_limit_reached"},
        },
        {},
    ),
    "too long": (
        too_long(210_000, 200_000),
        400,
        {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"},
        {},
    ),
    "any": (error(418, "teapot_error", "No: {APIKEY}"), 418, {"type": "teapot_error", "message": "No: sk-test"}, {}),
    "by status": (error(500), 500, {"type": "api_error", "message": "Internal server error"}, {}),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("stream", [True, False])
async def test_errors_have_their_status_type_and_headers(name, stream, client, ask):
    answer, status, body, headers = ERRORS[name]
    async with ModelServer([answer]) as server:
        reply = await client.post(server.url, ask(stream=stream))
    assert reply.status == status
    assert reply.json == {"type": "error", "error": body, "request_id": reply.headers["request-id"]}
    assert reply.headers | headers == reply.headers


LIMITED = {
    "text": (text("a" * 40), 5, [{"type": "text", "text": "a" * 20}], "max_tokens", 5),
    "text that fits": (text("a" * 40), 10, [{"type": "text", "text": "a" * 40}], "end_turn", 10),
    "wide letters": (text("é" * 4), 1, [{"type": "text", "text": "éé"}], "max_tokens", 1),
    "a second block": (say("aaaa", "bbbb"), 1, [{"type": "text", "text": "aaaa"}], "max_tokens", 1),
    "a call": (
        call("Read", {"a": "b" * 40}, call_id="t"),
        4,
        [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}],
        "max_tokens",
        4,
    ),
    "nothing wanted": (text("Hello"), 0, [], "max_tokens", 0),
    "verbatim": (text("a" * 40, verbatim=True), 5, [{"type": "text", "text": "a" * 40}], "end_turn", 10),
}


@pytest.mark.parametrize("name", LIMITED)
async def test_an_answer_is_cut_at_max_tokens(name, client, ask):
    answer, limit, content, stop_reason, output = LIMITED[name]
    async with ModelServer([answer]) as server:
        whole = await client.post(server.url, ask(max_tokens=limit))
        streamed = await client.post(server.url, ask(max_tokens=limit, stream=True))
    found = whole.json
    assert (found["content"], found["stop_reason"], found["usage"]["output_tokens"]) == (content, stop_reason, output)
    assert fold(streamed.events)["content"] == content


async def test_an_answer_is_cut_at_a_stop_sequence(client, ask):
    async with ModelServer([say("one. two. three", calls(("Read", {})))]) as server:
        reply = await client.post(server.url, ask(stop_sequences=["two", "three"]))
    found = reply.json
    assert (found["content"], found["stop_reason"], found["stop_sequence"]) == (
        [{"type": "text", "text": "one. "}],
        "stop_sequence",
        "two",
    )


async def test_an_answer_is_cut_where_the_window_ends(client, ask):
    async with ModelServer(script(text("a" * 400), window=20)) as server:
        reply = await client.post(server.url, ask("x" * 40))
    assert (reply.json["content"], reply.json["stop_reason"]) == (
        [{"type": "text", "text": "a" * 28}],
        "model_context_window_exceeded",
    )


def test_options_of_a_part_are_not_lost_silently():
    with pytest.raises(ValueError, match="belong to the whole answer"):
        say(text("Hello", chunk=3), "there")


def test_calls_that_are_no_pairs_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match="calls takes names with their inputs"):
        calls(call("Read", {"file_path": "a.txt"}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
PARTS = st.lists(
    st.one_of(
        st.text(min_size=1).map(text),
        st.builds(thinking, st.text()),
        st.builds(call, st.just("Read"), st.dictionaries(st.text(), JSON)),
    )
)


@settings(max_examples=50, deadline=None)
@given(PARTS, st.integers(1, 9), st.integers(0, 60))
def test_any_stream_adds_up_to_the_message_and_keeps_the_limit(parts, chunk, limit):
    asked = Ask({"model": MODEL, "max_tokens": limit, "messages": [{"role": "user", "content": "Hello"}]})
    message = compose(say(*parts), asked, CacheUse(fresh=4), seed="s", chunk=chunk)
    assert fold([event.data for event in render_events(message)]) == render_message(message)
    assert message.usage["output_tokens"] <= limit


async def test_an_answer_tells_the_speed_and_the_edits_that_were_asked_for(client, ask):
    betas = "fast-mode-2026-02-01,context-management-2025-06-27"
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01", "anthropic-beta": betas}
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    applied = {"context_management": {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1}]}}
    async with ModelServer(["Hello", text("Hello", extra=applied), "Hello"]) as server:
        asked = ask(speed="fast", context_management=edits)
        first, second = [(await client.post(server.url, asked, headers=headers)).json for _ in range(2)]
        plain = (await client.post(server.url, ask())).json
    assert [answer["usage"]["speed"] for answer in (first, second)] == ["fast", "fast"]
    assert first["context_management"] == {"applied_edits": []}
    assert second["context_management"] == applied["context_management"]
    assert not {"context_management", "speed"} & {*plain, *plain["usage"]}


async def test_the_newest_fast_mode_needs_no_beta(client, ask):
    async with ModelServer(["Hello"]) as server:
        newest = await client.post(server.url, ask(model="claude-opus-5-5", speed="fast"))
        older = await client.post(server.url, ask(model="claude-opus-5", speed="fast"))
    assert (newest.status, older.headers["everturn-rule"]) == (200, "fast-beta")
