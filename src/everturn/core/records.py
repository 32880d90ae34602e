"""The records of a session file: few kinds, versioned. A resumed session is folded from them; events are only shown."""

import msgspec

from everturn.core.budget import Usage
from everturn.core.contexts import Contexts
from everturn.core.events import GoalFile
from everturn.core.facts import Facts
from everturn.core.messages import Answer, Kind, Role
from everturn.core.notes import Notes
from everturn.core.prefix import Sent
from everturn.core.state import Guards
from everturn.core.tokens import Scale

FORMAT = 2
"""Version of the records; raised when an older Everturn could misread what we write. Their form on disk is in `sessions/lines.py`."""


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="type", omit_defaults=True):
    """The root of a closed set."""


class SessionOpened(Record, frozen=True, kw_only=True, tag="session"):
    """A session was opened: the first record of a file, and again when it is resumed."""

    format: int
    session_id: str
    at: float
    folder: str
    version: str
    after: str = ""
    """Id of the session that `/clear` ended for this one. It was asked for, so it counts as a conversation before its first message."""


class QueryBegan(Record, frozen=True, kw_only=True, tag="query"):
    query_id: str
    at: float
    source: str
    model: str
    mode: str = ""
    """The permission mode."""
    goes_on: bool = False
    """The query has no prompt: it goes on with the one before."""
    plain: bool = False
    """The session began without contexts. Older sessions do not tell."""


class ContextsKept(Record, frozen=True, kw_only=True, tag="contexts"):
    """The contexts before the messages as of the first query; later, whole each time, as of the message that reports a change."""

    contexts: Contexts
    message: str = ""
    """Id of the message that reports the change: without that message the model does not know it. Empty for the first contexts."""


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
    """A message was shown but never added, or is withdrawn."""

    id: str
    cause: str


class Rewound(Record, frozen=True, kw_only=True, tag="rewound"):
    """The session goes on from this message: later ones stay in the file, and are neither shown nor sent."""

    to: str


class MessagesMended(Record, frozen=True, kw_only=True, tag="mended"):
    """The API refused these messages as they are; from now on they are sent without what it named."""

    repair: str
    messages: tuple[str, ...]
    calls: tuple[str, ...] = ()
    """Ids of the calls that the refusal names."""


class CallIntended(Record, frozen=True, kw_only=True, tag="intent"):
    """Written before a call with side effects runs. Without its `settled`, the outcome is unknown."""

    tool_use_id: str
    name: str
    input: msgspec.Raw
    ahead: bool = False
    """The call waits for an earlier one. The record is written a second time when the call begins."""


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
    cause: str = ""
    """A `DenialCause`; older sessions do not tell."""
    unasked: bool = False
    """A person could have allowed it, and nobody was here to be asked."""


class TransitionTaken(Record, frozen=True, kw_only=True, tag="transition"):
    query_id: str
    transition: str
    turn: int
    guards: Guards | None = None
    """Guards with which the next turn begins; None in older sessions."""


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
    """Id of the response, as the API gave it."""
    request_id: str = ""
    """Id of the model call: the id of the message that the response became or would have become, or one of its own."""
    sent: Sent | None = None
    """Fingerprint of the request, for a call of the main loop."""


class ContextAltered(Record, frozen=True, kw_only=True, tag="context"):
    """The bytes sent before are no longer a prefix of the next request, and this is why."""

    stage: str
    cause: str
    tokens_before: int = 0
    tokens_after: int = 0


class CacheBroken(Record, frozen=True, kw_only=True, tag="cache_break"):
    """A request of the main loop found less in the cache than the one before it had left there. Follows its `usage`."""

    segment: str
    """Name of the first segment that differs; `nothing` where all was sent as before."""
    cause: str
    """The stages that reported it, settings that changed, `expired`, or `unexplained`."""
    kept: int = 0
    """Number of messages that were sent as before."""
    tokens: int = 0
    """Tokens that were paid for again."""
    usd: float = 0.0
    """USD beyond the price of reading these tokens from the cache."""
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
    """A result that was too large to be sent, or another text that was saved: a message holds both its ends or the path, the file all of it."""

    tool_use_id: str = ""
    """Id of the call whose result the message shortens; empty where the text was saved later."""
    path: str
    """Path of the file; empty where it could not be written."""
    characters: int
    """Length of the result. For a command: bytes that it had printed when the result was made."""


class ResultsCleared(Record, frozen=True, kw_only=True, tag="cleared"):
    """Results that went stale: from now on a line is sent in place of each. The transcript stays whole."""

    lines: dict[str, str]
    """The text for each call, by `tool_use_id`. It is kept so that another version sends the same bytes."""


class FactsKept(Record, frozen=True, kw_only=True, tag="facts"):
    """What was known when a compaction began, written right before its boundary: what came earlier need not be read again."""

    facts: Facts
    scales: dict[str, Scale] = {}
    """Scale of each model, by its id."""


class CompactionTried(Record, frozen=True, kw_only=True, tag="compaction"):
    """Compactions of the session so far, so that a resumed session does not retry what failed too often."""

    failures: int
    count: int
    id: str = ""
    """Id of the last compaction that worked; empty in older sessions."""


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
    """Files as a message shows them: without that message the model does not know them."""

    seen: tuple[SeenFile, ...] = ()
    forgotten: tuple[str, ...] = ()
    message: str | None = None
    """Id of that message. Empty: no message is needed, it counts at once. None, in older sessions: the next message is meant."""
    cleared: bool = False
    """What was shown of files before is no longer sent; this counts at once."""
    changed: dict[str, str] = {}
    """Files that changed without a call that names them, each with the id of what reported it; these count at once, too."""


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
    """All notes of the session; the last record counts."""

    notes: Notes


class WorkSpent(Record, frozen=True, kw_only=True, tag="work"):
    continuations: int
    percent: int
    diminishing: bool
    duration_s: float


class GoalVerifying(Record, frozen=True, kw_only=True, tag="verifying"):
    """The goal's command begins to run. Without the record `verified` it was cut off."""

    query_id: str
    attempt: int
    command: str


class GoalVerified(Record, frozen=True, kw_only=True, tag="verified"):
    query_id: str
    attempt: int
    passed: bool
    ended: str
    duration_s: float
    digest: str = ""
    """Of the output, without what differs from run to run: three of the same in a row mean that the work is stuck."""
    files: tuple[GoalFile, ...] = ()


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
    | GoalVerifying
    | GoalVerified
    | QueryEnded
)
