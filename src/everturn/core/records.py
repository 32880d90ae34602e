"""What is kept on disk: few kinds, versioned. State after a crash is a replay of these; events are for eyes only."""

import json
from typing import Any

import msgspec

from everturn.core.budget import Usage
from everturn.core.contexts import Contexts
from everturn.core.errors import JournalError
from everturn.core.events import Denial
from everturn.core.facts import Facts
from everturn.core.messages import Answer, Kind, Message, Role, decode_block, repair_surrogates
from everturn.core.notes import Notes
from everturn.core.prefix import Sent
from everturn.core.state import Guards
from everturn.core.tokens import Scale

FORMAT = 2
"""Raised when an older Everturn could misread what we write. How a record looks on disk is the journal's matter."""


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="type", omit_defaults=True):
    """The root of a closed set."""


class SessionOpened(Record, frozen=True, kw_only=True, tag="session"):
    """First in a file, and again at each reopening."""

    format: int
    session_id: str
    at: float
    folder: str
    version: str
    after: str = ""
    """Id of the session that was cleared for this one: a new conversation was asked for, so that it counts before its first message."""


class QueryBegan(Record, frozen=True, kw_only=True, tag="query"):
    query_id: str
    at: float
    source: str
    model: str
    mode: str = ""
    """The permission mode."""
    goes_on: bool = False
    """Without a prompt: it takes up the query before it."""
    plain: bool = False
    """The session began without contexts. Older sessions do not tell."""


class ContextsKept(Record, frozen=True, kw_only=True, tag="contexts"):
    """What stands before the messages, from the first query on; then, whole each time, what the model was told since."""

    contexts: Contexts
    message: str = ""
    """Id of the one that tells it: without that message the model does not know it. Empty for the beginning."""


class MessageAdded(Record, frozen=True, kw_only=True, tag="message"):
    """Block bytes are written as they are: what is read back is what was sent."""

    id: str
    role: Role
    kind: Kind
    blocks: tuple[msgspec.Raw, ...]
    answer: Answer | None = None
    blames: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()


class MessageRetracted(Record, frozen=True, kw_only=True, tag="retracted"):
    """Of a message that was shown but never added, or of one that is taken back."""

    id: str
    cause: str


class Rewound(Record, frozen=True, kw_only=True, tag="rewound"):
    """The session goes on from this message: what was said after it stays in the file, and out of sight."""

    to: str


class MessagesMended(Record, frozen=True, kw_only=True, tag="mended"):
    """The API refused these messages as they are; from now on they are sent without what it named."""

    repair: str
    messages: tuple[str, ...]
    calls: tuple[str, ...] = ()
    """Ids of the calls that it complained about."""


class CallIntended(Record, frozen=True, kw_only=True, tag="intent"):
    """Written before a call with side effects runs. Without its `settled`, the outcome is unknown."""

    tool_use_id: str
    name: str
    input: msgspec.Raw
    ahead: bool = False
    """It waits for a call before it, and is written a second time when it begins."""


class CallSettled(Record, frozen=True, kw_only=True, tag="settled"):
    tool_use_id: str
    is_error: bool


class CallRefused(Record, frozen=True, kw_only=True, tag="denied"):
    """A call that was not allowed to run: rules, the mode or a person said no."""

    tool_use_id: str
    name: str
    input: msgspec.Raw
    reason: str
    by: str = ""
    rules: tuple[str, ...] = ()
    mode: str = ""


class TransitionTaken(Record, frozen=True, kw_only=True, tag="transition"):
    query_id: str
    transition: str
    turn: int
    guards: Guards | None = None
    """As the next iteration begins with them; older sessions do not tell."""


class ErrorWithheld(Record, frozen=True, kw_only=True, tag="withheld"):
    kind: str
    text: str


class UsageCharged(Record, frozen=True, kw_only=True, tag="usage"):
    """One model call, or a part of one, that was billed; also attempts that were thrown away."""

    purpose: str
    model: str
    usage: Usage
    usd: float
    turn: int = 0
    api_id: str = ""
    """Of the response, by the API's word."""
    request_id: str = ""
    """Tells the calls apart: the id of the message that the response became or would have become, or one of its own."""
    sent: Sent | None = None
    """Of a call of the main loop: the fingerprint of its request."""


class ContextAltered(Record, frozen=True, kw_only=True, tag="context"):
    """The bytes sent before are no longer a prefix of the next request, and this is why."""

    stage: str
    cause: str
    tokens_before: int = 0
    tokens_after: int = 0


