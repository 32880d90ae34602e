"""Answers written down to the byte, in the format of the fault corpus, and the steps that play them."""

import json
import re
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import msgspec

from everturn.modelserver.steps import HangUp, Head, Send, Step, Steps, Wait

_MEGABYTE = 1 << 20
_GARBAGE = b"\x00\x01\x02 this is no HTTP\r\n"
_DATE = re.compile(r"\{date\+(\d+)\}")
_GZIP = 31
"""Window bits that make zlib write a gzip header."""


class SseItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing in a stream; exactly one of the kinds below."""

    event: str | None = None
    data: Any = msgspec.UNSET
    raw: str | None = None
    raw_hex: str | None = None
    sleep_ms: float | None = None
    repeat: int | None = None
    items: tuple["SseItem", ...] = ()
    """Of a repeat; `{i}` in them is the number of the round, alone it becomes the number itself."""
    repeat_text: int | None = None
    """A text delta of so many bytes."""

    def __post_init__(self) -> None:
        kinds = (self.event, self.raw, self.raw_hex, self.sleep_ms, self.repeat, self.repeat_text)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("an item is one of event, raw, raw_hex, sleep_ms, repeat, repeat_text")
        if self.event is not None and self.data is msgspec.UNSET:
            raise ValueError("an event needs data")
        if self.raw_hex is not None:
            bytes.fromhex(self.raw_hex)


class Wire(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    status: int = 200
    headers: dict[str, str] = {}
    """`{date+N}` becomes the HTTP date in N seconds."""
    sse: tuple[SseItem, ...] | None = None
    json: Any = msgspec.UNSET
    """Here and in `body`, `{APIKEY}` becomes the client's key."""
    body: str | None = None
    bomb_bytes: int | None = None
    """A body of so many bytes of comments; small on the wire when zipped."""
    gzip: bool = False
    eol: str = "\n"
    end: Literal["eof", "rst", "stall"] = "eof"
    transport: Annotated[str, msgspec.Meta(pattern="^(rst|refuse|eof|garbage|stall|dns_.*|tls_.*)$")] | None = None
    """Instead of an answer. What a listening server cannot do (refuse, dns, tls) is played as a reset."""
    delay_ms: float = 0
    chunk: int | None = None
    """Bytes in one write, with `gap_ms` after each."""
    gap_ms: float = 0


def plan_wire(wire: Wire, key: str, *, now: Callable[[], float] = time.time) -> Steps:
    match wire.transport:
        case None:
            yield from _plan_response(wire, key, now)
        case "stall" | "eof" as how:
            yield HangUp(how=how)
        case "garbage":
            yield Send(data=_GARBAGE)
            yield HangUp(how="eof")
        case _:
            yield HangUp(how="rst")


def _plan_response(wire: Wire, key: str, now: Callable[[], float]) -> Steps:
    if wire.delay_ms:
        yield Wait(ms=wire.delay_ms)
    yield Head(status=wire.status, headers=render_headers(wire, now), framing="close")
    squeeze = zlib.compressobj(6, zlib.DEFLATED, _GZIP) if wire.gzip else None
    for piece in render_body(wire, key):
        match piece:
            case bytes():
                data = squeeze.compress(piece) + squeeze.flush(zlib.Z_SYNC_FLUSH) if squeeze else piece
                yield from _in_chunks(data, wire)
            case pause:
                yield Wait(ms=pause)
    if squeeze:
        yield Send(data=squeeze.flush())
    yield HangUp(how=wire.end)


def render_headers(wire: Wire, now: Callable[[], float]) -> dict[str, str]:
    def date(found: re.Match[str]) -> str:
        import email.utils  # seldom needed, and a tenth of the start-up

        return email.utils.formatdate(now() + int(found[1]), usegmt=True)

    headers = {name: _DATE.sub(date, value) for name, value in wire.headers.items()}
    if wire.sse is not None:
        headers.setdefault("content-type", "text/event-stream")
    if wire.json is not msgspec.UNSET:
        headers.setdefault("content-type", "application/json")
    if wire.gzip:
        headers["content-encoding"] = "gzip"
    return headers | {"connection": "close"}


def render_body(wire: Wire, key: str = "") -> Iterator[bytes | float]:
    """The bytes of the body before compression, with the pauses (in ms) between them."""
    if wire.sse is not None:
        yield from render_items(wire.sse, wire.eol)
    elif wire.bomb_bytes is not None:
        line = b": " + b"0" * _MEGABYTE + b"\n"
        for _ in range(-(-wire.bomb_bytes // len(line))):
            yield line
    elif wire.json is not msgspec.UNSET:
        yield json.dumps(wire.json).replace("{APIKEY}", key).encode()
    elif wire.body:
        yield wire.body.replace("{APIKEY}", key).encode("utf-8", "surrogatepass")


def render_items(items: tuple[SseItem, ...], eol: str) -> Iterator[bytes | float]:
    for item in items:
        if item.sleep_ms is not None:
            yield item.sleep_ms
        elif item.raw is not None:
            yield item.raw.replace("\n", eol).encode("utf-8", "surrogatepass")
        elif item.raw_hex is not None:
            yield bytes.fromhex(item.raw_hex)
        elif item.repeat_text is not None:
            yield from _long_delta(item.repeat_text, eol)
        elif item.repeat is not None:
            for number in range(item.repeat):
                yield from render_items(_numbered(item.items, number), eol)
        else:
            yield f"event: {item.event}{eol}data: {json.dumps(item.data)}{eol}{eol}".encode()


def _long_delta(size: int, eol: str) -> Iterator[bytes]:
    before, after = json.dumps(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "|"}}
    ).split("|")
    yield f"event: content_block_delta{eol}data: {before}".encode()
    for start in range(0, size, _MEGABYTE):
        yield b"x" * min(_MEGABYTE, size - start)
    yield f"{after}{eol}{eol}".encode()


def _numbered(items: tuple[SseItem, ...], number: int) -> tuple[SseItem, ...]:
    return tuple(
        msgspec.structs.replace(
            item,
            event=item.event and item.event.replace("{i}", str(number)),
            raw=item.raw and item.raw.replace("{i}", str(number)),
            data=_fill(item.data, number),
            items=_numbered(item.items, number),
        )
        for item in items
    )


def _fill(value: Any, number: int) -> Any:
    match value:
        case "{i}":
            return number
        case str():
            return value.replace("{i}", str(number))
        case dict():
            return {key: _fill(inner, number) for key, inner in value.items()}
        case list() | tuple():
            return [_fill(inner, number) for inner in value]
    return value


def _in_chunks(data: bytes, wire: Wire) -> Iterator[Step]:
    size = wire.chunk or len(data) or 1
    for start in range(0, len(data), size):
        yield Send(data=data[start : start + size])
        if wire.chunk and wire.gap_ms:
            yield Wait(ms=wire.gap_ms)


def thoughts_of(wire: Wire) -> list[dict[str, Any]]:
    """The thinking and the calls that a stream hands out, as blocks: what a client will send back."""
    blocks: dict[Any, dict[str, Any]] = {}
    for item in wire.sse or ():
        match item.data:
            case {
                "type": "content_block_start",
                "index": index,
                "content_block": {"type": "thinking" | "redacted_thinking" | "tool_use"} as block,
            }:
                blocks[index] = dict(block)
            case {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "thinking_delta", "thinking": text},
            } if index in blocks:
                blocks[index]["thinking"] = blocks[index].get("thinking", "") + text
            case {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "signature_delta", "signature": text},
            } if index in blocks:
                blocks[index]["signature"] = text
    return list(blocks.values())
