"""Where records go, and what a replay of them gives back."""

from typing import Protocol

import msgspec

from everturn.core.budget import Usage
from everturn.core.cache_ledger import Warmth
from everturn.core.commands import QueuedCommand
from everturn.core.contexts import Contexts
from everturn.core.events import Denial, ModelUsage
from everturn.core.messages import Message
from everturn.core.notes import Notes
from everturn.core.records import (
    CallIntended,
    CollapseNoted,
    CompactionTried,
    FactsKept,
    MessagesMended,
    Record,
    SeenFile,
)
from everturn.core.state import Guards
from everturn.ports.ledger import Spent


class OpenQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query that never reached its end, as far as it came."""

    guards: Guards = Guards()
    tools_ran: bool = False
    """The last round has its results, and nothing was decided since."""
    output: int = 0
    """Tokens of the main loop."""
    output_before_compaction: int | None = None
    """None where nothing was compacted in it."""
    spent: Spent = Spent()
    began_with: str = ""
    """Id of its first message."""


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """What the API counted with its last answer, as long as what was sent then is still a prefix."""

    message: str
    tokens: int


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """A session as its records tell it."""

    session_id: str
    messages: tuple[Message, ...] = ()
    model: str | None = None
    """After a fallback: the one that lasts."""
    asked_model: str | None = None
    """The one that the last query began with."""
    mode: str | None = None
    """The permission mode."""
    contexts: Contexts | None = None
    """What the session began with; None where it does not tell."""
    told_contexts: Contexts | None = None
    """As the model knows them by now."""
    usd: float = 0.0
    usage: Usage = Usage()
    models: dict[str, ModelUsage] = {}
    unsettled: tuple[CallIntended, ...] = ()
    """Calls with side effects whose outcome is unknown."""
    collapses: tuple[CollapseNoted, ...] = ()
    cleared: dict[str, str] = {}
    """Lines that stand for stale results, by `tool_use_id`."""
    spilled: tuple[str, ...] = ()
    """Files that hold results which were too large to be sent."""
    gone: tuple[str, ...] = ()
    """Those of them that are no longer there. Found on the disk: no record tells it."""
    facts: FactsKept | None = None
    """What was known at the last compaction."""
    waiting: tuple[QueuedCommand, ...] = ()
    """Commands that were queued, and that no query took."""
    interrupted: tuple[QueuedCommand, ...] = ()
    """Commands that were started and never completed."""
    unheard: tuple[QueuedCommand, ...] = ()
    """Those of them whose words are in no message: they were lost on the way."""
    notes: Notes = Notes()
    denials: tuple[Denial, ...] = ()
    """Calls that were not allowed to run, oldest first."""
    files: tuple[SeenFile, ...] = ()
    changed_files: dict[str, str] = {}
    """By commands or by others: each with the id of the call or message that told of it first."""
    """Least recently seen first."""
    mended: tuple[MessagesMended, ...] = ()
    compaction: CompactionTried | None = None
    counted: Counted | None = None
    warmth: Warmth | None = None
    """None where nothing was sent yet."""
    query: OpenQuery | None = None
    """Set where the last query was cut off."""


class Journal(Protocol):
    """Contract: `append` returns when the record would survive SIGKILL; raises `JournalError` when it cannot be written.

    A record that the disk did not take is not lost: it is written before the next one that the disk takes.
    """

    session_id: str

    def append(self, record: Record) -> None: ...

    async def sync(self, *, end: bool = False) -> None:
        """Returns when all records would survive a power cut, as far as the user wants to wait for that.

        `end` says that a query ends here; otherwise a side effect follows.
        """
        ...

    def replay(self) -> Replay: ...

    def close(self) -> None:
        """May be called again."""
        ...
