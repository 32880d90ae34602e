"""Where records go, and what a replay of them gives back."""

from pathlib import Path
from typing import Protocol

import msgspec

from everturn.core.budget import Usage
from everturn.core.cache_ledger import CacheContents
from everturn.core.commands import QueuedCommand
from everturn.core.contexts import Contexts
from everturn.core.denials import Denial
from everturn.core.events import ModelUsage
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
    deferred: bool = False
    """A hook deferred its last call, which has no result yet. The query ended there, and continues with that call."""
    tools_ran: bool = False
    """The last round has its results, and nothing was decided since."""
    untold: str = ""
    """The last transition, where no message has followed it: what it was to tell the model may be missing."""
    output: int = 0
    """Tokens of the main loop."""
    output_before_compaction: int | None = None
    """Output tokens before the compaction; None where there was none in this query."""
    spent: Spent = Spent()
    digests: tuple[str, ...] = ()
    """Of what the goal's command printed, each time that it failed."""
    began_at: float = 0.0
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
    """The contexts as the model knows them by now."""
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
    """Those files that no longer exist. They are looked up on the disk, since no record says so."""
    facts: FactsKept | None = None
    """What was known at the last compaction."""
    waiting: tuple[QueuedCommand, ...] = ()
    """Commands that were queued, and that no query took."""
    interrupted: tuple[QueuedCommand, ...] = ()
    """Commands that were started and never completed."""
    unheard: tuple[QueuedCommand, ...] = ()
    """Those commands whose text is in no message, because it was lost in the crash."""
    notes: Notes = Notes()
    denials: tuple[Denial, ...] = ()
    """Calls that were not allowed to run, oldest first."""
    files: tuple[SeenFile, ...] = ()
    changed_files: dict[str, str] = {}
    """Files that commands or others changed, each with the id of the first call or message that reported it."""
    """Least recently seen first."""
    mended: tuple[MessagesMended, ...] = ()
    compaction: CompactionTried | None = None
    turns_since_compaction: int = 0
    counted: Counted | None = None
    warmth: CacheContents | None = None
    """State of the prompt cache; None where nothing was sent yet."""
    query: OpenQuery | None = None
    """Set where the last query was cut off."""


class Journal(Protocol):
    """Contract: `append` returns when the record would survive SIGKILL; raises `JournalError` when it cannot be written.

    A record that the disk did not take is not lost: it is written before the next one that the disk takes.
    """

    session_id: str

    @property
    def path(self) -> Path | None:
        """Path of the session's file; None where it has none, or none yet."""
        ...

    @property
    def is_kept(self) -> bool:
        """False where the session lives in memory alone, by request or until there is a disk that takes it."""
        ...

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


class SessionFile(Protocol):
    """The file of the session under way. Raises `JournalError` where there is none (yet)."""

    def rename(self, title: str) -> str:
        """Gives the session a title, and returns it on one line."""
        ...

    def export(self, file: str, *, model: str, usd: float) -> str:
        """Writes the conversation to a file and returns its path. Without a name it gets one from the session's id."""
        ...
