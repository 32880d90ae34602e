"""Where the prompt cache is told to keep a prefix: at most four marks in a request. Pure."""

from collections.abc import Sequence
from typing import Literal

from everturn.core.messages import Block, Document, Image, Text, ToolResult, ToolUse
from everturn.core.transcript import Wire

MAX_COUNT = 4
LOOK_BACK = 20
"""Blocks before a mark in which the API looks for an earlier entry."""
_MARKS = {
    "5m": b',"cache_control":{"type":"ephemeral"}}',
    "1h": b',"cache_control":{"type":"ephemeral","ttl":"1h"}}',
}

Place = tuple[int, int]
"""A message and a block in it."""


def plan_marks(
    wires: Sequence[Wire], kept: int | None = None, anchor: int | None = None, *, writes: bool = True
) -> frozenset[Place]:
    """Three at most, for the end of the system prompt has the fourth.

    The last two rounds are marked: the one that was just written for the next request, and the one before, under which
    this request finds what the last one wrote. Where more blocks lie between them than the API looks back, one more
    mark stands half-way. Where only the first `kept` messages stand as they were sent before, it stands at the last
    round among these instead, since there an entry was left. Otherwise it stays before `anchor`, where the next change
    will come: as long as it is asked for, that entry does not expire. Where nothing shall be written, the newest round has none.
    """
    newest = last_user(wires, len(wires))
    rounds = (newest if newest is None else last_user(wires, newest), newest if writes else None)
    places = [place for index in rounds if index is not None and (place := last_eligible(wires, index)) is not None]
    third = None
    if kept is not None:
        third = last_round(wires, kept)
    elif len(places) == 2:  # noqa: PLR2004 (both rounds)
        third = _half_way(wires, places[0], places[1])
    if third is None and anchor is not None:
        third = last_round(wires, anchor)
    return frozenset(places if third is None else (*places, third))


def last_round(wires: Sequence[Wire], before: int) -> Place | None:
    """The end of the last round before a message."""
    index = last_user(wires, before)
    return None if index is None else last_eligible(wires, index)


def last_user(wires: Sequence[Wire], before: int) -> int | None:
    for index in range(before - 1, -1, -1):
        if wires[index].role == "user":
            return index
    return None


def last_eligible(wires: Sequence[Wire], message: int, block: int | None = None) -> Place | None:
    """The place itself (by default the message's last block), or the nearest before it that can carry a mark."""
    for index in range(message, -1, -1):
        blocks = wires[index].blocks
        start = len(blocks) - 1 if block is None or index < message else block
        for position in range(start, -1, -1):
            if is_eligible(blocks[position]):
                return index, position
    return None


def is_eligible(block: Block) -> bool:
    """Not thinking, not blank text, nothing whose kind we do not know, and nothing that is marked already."""
    match block.view:
        case Text(text=text):
            fit = bool(text.strip())
        case ToolUse() | ToolResult() | Image() | Document():
            fit = True
        case _:
            fit = False
    return fit and b'"cache_control"' not in block.raw


def mark(raw: bytes, ttl: Literal["5m", "1h"]) -> bytes:
    return raw[: raw.rindex(b"}")] + _MARKS[ttl]


def _half_way(wires: Sequence[Wire], first: Place, last: Place) -> Place | None:
    passed = wires[first[0] : last[0] + 1]
    if sum([len(wire.blocks) for wire in passed]) < LOOK_BACK:
        return None
    between = [
        (index, position)
        for index, wire in enumerate(passed, first[0])
        for position in range(len(wire.blocks))
        if first < (index, position) < last
    ]
    if len(between) < LOOK_BACK:
        return None
    place = last_eligible(wires, *between[len(between) // 2])
    return place if place is not None and place > first else None
