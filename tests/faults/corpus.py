"""The cases: read from the corpus and from our own lines, with a test's folder in place of the one that they name."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from everturn.modelserver import Script, parse_cases

CORPUS = Path(__file__).parent.parent / "corpora" / "model_faults.jsonl"
OWN = Path(__file__).with_name("own_cases.jsonl")
NAMED_FOLDER = "/home/dev/proj"
NAMED_HOST = "http://127.0.0.1:9"
"""Where a redirect of the corpus leads to."""


class Call(NamedTuple):
    name: str
    input: str
    """Strict JSON with sorted keys, so that two calls can be compared."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    responses: list[dict[str, Any]]
    expect: dict[str, Any]
    what: str = ""
    layer: str = ""
    ref: str = ""

    @property
    def attempts(self) -> range | None:
        match self.expect.get("attempts"):
            case [least, most]:
                return range(least, most + 1)
            case int(exactly):
                return range(exactly, exactly + 1)
            case _:
                return None

    @property
    def has_calls(self) -> bool:
        return any(event.get("content_block", {}).get("type") == "tool_use" for event in self.events)

    @property
    def cuts_a_call(self) -> bool:
        """The response with the call does not end well: what a retry might run again is in danger here."""
        return self.has_calls and self.layer != "semantic"

    @property
    def stalls(self) -> bool:
        return any("stall" in {response.get("transport"), response.get("end")} for response in self.responses)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for response in self.responses for event in events_of(response)]

    def with_words(self, old: str, new: str) -> "Case":
        """Wherever they stand in its JSON."""
        return msgspec.json.decode(msgspec.json.encode(self).replace(old.encode(), new.encode()), type=Case)

    def with_tool(self, name: str) -> "Case":
        """Its calls of Read ask for another tool with the same input."""
        return self.with_words('"name":"Read"', f'"name":"{name}"')

    def script(self) -> Script:
        return parse_cases(json.dumps(msgspec.to_builtins(self)))[self.id]

    def whole_calls(self) -> list[Call]:
        """What may run at all: calls that were closed and whose input is strict JSON, each as often as it stands here."""
        return [call for response in self.responses for call in closed_calls(events_of(response))]


def events_of(response: dict[str, Any]) -> list[dict[str, Any]]:
    return [item["data"] for item in response.get("sse", ()) if isinstance(item.get("data"), dict)]


def closed_calls(events: list[dict[str, Any]]) -> Iterator[Call]:
    """A second reading of the stream, independent of ours and strict on purpose."""
    started: dict[int, dict[str, Any]] = {}
    pieces: dict[int, str] = {}
    for event in events:
        match event:
            case {"type": "content_block_start", "index": index, "content_block": {"type": "tool_use"} as block}:
                started[index] = block
            case {"type": "content_block_delta", "index": index, "delta": {"partial_json": piece}}:
                pieces[index] = pieces.get(index, "") + piece
            case {"type": "content_block_stop", "index": index} if index in started:
                yield from read_call(started.pop(index), pieces.get(index))
            case {"type": "message_stop"}:
                for index, block in started.items():
                    yield from read_call(block, pieces.get(index))
                started.clear()


def read_call(block: dict[str, Any], text: str | None) -> Iterator[Call]:
    try:
        value = block["input"] if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        # A number that came as text is taken as the number that it is.
        limit = value.get("limit")
        meant = {**value, "limit": int(limit)} if isinstance(limit, str) and limit.isdecimal() else value
        yield Call(block["name"], json.dumps(meant, sort_keys=True))


def load_cases() -> list[Case]:
    lines = (CORPUS.read_text("utf-8") + OWN.read_text("utf-8")).splitlines()
    return [amended(msgspec.json.decode(line, type=Case)) for line in lines]


def amended(case: Case) -> Case:
    """A script whose last response is a good call would ask for it for ever: a plain answer ends it."""
    if case.id != "fault-sse-no-block-stop":
        return case
    start, stop = case.events[0], case.events[-1]
    text = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "hello"}}
    delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}}
    ends = {"type": "content_block_stop", "index": 0}
    answer = [{"event": event["type"], "data": event} for event in (start, text, ends, delta, stop)]
    return msgspec.structs.replace(
        case, responses=[*case.responses, {"status": 200, "sse": answer}], expect=case.expect | {"attempts": 2}
    )
