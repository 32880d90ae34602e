"""Where records go, and what a replay of them gives back."""

from typing import Protocol

import msgspec

from everturn.core.budget import Usage
from everturn.core.commands import QueuedCommand
from everturn.core.events import ModelUsage
from everturn.core.messages import Message
from everturn.core.records import CallIntended, CollapseNoted, Record


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """A session as its records tell it."""

    session_id: str
    messages: tuple[Message, ...] = ()
    model: str | None = None
    """After a fallback: the one that lasts."""
    usd: float = 0.0
    usage: Usage = Usage()
    models: dict[str, ModelUsage] = {}
    unsettled: tuple[CallIntended, ...] = ()
    """Calls with side effects whose outcome is unknown."""
    collapses: tuple[CollapseNoted, ...] = ()
    waiting: tuple[QueuedCommand, ...] = ()
    """Commands that were queued, and that no query took."""
    interrupted: tuple[QueuedCommand, ...] = ()
    """Commands that were started and never completed."""


class Journal(Protocol):
    """Contract: `append` returns when the record would survive SIGKILL; raises `JournalError` when it cannot be written."""

    session_id: str

    def append(self, record: Record) -> None: ...

    async def sync(self) -> None:
        """Returns when all records would survive a power cut."""
        ...

    def replay(self) -> Replay: ...

    def close(self) -> None:
        """May be called again."""
        ...
