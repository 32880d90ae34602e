"""Cutting a scripted answer where the request would have ended it: at its stop sequences, its max_tokens, the window."""

import json
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from everturn.modelserver.answers import Block, Call, Raw, Redacted, ServerCall, Text, Thinking
from everturn.modelserver.tokens import cut_text, estimate_json, estimate_text
from everturn.modelserver.wire_json import render_json


class CutAnswer(NamedTuple):
    blocks: tuple[Block, ...]
    cut: bool


def count_output(block: Block) -> int:
    match block:
        case Text() | Thinking():
            return estimate_text(block.text)
        case Redacted():
            return estimate_text(block.data)
        case Call():
            return estimate_text(block.name) + estimate_text(input_text(block))
        case ServerCall():
            return estimate_text(block.name) + estimate_json(block.input)
        case Raw():
            return estimate_json(block.block)


def input_text(call: Call) -> str:
    """The JSON of a call's input, as far as it is sent."""
    return render_json(call.input)[: call.partial]


def fit_tokens(blocks: Iterable[Block], limit: int) -> CutAnswer:
    kept: list[Block] = []
    left = limit
    for block in blocks:
        cost = count_output(block)
        if cost > left:
            rest = _beginning(block, left)
            return CutAnswer((*kept, rest) if rest else tuple(kept), cut=True)
        kept.append(block)
        left -= cost
    return CutAnswer(tuple(kept), cut=False)


def _beginning(block: Block, tokens: int) -> Block | None:
    """What fits of a block; None when nothing does."""
    match block:
        case Text() | Thinking() if tokens > 0:
            return msgspec.structs.replace(block, text=cut_text(block.text, tokens))
        case Call() if tokens >= estimate_text(block.name):
            room = tokens - estimate_text(block.name)
            return msgspec.structs.replace(block, partial=len(cut_text(input_text(block), room)))
        case _:
            return None


def fit_stops(blocks: tuple[Block, ...], stops: list[str]) -> tuple[tuple[Block, ...], str | None]:
    """The blocks up to the first stop sequence in a text, and that sequence."""
    for at, block in enumerate(blocks):
        if isinstance(block, Text):
            found = [(block.text.index(stop), stop) for stop in stops if stop in block.text]
            if found:
                position, stop = min(found)
                before = block.text[:position]
                return blocks[:at] + ((Text(text=before),) if before else ()), stop
    return blocks, None


def is_whole(call: Call) -> bool:
    try:
        json.loads(input_text(call))
    except ValueError:
        return False
    return True
