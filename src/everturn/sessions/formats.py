"""From a line back to its record, whichever format wrote it: one decoder per format, and none is ever removed."""

from typing import Any

import msgspec

from everturn.core.budget import Usage, decode_usage, read_count
from everturn.core.errors import JournalError
from everturn.core.messages import Answer, Role
from everturn.core.prefix import Sent
from everturn.core.record_codec import decode_record
from everturn.core.records import FORMAT, MessageAdded, Record, UsageCharged
from everturn.sessions.lines import ESTIMATED, SYNTHETIC, TEXT, OwnFields, infer_kind

_MESSAGES = frozenset({"user", "assistant", "system"})


class _Body(msgspec.Struct, frozen=True):
    content: msgspec.Raw = msgspec.Raw(b"[]")
    id: str = ""
    model: str = ""
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None


class _Line(msgspec.Struct, frozen=True):
    """The fields of a line that we read; those of other programs are ignored."""

    type: str = ""
    uuid: str = ""
    timestamp: str = ""
    message: _Body | None = None
    record: msgspec.Raw = msgspec.Raw(b"")
    everturn: OwnFields | None = None
    content: msgspec.Raw = msgspec.Raw(b'""')
    subtype: str = ""
    request_id: str = msgspec.field(default="", name="requestId")
    usd: float = msgspec.field(default=0.0, name="costUSD")
    sidechain: bool = msgspec.field(default=False, name="isSidechain")
    meta: bool = msgspec.field(default=False, name="isMeta")
    summary: bool = msgspec.field(default=False, name="isCompactSummary")


class _Bill(msgspec.Struct, frozen=True):
    purpose: str
    turn: int = 0
    sent: Sent | None = None


class DecodedLine(msgspec.Struct, frozen=True):
    """A decoded line: its record, if it is one of ours, and its time, if it has one."""

    record: Record | None = None
    time: str = ""
    blobs: tuple[str, ...] = ()


_LINE = msgspec.json.Decoder(_Line)
_BILL = msgspec.json.Decoder(_Bill)
_BLOCKS = msgspec.json.Decoder(tuple[msgspec.Raw, ...])
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LOOSE = msgspec.json.Decoder(dict[str, Any])


def decode_line(line: bytes) -> DecodedLine:
    """Decodes a line. Raises `JournalError` for a broken one; a line of another program gives no record."""
    try:
        told = _LINE.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        return DecodedLine(_decode_odd(line, error))
    if told.type == "everturn":
        return DecodedLine(_decode_own(told), told.timestamp)
    if told.type in _MESSAGES:
        return _decode_message(told)
    return DecodedLine(decode_record(line), told.timestamp)


def find_newer_format(line: bytes) -> int | None:
    """The format that a line announces, if only a later Everturn understands it."""
    if b'"format"' not in line:
        return None
    try:
        fields = _FIELDS.decode(line)
        if bytes(fields.get("type", b"")) == b'"everturn"':
            fields = _FIELDS.decode(fields.get("record", b"{}"))
        written = msgspec.json.decode(fields.get("format", b"0"), type=int)
    except (msgspec.DecodeError, RecursionError):
        return None
    return written if bytes(fields.get("type", b"")) == b'"session"' and written > FORMAT else None


def _decode_odd(line: bytes, error: Exception) -> Record | None:
    """Decodes a line that is not of the second format, or is damaged."""
    record = decode_record(line)
    if record is None:
        kind = _LOOSE.decode(line).get("type")
        if kind in _MESSAGES or kind == "everturn":
            raise JournalError(f"a damaged {kind} line: {error}") from error
    return record


def _decode_own(line: _Line) -> Record | None:
    raw = bytes(line.record)
    if line.message is None:
        return decode_record(raw) if raw else None
    try:
        bill = _BILL.decode(raw)
    except msgspec.DecodeError as error:
        raise JournalError(f"a damaged usage record: {error}") from error
    return UsageCharged(
        purpose=bill.purpose,
        model=line.message.model,
        usage=_decode_usage(line.message.usage),
        usd=line.usd,
        turn=bill.turn,
        sent=bill.sent,
        api_id=_own_id(line.message.id, line.request_id),
        request_id=line.request_id,
    )


def _decode_message(line: _Line) -> DecodedLine:
    own = line.everturn or OwnFields()
    if line.sidechain or not line.uuid:
        return DecodedLine(None, line.timestamp)
    if line.type == "system":
        if line.everturn is None and line.subtype != "compact_boundary":
            return DecodedLine(None, line.timestamp)
        content = bytes(line.content)
        blocks = own.blocks if own.blocks is not None else decode_content(content)
    elif line.message is not None:
        content = bytes(line.message.content)
        blocks = decode_content(content)
    else:
        return DecodedLine(None, line.timestamp)
    inferred = infer_kind(line.type, content, meta=line.meta, summary=line.summary)
    role: Role = "assistant" if line.type == "assistant" else "user"
    record = MessageAdded(
        id=line.uuid,
        role=role,
        kind=own.kind or inferred,
        blocks=blocks,
        answer=_decode_answer(line.message, own, line.uuid) if role == "assistant" else own.answer,
        blames=own.blames,
        keeps=own.keeps,
    )
    return DecodedLine(record, line.timestamp, own.blobs)


def decode_content(content: bytes) -> tuple[msgspec.Raw, ...]:
    """The blocks, byte for byte. Raises `JournalError` where there are none to find."""
    if content.startswith(b'"'):
        return (msgspec.Raw(b"%b%b}" % (TEXT, content)),)
    try:
        return _BLOCKS.decode(content)
    except msgspec.DecodeError as error:
        raise JournalError(f"a message without content: {error}") from error


def _decode_answer(body: _Body | None, own: OwnFields, id_: str) -> Answer | None:
    if body is None or body.model == SYNTHETIC:
        return None
    return Answer(
        api_id=_own_id(body.id, id_),
        asked=body.model if own.asked is None else own.asked,
        model=body.model,
        stop_reason=body.stop_reason,
        usage=_decode_usage(body.usage),
        incomplete=own.incomplete,
    )


def _decode_usage(written: dict[str, Any] | None) -> Usage:
    usage, estimated = decode_usage(written), read_count((written or {}).get(ESTIMATED))
    return msgspec.structs.replace(usage, estimated_output=min(estimated, usage.output)) if estimated else usage


def _own_id(api_id: str, ours: str) -> str:
    """The API's id of the message; empty where the line holds our own id instead."""
    return "" if api_id == ours else api_id
