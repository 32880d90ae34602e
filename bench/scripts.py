"""What the benchmark's server says: each answer is encoded once, in the dialect of the client that asks."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, NamedTuple

Dialect = Literal["messages", "responses"]
Events = tuple[bytes, ...]
"""A stream in pieces, each sent by itself."""

ANSWER = "All is well."


class Script(NamedTuple):
    """So many turns with a call, then an answer of so many pieces.

    `{turn}` in the input is its number: a loop may rightly stop a model that calls the same again and again.
    """

    turns: int = 0
    tool: str = "Bash"
    input: tuple[tuple[str, str], ...] = (("command", "echo {turn}"),)
    pieces: int = 3


SCRIPTS = {
    "answer": Script(),
    "shell": Script(turns=10),
    "long": Script(turns=400, input=(("command", "printf %02048d {turn}"),)),
    "thousand": Script(turns=1_000),
    "deltas": Script(pieces=20_000),
    "double": Script(turns=9, tool="double", input=(("number", "{turn}"),)),
    "marathon": Script(turns=1_000_000, tool="double", input=(("number", "{turn}"),)),
    "pi": Script(turns=10, tool="bash"),
    "codex": Script(turns=10, tool="exec_command", input=(("cmd", "echo {turn}"),)),
}


@cache
def render_answer(name: str, turn: int, dialect: Dialect, *, streams: bool) -> Events:
    """The answer to the request that holds the results of so many `turn`s; one JSON body where it does not stream."""
    script = SCRIPTS[name]
    call = {"id": f"{turn:08d}", "input": fill(script.input, turn)} if turn < script.turns else None
    text = ["I look, ", "then I tell", "."] if call else pieces_of(script)
    if dialect == "messages":
        whole = message(script.tool, text, call)
        events = message_events(whole, text, call)
    else:
        whole = response(script.tool, text, call)
        events = response_events(whole, text)
    if not streams:
        return (encode(whole),)
    sent = tuple(b"event: %b\ndata: %b\n\n" % (event["type"].encode(), encode(event)) for event in events)
    return sent if script.pieces > len(ANSWER) else (b"".join(sent),)


def fill(fields: tuple[tuple[str, str], ...], turn: int) -> dict[str, str | int]:
    return {name: turn if value == "{turn}" else value.replace("{turn}", str(turn)) for name, value in fields}


def pieces_of(script: Script) -> list[str]:
    if script.pieces <= len(ANSWER):
        return [ANSWER[:4], ANSWER[4:7], ANSWER[7:]]
    return [f"word{number % 1000:03d} " for number in range(script.pieces)]


def message(tool: str, text: list[str], call: dict[str, Any] | None) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": "".join(text)}]
    if call:
        content.append({"type": "tool_use", "id": f"toolu_{call['id']}", "name": tool, "input": call["input"]})
    return {
        "id": f"msg_{call['id'] if call else 'last'}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": content,
        "stop_reason": "tool_use" if call else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def message_events(whole: dict[str, Any], text: list[str], call: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for piece in text:
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
    yield {"type": "content_block_stop", "index": 0}
    if call:
        yield {"type": "content_block_start", "index": 1, "content_block": {**whole["content"][1], "input": {}}}
        arguments = json.dumps(call["input"])
        for part in ("", arguments[:9], arguments[9:]):
            yield {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": part},
            }
        yield {"type": "content_block_stop", "index": 1}
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


def response(tool: str, text: list[str], call: dict[str, Any] | None) -> dict[str, Any]:
    content = [{"type": "output_text", "text": "".join(text), "annotations": [], "logprobs": []}]
    output: list[dict[str, Any]] = [
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": content}
    ]
    if call:
        arguments = {"name": tool, "call_id": f"call_{call['id']}", "arguments": json.dumps(call["input"])}
        output = [{"type": "function_call", "id": f"fc_{call['id']}", "status": "completed", **arguments}]
    return {
        "id": f"resp_{call['id'] if call else 'last'}",
        "object": "response",
        "created_at": 1_760_000_000,
        "status": "completed",
        "model": "gpt-5",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 120,
        },
    }


def response_events(whole: dict[str, Any], text: list[str]) -> Iterator[dict[str, Any]]:
    item = whole["output"][0]
    place = {"output_index": 0, "item_id": item["id"]}
    yield {
        "type": "response.created",
        "sequence_number": 0,
        "response": {**whole, "status": "in_progress", "output": []},
    }
    if item["type"] == "message":
        opened = {**item, "content": [], "status": "in_progress"}
        yield {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": opened}
        for number, piece in enumerate(text, start=2):
            yield {
                "type": "response.output_text.delta",
                "sequence_number": number,
                "content_index": 0,
                "delta": piece,
                **place,
            }
    yield {"type": "response.output_item.done", "sequence_number": 98, "output_index": 0, "item": item}
    yield {"type": "response.completed", "sequence_number": 99, "response": whole}


def encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