class CacheBroken(Record, frozen=True, kw_only=True, tag="cache_break"):
    """A request of the main loop found less in the cache than the one before it had left there. Follows its `usage`."""

    segment: str
    """The first that differs; `nothing` where all was sent as before."""
    cause: str
    """The stages that reported it, settings that changed, `expired`, or `unexplained`."""
    kept: int = 0
    """Messages that went on as they were."""
    tokens: int = 0
    """Paid for again."""
    usd: float = 0.0
    """More than reading them would have cost."""
    turn: int = 0
    request_id: str = ""
    """The call's, as in its `usage`."""


class CollapseNoted(Record, frozen=True, kw_only=True, tag="collapse"):
    """A stretch of the transcript for which `summary` stands once it is committed."""

    id: str
    first: str
    last: str
    summary: str
    state: str
    stage: str = "collapse"
    """`snip`: no model wrote the summary."""


class ResultSpilled(Record, frozen=True, kw_only=True, tag="spilled"):
    """A result that was too large to be sent, or another text that was put aside: a message holds both ends or the path, the file all of it."""

    tool_use_id: str = ""
    """Set where the message that brought it holds both its ends; empty where it was put aside later."""
    path: str
    """Empty where it could not be kept."""
    characters: int
    """Of what a command printed: bytes, as far as it had come when the result was made."""


class ResultsCleared(Record, frozen=True, kw_only=True, tag="cleared"):
    """Results that went stale: from now on a line stands for each in what is sent. The transcript stays whole."""

    lines: dict[str, str]
    """By `tool_use_id`. The words themselves, so that another version sends the same bytes."""


class FactsKept(Record, frozen=True, kw_only=True, tag="facts"):
    """What was known when a compaction began, written right before its boundary: what came earlier need not be read again."""

    facts: Facts
    scales: dict[str, Scale] = {}
    """By model."""


class CompactionTried(Record, frozen=True, kw_only=True, tag="compaction"):
    """How compactions fare since the session began: the breaker outlives the process."""

    failures: int
    count: int


class SeenFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file as the model knows it."""

    path: str
    size: int
    mtime_ns: int
    digest: str
    partial: bool = False
    shown: bool = False
    outdated: bool = False
    left: tuple[int, int] | None = None
    """Size and time of change at the end of a command of the model, while which the file changed."""


class FilesKnown(Record, frozen=True, kw_only=True, tag="files"):
    """What a message tells of files: without that message the model does not know it."""

    seen: tuple[SeenFile, ...] = ()
    forgotten: tuple[str, ...] = ()
    message: str | None = None
    """Its id. Empty: nobody need tell it, and it counts at once. Older sessions do not say: the next one is meant."""
    cleared: bool = False
    """All that was known before is no longer in sight; that counts at once."""
    changed: dict[str, str] = {}
    """Files that changed without a call that names them, each with the id of what told of it; counts at once, too."""


class ModeChanged(Record, frozen=True, kw_only=True, tag="mode"):
    mode: str


class ModelChanged(Record, frozen=True, kw_only=True, tag="model"):
    before: str
    model: str
    cause: str


class CommandChanged(Record, frozen=True, kw_only=True, tag="command"):
    id: str
    state: str
    text: str = ""
    address: str = ""


class NotesKept(Record, frozen=True, kw_only=True, tag="notes"):
    """Whole each time: the last one counts."""

    notes: Notes


class WorkSpent(Record, frozen=True, kw_only=True, tag="work"):
    continuations: int
    percent: int
    diminishing: bool
    duration_s: float


class QueryEnded(Record, frozen=True, kw_only=True, tag="terminal"):
    query_id: str
    reason: str
    error: str = ""


AnyRecord = (
    SessionOpened
    | QueryBegan
    | ContextsKept
    | MessageAdded
    | MessageRetracted
    | Rewound
    | MessagesMended
    | CallIntended
    | CallSettled
    | CallRefused
    | TransitionTaken
    | ErrorWithheld
    | UsageCharged
    | ContextAltered
    | CacheBroken
    | CollapseNoted
    | ResultSpilled
    | ResultsCleared
    | FactsKept
    | CompactionTried
    | FilesKnown
    | ModeChanged
    | ModelChanged
    | CommandChanged
    | NotesKept
    | WorkSpent
    | QueryEnded
)
_DECODER = msgspec.json.Decoder(AnyRecord)
_KIND = msgspec.json.Decoder(dict[str, Any])
_ENCODER = msgspec.json.Encoder()
_TAGS = frozenset(kind.__struct_config__.tag for kind in Record.__subclasses__())


def encode_record(record: Record) -> bytes:
    """One line, its newline included. Raw bytes inside hold no newline: whoever made them saw to that.

    Half a character in a text becomes U+FFFD: one word of somebody must not end the saving of a session.
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
    """None for a line of another program, or of a kind that does not concern us. Raises `JournalError` on a broken one."""
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
    )
