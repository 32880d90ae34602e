"""From a record to its line: messages in the public form that other programs read, everything else in a form of our own.

    {"parentUuid":…,"isSidechain":false,…,"type":"user","message":{…},"uuid":…,"timestamp":…,"everturn":{…}}
    {"type":"everturn","timestamp":…,"record":{"type":"intent",…}}

A charge also carries what programs that count money look for: `message.usage`, `requestId` and `costUSD`. They know a call
by its message id and request id, so that the answer it led to, which has the same two, is not counted again.
"""

import time
from collections.abc import Callable

import msgspec

from everturn.core.budget import Usage
from everturn.core.errors import JournalError
from everturn.core.messages import Answer, Kind, repair_surrogates
from everturn.core.record_codec import encode_record
from everturn.core.records import MessageAdded, MessageRetracted, Record, SessionOpened, UsageCharged
from everturn.core.spelled_paths import spell_path

TEXT = b'{"type":"text","text":'
"""Beginning of the JSON of a plain text block; its text and a bracket follow."""
RESULT = b'[{"type":"tool_result"'
META = frozenset({Kind.ATTACHMENT, Kind.HIDDEN, Kind.INTERRUPTION, Kind.SUMMARY, Kind.LOCAL})
"""Kinds that the user did not write; other programs do not show them as prompts."""
SUBTYPES = {Kind.BOUNDARY: "compact_boundary", Kind.NOTICE: "notice", Kind.PROGRESS: "progress"}
"""Kinds that are never sent, with the subtype of their system line."""
ESTIMATED = "estimated_output_tokens"
"""Our counter among those of the API."""
SYNTHETIC = "<synthetic>"
"""Name of the model of an answer that no model gave."""
_encode = msgspec.json.Encoder().encode
_STRING = msgspec.json.Decoder(str)


class LineEncoder:
    """Encodes records as lines, which take over parent, time and folder from earlier ones.

    `now` gives seconds since 1970; a time that jumps back is not followed.
    """

    def __init__(self, session_id: str, *, now: Callable[[], float] = time.time) -> None:
        self.parent: str | None = None
        """Id of the last message."""
        self.time = ""
        """Time of the last line."""
        self.first_format = False
        """The file began in the first format; the next line must show an older Everturn that it goes on in a later one."""
        self._before: str | None = None
        self._now = now
        self._millisecond = self._second = -1
        self._until_second = ""
        self._stamped = ("", b"")
        self._session = _encode(session_id)
        self._place = (b'""', b'""', b'""')
        self._shared = self._render_shared()

    def enter(self, *, folder: str, version: str) -> None:
        # A path need not be text; what is shown of it must be.
        self._place = (_encode(spell_path(folder)), _encode(version), self._place[2])
        self._shared = self._render_shared()

    def check_out(self, branch: str) -> None:
        self._place = (*self._place[:2], _encode(repair_surrogates(branch)))
        self._shared = self._render_shared()

    def encode(self, record: Record, *, blobs: tuple[str, ...] = ()) -> bytes:
        """The record as one line, with its newline. `blobs`: hashes of media stored beside the file. Raises `JournalError`."""
        try:
            if type(record) is MessageAdded:
                return self._encode_message(record, blobs)
            return self._encode_other(record)
        except UnicodeEncodeError as error:
            raise JournalError(
                f"A {type(record).__name__} record cannot be written: it holds half a character."
            ) from error

    def _encode_other(self, record: Record) -> bytes:
        if type(record) is SessionOpened:
            record = msgspec.structs.replace(record, folder=spell_path(record.folder))
            self.enter(folder=record.folder, version=record.version)
            if self.first_format:
                return encode_record(record)
        elif type(record) is MessageRetracted and record.id == self.parent:
            self.parent = self._before
        told = self._encode_bill(record) if type(record) is UsageCharged else b'"record":' + encode_record(record)[:-1]
        return b'{"type":"everturn","timestamp":"%b",%b}\n' % (self._stamp(), told)

    def _encode_bill(self, record: UsageCharged) -> bytes:
        return (
            b'"requestId":%b,"costUSD":%b,"message":{"id":%b,"model":%b,"usage":%b},'
            b'"record":{"type":"usage","purpose":%b,"turn":%d%b}'
        ) % (
            _encode(record.request_id),
            _encode(record.usd),
            _encode(record.api_id or record.request_id),
            _encode(record.model),
            encode_usage(record.usage),
            _encode(record.purpose),
            record.turn,
            b"" if record.sent is None else b',"sent":%b' % _encode(record.sent),
        )

    def _encode_message(self, record: MessageAdded, blobs: tuple[str, ...]) -> bytes:
        type_, body = _encode_assistant(record) if record.role == "assistant" else _encode_user(record)
        line = b'{"parentUuid":%b%b"type":%b,%b,"uuid":%b,"timestamp":"%b"%b}\n' % (
            _encode(self.parent),
            self._shared,
            type_,
            body,
            _encode(record.id),
            self._stamp(),
            _encode_own(record, body, blobs),
        )
        self._before, self.parent = self.parent, record.id
        return line

    def _render_shared(self) -> bytes:
        """The fields that all messages of a query share."""
        folder, version, branch = self._place
        return b',"isSidechain":false,"userType":"external","cwd":%b,"sessionId":%b,"version":%b,"gitBranch":%b,' % (
            folder,
            self._session,
            version,
            branch,
        )

    def _stamp(self) -> bytes:
        """The time in UTC with milliseconds, never before that of the last line."""
        millisecond = int(self._now() * 1_000)
        if millisecond != self._millisecond or self.time is not self._stamped[0]:
            self._millisecond = millisecond
            second, thousandth = divmod(millisecond, 1_000)
            if second != self._second:
                self._second = second
                self._until_second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self.time = max(self.time, f"{self._until_second}.{thousandth:03d}Z")
            self._stamped = (self.time, self.time.encode())
        return self._stamped[1]


class OwnFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of a message that the public form does not have."""

    kind: Kind | None = None
    asked: str | None = None
    incomplete: bool = False
    blames: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    blocks: tuple[msgspec.Raw, ...] | None = None
    """Blocks of a system line that holds more than one plain text."""
    answer: Answer | None = None
    """The `answer` of a user message that has one."""
    blobs: tuple[str, ...] = ()
    """Hashes of media stored beside the file."""


def infer_kind(type_: str, content: bytes, *, meta: bool = False, summary: bool = False) -> Kind:
    """The kind of a message whose line has none of our fields."""
    if type_ == "assistant":
        return Kind.ANSWER
    if type_ == "system":
        return Kind.BOUNDARY
    if summary:
        return Kind.SUMMARY
    if meta:
        return Kind.HIDDEN
    return Kind.RESULTS if content.startswith(RESULT) else Kind.PROMPT


def encode_usage(usage: Usage) -> bytes:
    """Usage as the API reports it, with our estimated part of the output, which other programs take for counted."""
    hourly = usage.cache_write_1h
    parts = (
        b',"cache_creation":{"ephemeral_5m_input_tokens":%d,"ephemeral_1h_input_tokens":%d}'
        % (usage.cache_write - hourly, hourly)
        if hourly
        else b""
    )
    if usage.estimated_output:
        parts += b',"%b":%d' % (ESTIMATED.encode(), usage.estimated_output)
    return b'{"input_tokens":%d,"output_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d%b}' % (
        usage.input,
        usage.output,
        usage.cache_write,
        usage.cache_read,
        parts,
    )


def encode_content(blocks: tuple[msgspec.Raw, ...]) -> bytes:
    """A single plain text as its string; anything else as the list of its blocks, byte for byte."""
    if len(blocks) == 1 and (text := plain_text(bytes(blocks[0]))) is not None:
        return text
    return b"[%b]" % b",".join(map(bytes, blocks))


def plain_text(raw: bytes) -> bytes | None:
    """The JSON string of a plain text block, if the block can be made again from it byte for byte."""
    if not raw.startswith(TEXT):
        return None
    text = raw[len(TEXT) : -1]
    try:
        _STRING.decode(text)
    except msgspec.DecodeError:
        return None
    return text if text == text.strip() else None


def _encode_user(record: MessageAdded) -> tuple[bytes, bytes]:
    content = encode_content(record.blocks)
    if record.kind in SUBTYPES:
        # Whole in our own field where a string cannot say it.
        words = content if content.startswith(b'"') else b'""'
        return b'"system"', b'"subtype":"%b","level":"info","content":%b' % (SUBTYPES[record.kind].encode(), words)
    flags = b'"isMeta":true,' if record.kind in META else b""
    if record.kind is Kind.SUMMARY:
        flags += b'"isCompactSummary":true,'
    return b'"user"', b'%b"message":{"role":"user","content":%b}' % (flags, content)


def _encode_assistant(record: MessageAdded) -> tuple[bytes, bytes]:
    answer = record.answer or Answer(model=SYNTHETIC)
    return b'"assistant"', (
        b'"message":{"id":%b,"type":"message","role":"assistant","model":%b,"content":[%b],"stop_reason":%b,'
        b'"stop_sequence":null,"usage":%b},"requestId":%b'
    ) % (
        # An answer without an id takes ours: whoever counts calls tells them apart by it.
        _encode(answer.api_id or record.id),
        _encode(answer.model),
        b",".join(map(bytes, record.blocks)),
        _encode(answer.stop_reason),
        encode_usage(answer.usage),
        _encode(record.id),
    )


def _encode_own(record: MessageAdded, body: bytes, blobs: tuple[str, ...]) -> bytes:
    """Our fields of a message; empty for most messages."""
    answer, kind = record.answer, record.kind
    own = OwnFields(
        kind=None if kind is _inferred(record) else kind,
        asked=answer.asked if answer and record.role == "assistant" and answer.asked != answer.model else None,
        incomplete=answer.incomplete if answer and record.role == "assistant" else False,
        blames=record.blames,
        keeps=record.keeps,
        blocks=record.blocks if kind in SUBTYPES and body.endswith(b'"content":""') else None,
        answer=answer if record.role == "user" else None,
        blobs=blobs,
    )
    return b"" if own == _NOTHING else b',"everturn":%b' % _encode(own)


_NOTHING = OwnFields()


def _inferred(record: MessageAdded) -> Kind:
    if record.role == "assistant":
        return Kind.ANSWER
    if record.kind in SUBTYPES:
        return Kind.BOUNDARY
    if record.kind in META:
        return Kind.SUMMARY if record.kind is Kind.SUMMARY else Kind.HIDDEN
    result = bool(record.blocks) and bytes(record.blocks[0]).startswith(RESULT[1:])
    return Kind.RESULTS if result else Kind.PROMPT
