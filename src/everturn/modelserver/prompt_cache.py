"""A small prompt cache: which part of a request was written before, so that usage tells what a real server would."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

import msgspec

from everturn.modelserver.ask import THINKING_TYPES, Ask, blocks_of
from everturn.modelserver.tokens import MESSAGE_TOKENS, estimate_block, estimate_json

LOOK_BACK = 20
"""Blocks before a mark in which an earlier entry is still found."""
_LIFETIMES = {"5m": 300.0, "1h": 3_600.0}


class CachedSegment(msgspec.Struct, frozen=True, kw_only=True):
    """One block of a request, in the order of the cache: tools, system, messages."""

    text: str
    """What the prefix depends on."""
    tokens: int
    ttl: str | None
    """The lifetime that its cache mark asks for; None: no mark."""
    markable: bool = True


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    ttl: str
    expires: float


class CacheUse(msgspec.Struct, frozen=True, kw_only=True):
    """How the input of one request is billed, and what it leaves in the cache once its answer begins."""

    fresh: int
    read: int = 0
    written: dict[str, int] = {}
    """Tokens by lifetime."""
    entries: dict[bytes, str] = {}
    """Prefixes to write or to refresh, with their lifetime."""

    @property
    def total(self) -> int:
        return self.fresh + self.read + sum(self.written.values())


def segments_of(ask: Ask) -> list[CachedSegment]:
    segments = [*_tools(ask), *_system(ask), *_messages(ask)]
    automatic = ask.body.get("cache_control")
    if isinstance(automatic, dict):
        for at in range(len(segments) - 1, -1, -1):
            if segments[at].markable:
                segments[at] = msgspec.structs.replace(segments[at], ttl=segments[at].ttl or _ttl(automatic))
                break
    return segments


def count_input(ask: Ask) -> int:
    return sum(segment.tokens for segment in segments_of(ask))


def _tools(ask: Ask) -> Iterator[CachedSegment]:
    for tool in ask.tools:
        bare = without_marks(tool)
        yield CachedSegment(text=f"{ask.model.id} tool {json.dumps(bare)}", tokens=estimate_json(bare), ttl=_mark(tool))


def _system(ask: Ask) -> Iterator[CachedSegment]:
    speed = ask.body.get("speed", "standard")
    for block in ask.system:
        text = f"{ask.model.id} system {speed} {json.dumps(without_marks(block))}"
        yield CachedSegment(text=text, tokens=estimate_block(block), ttl=_mark(block))


def _messages(ask: Ask) -> Iterator[CachedSegment]:
    pictured = any(placed.block.get("type") == "image" for placed in ask.nested_blocks)
    settings = [ask.body.get(field) for field in ("speed", "tool_choice", "thinking", "output_config")]
    ground = f"{ask.model.id} {json.dumps([*settings, pictured])}"
    for message in ask.messages:
        # The first block of a message carries what the message itself costs.
        extra = MESSAGE_TOKENS
        for block in blocks_of(message.get("content")):
            yield CachedSegment(
                text=f"{ground} {message.get('role')} {json.dumps(without_marks(block))}",
                tokens=estimate_block(block, ask.model.image_tokens) + extra,
                ttl=_mark(block),
                markable=block.get("type") not in THINKING_TYPES,
            )
            extra = 0


def without_marks(value: Any) -> Any:
    """The value without its cache marks: they do not change what is cached."""
    match value:
        case dict():
            return {key: without_marks(inner) for key, inner in value.items() if key != "cache_control"}
        case list():
            return [without_marks(inner) for inner in value]
    return value


def _mark(block: Mapping[str, Any]) -> str | None:
    mark = block.get("cache_control")
    if isinstance(mark, dict):
        return _ttl(mark)
    inner = [_mark(part) for part in blocks_of(block.get("content"))] if block.get("type") == "tool_result" else []
    return next((ttl for ttl in inner if ttl), None)


def _ttl(mark: Mapping[str, Any]) -> str:
    return "1h" if mark.get("ttl") == "1h" else "5m"


class PromptCache:
    def __init__(self) -> None:
        self._entries: dict[bytes, _Entry] = {}

    def judge(self, segments: list[CachedSegment], minimum: int, now: float) -> CacheUse:
        """What a request reads and writes; nothing is kept before `commit`."""
        sums = list(accumulate(segment.tokens for segment in segments))
        keys = list(accumulate((segment.text for segment in segments), _chain, initial=b""))[1:]
        marks = [at for at, segment in enumerate(segments) if segment.ttl and sums[at] >= minimum]
        found = [
            at for mark in marks for at in range(mark, max(-1, mark - LOOK_BACK - 1), -1) if self._lives(keys[at], now)
        ]
        last_read = max(found, default=-1)
        read = sums[last_read] if found else 0
        entries = {keys[at]: self._entries[keys[at]].ttl for at in found if at == last_read}
        written: dict[str, int] = {}
        done = read
        for mark in marks:
            ttl = segments[mark].ttl or "5m"
            if mark > last_read:
                written[ttl] = written.get(ttl, 0) + sums[mark] - done
                done = sums[mark]
            if not self._lives(keys[mark], now):
                entries[keys[mark]] = ttl
        return CacheUse(fresh=(sums[-1] if sums else 0) - done, read=read, written=written, entries=entries)

    def commit(self, use: CacheUse, now: float) -> None:
        for key, ttl in use.entries.items():
            self._entries[key] = _Entry(ttl=ttl, expires=now + _LIFETIMES[ttl])

    def _lives(self, key: bytes, now: float) -> bool:
        entry = self._entries.get(key)
        return entry is not None and entry.expires > now


def _chain(before: bytes | str, text: bytes | str) -> bytes:
    parts = [part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in (before, text)]
    return hashlib.sha256(b"\0".join(parts)).digest()
