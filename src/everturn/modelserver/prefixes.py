"""What stands before each thinking block of a conversation, as a digest: newer models refuse their thinking where that has changed."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from everturn.modelserver.ask import THINKING_TYPES, Ask, PlacedBlock
from everturn.modelserver.prompt_cache import without_marks


class ThinkingPrefix(NamedTuple):
    path: str
    signature: str
    digest: bytes
    """Of tools, system prompt and messages before the block, without cache marks and without other thinking."""


def list_prefixes(ask: Ask, answer: Iterable[Mapping[str, Any]] = ()) -> Iterator[ThinkingPrefix]:
    """`answer`: the blocks that this request was answered with; then only their thinking is listed."""
    said = [PlacedBlock("", "assistant", block, len(ask.messages)) for block in answer]
    before = hashlib.sha256(_encode([ask.tools, ask.system]))
    for placed in (*ask.blocks, *said):
        if placed.block.get("type") not in THINKING_TYPES:
            before.update(_encode([placed.role, placed.block]))
        elif not said or placed.message == len(ask.messages):
            signature = placed.block.get("signature") or placed.block.get("data")
            yield ThinkingPrefix(placed.path, str(signature), before.digest())


def _encode(value: object) -> bytes:
    return json.dumps(without_marks(value), sort_keys=True).encode()
