"""Messages of JSON-RPC 2.0, to bytes and back: one message is one line."""

import json
import re
from typing import Any

import msgspec

from everturn.core.messages import encode_repaired


class RpcRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What we ask."""

    jsonrpc: str
    id: int
    method: str
    params: dict[str, Any] | None = None


class RpcNotification(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What we tell; nobody answers."""

    jsonrpc: str
    method: str
    params: dict[str, Any] | None = None


class RpcReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Our answer to a server's request; one of the two is set."""

    jsonrpc: str
    id: int | str
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


Outgoing = RpcRequest | RpcNotification | RpcReply


class RpcError(msgspec.Struct, frozen=True, kw_only=True):
    code: int = 0
    message: str = ""
    data: Any = None


class RpcMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Any message of a server: a request has a method and an id, a notification a method, an answer an id."""

    id: int | str | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw = msgspec.Raw()
    """Empty where there is none."""
    error: RpcError | None = None


class UnreadableError(Exception):
    """The bytes are no message."""


_DECODER = msgspec.json.Decoder(RpcMessage)
_BATCH = msgspec.json.Decoder(list[msgspec.Raw])
_ENCODER = msgspec.json.Encoder()
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})\s*[,}]')
_EDGE = 512
"""Bytes at either end of a message in which its id is looked for."""


def encode_message(message: Outgoing) -> bytes:
    """Without a line break in it. Half characters of foreign text, which JSON cannot hold, are replaced."""
    try:
        return _ENCODER.encode(message)
    except UnicodeEncodeError:
        return encode_repaired(msgspec.to_builtins(message))


def decode_messages(data: bytes) -> tuple[RpcMessage, ...]:
    """One, or those of a batch (2025-03-26 has them). Raises `UnreadableError`."""
    if data[:1] == b"[":
        try:
            return tuple(_decode(bytes(raw)) for raw in _BATCH.decode(data))
        except (msgspec.DecodeError, RecursionError) as error:
            raise UnreadableError(str(error)) from None
    return (_decode(data),)


def _decode(data: bytes) -> RpcMessage:
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        # Half characters and numbers out of range: Python reads what the strict decoder does not.
        return _DECODER.decode(encode_repaired(json.loads(data)))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(str(error)) from None


def find_id(head: bytes, tail: bytes) -> int | None:
    """Which request a message answers that cannot be read as a whole: programs write the id first or last."""
    for edge in (head[:_EDGE], tail[-_EDGE:]):
        found = _ID.findall(edge)
        if len(found) == 1:
            return int(found[0])
    return None
