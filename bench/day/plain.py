"""The two that Everturn is held against: a loop whose window never ends, and one that summarises everything at 90 %."""

import json

import msgspec

from bench.day.desk import MODEL, SYSTEM, Desk, input_of
from bench.day.tools import SCHEMAS
from everturn.core.messages import Block, Role, ToolUse, encode_block, result_block, text_block
from everturn.core.transcript import Wire
from everturn.ports.model import Request

WINDOW = 200_000
THRESHOLD = 0.9
ASK = "Summarise this conversation so that the work can go on from the summary alone. " * 4


def run_plain(desk: Desk, *, window: int | None) -> None:
    """`window` None: it never ends."""
    wires: list[Wire] = []
    for prompt in desk.prompts():
        add(wires, "user", text_block(prompt))
        while True:
            request = make_request(wires)
            if window is not None and desk.count(request) > THRESHOLD * window:
                summary = summarise(desk, wires)
                wires = [Wire("user", (text_block(summary), text_block(prompt)))]
                request = make_request(wires)
            said, calls, _ = desk.play(request)
            uses = [
                ToolUse(f"toolu_{len(wires)}_{at}", call.tool, json_raw(input_of(call)))
                for at, call in enumerate(calls)
            ]
            add(wires, "assistant", text_block(said), *map(encode_block, uses))
            if not calls:
                break
            results = [(use.id, *desk.look(call.target)) for use, call in zip(uses, calls, strict=True)]
            add(wires, "user", *(result_block(id_, text, is_error=failed) for id_, text, failed in results))


def summarise(desk: Desk, wires: list[Wire]) -> str:
    """One more block at the end, so that all before it is read from the cache."""
    last = wires[-1]
    asked = [*wires[:-1], Wire("user", (*last.blocks, text_block(ASK)))]
    return desk.summarise(make_request(asked))[0]


def make_request(wires: list[Wire]) -> Request:
    return Request(model=MODEL, messages=wires, max_tokens=8_000, system=SYSTEM, tools=SCHEMAS)


def add(wires: list[Wire], role: Role, *blocks: Block) -> None:
    if wires and wires[-1].role == role:
        wires[-1] = Wire(role, wires[-1].blocks + blocks)
    else:
        wires.append(Wire(role, blocks))


def json_raw(fields: dict[str, str]) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(fields).encode())
