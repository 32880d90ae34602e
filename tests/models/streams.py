"""Event sequences of the Messages API, in the shapes that its documentation shows and that its SDK is tested with."""

import json

USAGE = {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 5}
PING = {"type": "ping"}
FUTURE = {"type": "future_event", "usage": {"input_tokens": 99, "output_tokens": 99}}
CITED = {"type": "char_location", "cited_text": "grass", "document_index": 0, "start_char_index": 0}
FOUND = {"type": "web_search_result_location", "cited_text": "dry", "url": "https://e.test", "encrypted_index": "Eo8"}


def message_start(usage=USAGE, **fields):
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage, **fields}
    return {"type": "message_start", "message": message}


def message_delta(stop="end_turn", usage=None, **fields):
    delta = {"stop_reason": stop, "stop_sequence": None, **fields.pop("delta", {})}
    return {"type": "message_delta", "delta": delta, "usage": usage or {"output_tokens": 42}, **fields}


def block(index, start, *deltas):
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def stream_of(*blocks, stop="end_turn", **fields):
    """Each block is its start and its deltas."""
    inner = [event for index, parts in enumerate(blocks) for event in block(index, *parts)]
    return [message_start(), PING, *inner, message_delta(stop, **fields), {"type": "message_stop"}]


def encode_stream(events):
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def text(*parts, **fields):
    return ({"type": "text", "text": "", **fields}, *({"type": "text_delta", "text": part} for part in parts))


def cited(*citations):
    return tuple({"type": "citations_delta", "citation": citation} for citation in citations)


def thinking(*parts, signed=("c2lnbmF0dXJl",), **start):
    deltas = ({"type": "thinking_delta", "thinking": part} for part in parts)
    signatures = ({"type": "signature_delta", "signature": signature} for signature in signed)
    return ({"type": "thinking", "thinking": "", **start}, *deltas, *signatures)


def call(*parts, kind="tool_use", name="Read", start=None, **fields):
    opened = {"type": kind, "id": f"{kind}_1", "name": name, "input": start or {}, **fields}
    return (opened, *({"type": "input_json_delta", "partial_json": part} for part in parts))


def search(*parts):
    return call(*parts, kind="server_tool_use", name="web_search")


def result(kind, content):
    return ({"type": f"{kind}_tool_result", "tool_use_id": "server_tool_use_1", "content": content},)


def compaction(*deltas, **start):
    return ({"type": "compaction", "content": None, **start}, *({"type": "compaction_delta", **d} for d in deltas))


HIT = {"type": "web_search_result", "title": "T", "url": "https://e.test", "encrypted_content": "Eq8", "page_age": None}
PLAIN = {"type": "text", "media_type": "text/plain", "data": "dry"}
PAGE = {
    "type": "web_fetch_result",
    "url": "https://e.test",
    "retrieved_at": "2026-11-16T10:00:00Z",
    "content": {"type": "document", "title": None, "citations": {"enabled": True}, "source": PLAIN},
}
RAN = {"type": "bash_code_execution_result", "stdout": "2\n", "stderr": "", "return_code": 0, "content": []}
REFUSED = {"type": "refusal", "category": "cyber", "explanation": "No."}
EDITS = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2, "cleared_input_tokens": 1500}]}
ITERATION = {"type": "message", "input_tokens": 3, "output_tokens": 2, "model": "claude-opus-5"}
ALL_COUNTS = {
    "input_tokens": 40,
    "cache_creation_input_tokens": 12,
    "cache_read_input_tokens": 7,
    "output_tokens": 8,
    "output_tokens_details": {"thinking_tokens": 3},
    "iterations": [ITERATION],
    "server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 0},
}
FALLBACK = {
    "type": "fallback",
    "from": {"model": "claude-opus-5"},
    "to": {"model": "claude-sonnet-5"},
    "trigger": {"type": "refusal", "category": None},
}

