"""Records as lines of JSON, and messages and denials as records; and both ways back. Pure."""

import json
from typing import Any

import msgspec

from everturn.core.denials import Denial, find_cause
from everturn.core.errors import JournalError
from everturn.core.messages import Message, decode_block, repair_surrogates
from everturn.core.records import AnyRecord, CallRefused, MessageAdded, Record

_DECODER = msgspec.json.Decoder(AnyRecord)
_KIND = msgspec.json.Decoder(dict[str, Any])
_ENCODER = msgspec.json.Encoder()
_TAGS = frozenset(kind.__struct_config__.tag for kind in Record.__subclasses__())


def encode_record(record: Record) -> bytes:
    """The record as one line, with its newline. Raw bytes inside must hold no newline.

    A lone surrogate in a text becomes U+FFFD, so that one bad text does not end the saving of a session.
    """
    try:
        return _ENCODER.encode(record) + b"\n"
    except UnicodeEncodeError:
        texts = {
            name: repair_surrogates(value)
            for name in record.__struct_fields__
            if isinstance(value := getattr(record, name), str)
        }
        return _ENCODER.encode(msgspec.structs.replace(record, **texts)) + b"\n"


def decode_record(line: bytes) -> Record | None:
    """The record of a line; None for a line of another program, or of an unknown kind. Raises `JournalError` on a broken line."""
    try:
        record: Record = _DECODER.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        try:
            kind = _KIND.decode(line).get("type")
        except (msgspec.DecodeError, RecursionError):
            raise JournalError(f"not a record: {error}") from error
        if isinstance(kind, str) and kind in _TAGS:
            raise JournalError(f"a damaged {kind} record: {error}") from error
        return None
    return record


def record_message(message: Message) -> MessageAdded:
    return MessageAdded(
        id=message.id,
        role=message.role,
        kind=message.kind,
        blocks=tuple(msgspec.Raw(block.raw) for block in message.blocks),
        answer=message.answer,
        blames=message.blames,
        keeps=message.keeps,
    )


def restore_message(record: MessageAdded) -> Message:
    return Message(
        id=record.id,
        role=record.role,
        kind=record.kind,
        blocks=tuple(decode_block(bytes(raw)) for raw in record.blocks),
        answer=record.answer,
        blames=record.blames,
        keeps=record.keeps,
    )


def record_denial(denial: Denial) -> CallRefused:
    input_ = json.dumps(denial.tool_input, ensure_ascii=False, default=str)
    return CallRefused(
        tool_use_id=denial.tool_use_id,
        name=denial.tool_name,
        input=msgspec.Raw(repair_surrogates(input_).encode()),
        reason=denial.reason,
        by=denial.by,
        rules=denial.rules,
        mode=denial.mode,
        cause=str(denial.cause or ""),
        unasked=denial.unasked,
    )


def restore_denial(record: CallRefused) -> Denial:
    return Denial(
        tool_use_id=record.tool_use_id,
        tool_name=record.name,
        tool_input=json.loads(bytes(record.input)),
        reason=record.reason,
        by=record.by,
        rules=record.rules,
        mode=record.mode,
        cause=find_cause(record.cause),
        unasked=record.unasked,
    )