STREAMS = {
    "text": stream_of(text("Hel", "lo, ", "wörld 🎉\n")),
    "several blocks": stream_of(text("one"), text("two")),
    "text whole in its start": stream_of(({"type": "text", "text": "all of it"},)),
    "text that begins in its start": stream_of(({"type": "text", "text": "Hel"}, {"type": "text_delta", "text": "lo"})),
    "an empty text block": stream_of(text()),
    "no block at all": stream_of(),
    "thinking": stream_of(thinking("hm, ", "well", "", signature=""), text("so")),
    "thinking without a signature in its start": stream_of(thinking("hm, ", "well"), text("so")),
    "thinking that is not shown": stream_of(thinking(signature=""), text("so")),
    "thinking with token counts": stream_of(
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            *({"type": "thinking_delta", "thinking": "", "estimated_tokens": count} for count in (50, None)),
            {"type": "signature_delta", "signature": "c2ln"},
        )
    ),
    "thinking signed in its start": stream_of(thinking("hm", signed=(), signature="c2ln")),
    "thinking signed twice": stream_of(thinking("hm", signed=("b2xk", "bmV3"), signature="")),
    "thinking that was not signed": stream_of(thinking("hm", signed=()), stop="max_tokens"),
    "redacted thinking": stream_of(({"type": "redacted_thinking", "data": "xyz"},), text("so")),
    "a call": stream_of(text("I read"), call("", '{"file_path": "/a', '", "n": [1, 2.5, null]}'), stop="tool_use"),
    "a call without arguments": stream_of(text("I plan"), call(""), stop="tool_use"),
    "a call without arguments, spelled out": stream_of(call("", "{}"), stop="tool_use"),
    "a call without any delta": stream_of(call(), stop="tool_use"),
    "a call whole in its start": stream_of(call(start={"a": 1}), stop="tool_use"),
    "a call whole in its start, with an empty delta": stream_of(call("", start={"a": 1}), stop="tool_use"),
    "a call whose deltas replace its start": stream_of(call("", '{"b": 2}', start={"a": 1}), stop="tool_use"),
    "a call with its caller": stream_of(call("", "{}", caller={"type": "direct"}), stop="tool_use"),
    "several calls": stream_of(call(""), call("", '{"a":1}'), call("", '{"a"', ":", "2}"), stop="tool_use"),
    "a call after arguments over several lines": stream_of(call("", '{\n  "a":', "\n 1\n}\n"), stop="tool_use"),
    "web search": stream_of(
        *(text("I look."), search("", '{"query"', ': "we', 'ather"}'), result("web_search", [HIT])),
        text("It is ", "dry.", citations=[])[:1] + cited(FOUND) + text("It is ", "dry.")[1:],
        usage={**ALL_COUNTS, "iterations": None},
    ),
    "a search without arguments": stream_of(search(""), stop="pause_turn"),
    "web fetch": stream_of(
        call("", '{"url": "x"}', kind="server_tool_use", name="web_fetch"), result("web_fetch", PAGE)
    ),
    "code execution": stream_of(
        call("", '{"command": "ls"}', kind="server_tool_use", name="bash_code_execution"),
        result("bash_code_execution", RAN),
        ({"type": "container_upload", "file_id": "file_1"},),
        delta={"container": {"id": "container_1", "expires_at": "2026-11-16T10:00:00Z"}},
    ),
    "tool search": stream_of(
        call("", '{"query": "weather"}', kind="server_tool_use", name="tool_search_tool_regex"),
        result("tool_search", {"type": "tool_search_tool_search_result", "tool_references": []}),
        call("", '{"city": "Rome"}'),
        stop="tool_use",
    ),
    "a tool of an MCP server": stream_of(
        call("", '{"a"', ": 1}", kind="mcp_tool_use", server_name="s"),
        ({"type": "mcp_tool_result", "tool_use_id": "mcp_tool_use_1", "is_error": False, "content": []},),
    ),
    "an MCP tool without arguments": stream_of(call("", kind="mcp_tool_use", server_name="s")),
    "citations after the text": stream_of(text("Grass ", "is green.") + cited(CITED, CITED | {"document_index": 1})),
    "citations from null": stream_of(text("Grass.", citations=None) + cited(CITED)),
    "citations that began in the start": stream_of(text("Grass.", citations=[CITED]) + cited(CITED | {"title": "t"})),
    "compaction": stream_of(compaction({"content": "So far."}), text("Hello"), usage=ALL_COUNTS),
    "compaction with encrypted content": stream_of(
        compaction({"content": "So far.", "encrypted_content": "EpwB"}, encrypted_content=None), text("Hello")
    ),
    "compaction told twice": stream_of(compaction({"content": "So"}, {"content": "So far.", "encrypted_content": "E"})),
    "compaction that failed": stream_of(compaction({"content": None}), text("Hello")),
    "compaction that pauses": stream_of(compaction({"content": "So far."}), stop="compaction"),
    "a fallback model": stream_of(text("I ca"), (FALLBACK,), text("I can.")),
    "a refusal": stream_of(text(), stop="refusal", delta={"stop_details": REFUSED}),
    "cut by the cap": stream_of(text("long"), stop="max_tokens"),
    "a pause": stream_of(text("Still at it.\n"), search("", '{"query": "x"}'), stop="pause_turn"),
    "context management": stream_of(text("a"), context_management=EDITS),
    "content that is changed on its way in": stream_of(text("a"), input_transformations=[{"type": "thinking_dropped"}]),
    "a credit for a fallback": stream_of(
        text("a"), usage={"output_tokens": 8, "fallback_credit": {"type": "redeemed", "tokens": 5}}
    ),
    "all counts at the end": stream_of(text("a"), usage=ALL_COUNTS),
    "counts that are null": stream_of(
        text("a"), usage={"output_tokens": 8, "input_tokens": None, "cache_read_input_tokens": None, "iterations": None}
    ),
    "counts that are null at the start": [
        message_start({"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": None, "cache_creation": None}),
        *block(0, *text("a")),
        *(message_delta(), {"type": "message_stop"}),
    ],
    "two changes of the message": [
        *(message_start(), *block(0, *text("a"))),
        message_delta(None, {"output_tokens": 3}),
        message_delta("end_turn", {"output_tokens": 5, "input_tokens": 12}),
        {"type": "message_stop"},
    ],
    "blocks that grow side by side": [
        message_start(),
        *({"type": "content_block_start", "index": at, "content_block": call()[0] | {"id": f"t{at}"}} for at in (0, 1)),
        *(
            {"type": "content_block_delta", "index": at, "delta": {"type": "input_json_delta", "partial_json": piece}}
            for piece in ("", '{"a"', ": 1}")
            for at in (1, 0)
        ),
        *({"type": "content_block_stop", "index": at} for at in (1, 0)),
        *(message_delta("tool_use"), {"type": "message_stop"}),
    ],
    "pings and unknown events everywhere": [
        each
        for event in stream_of(text("a"), call("", '{"a": 1}'), stop="tool_use")
        for each in ((event, PING, FUTURE) if event["type"] != "ping" else ())
    ],
    "unknown deltas": stream_of(
        (*text("a"), {"type": "future_delta", "text": "x"}, {"type": "text_delta", "text": "b"}),
        (*call("", "{}"), {"type": "future_delta", "partial_json": "x"}),
    ),
    "unknown blocks": stream_of(
        ({"type": "future_block", "fields": {"a": [1, None]}, "text": "t"}, {"type": "future_delta", "x": 1}), text("a")
    ),
    "a block with unknown fields": stream_of(
        ({"type": "text", "text": "", "future": [1]}, {"type": "text_delta", "text": "a", "future": 2}),
        call("", "{}", future={"a": None}),
        thinking("hm", future=1),
    ),
    "deltas that do not fit their block": stream_of(
        (*text("a"), *thinking("b")[1:], *call('{"c": 1}')[1:], *compaction({"content": "d"})[1:]),
        (*thinking("a"), *text("b")[1:], *call('{"c": 1}')[1:], *cited(CITED)),
        (*call("", '{"a": 1}'), *text("b")[1:], *thinking("c")[1:], *cited(CITED), *compaction({"content": "d"})[1:]),
        ({"type": "redacted_thinking", "data": "xyz"}, *text("b")[1:], *thinking("c")[1:]),
        (*result("web_search", [HIT]), *text("b")[1:], *compaction({"content": "d"})[1:]),
    ),
}
"""All but what we read more strictly than the SDK."""
