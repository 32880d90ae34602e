"""The context pipeline as the engine sees it: prepare a view, compact it, drain what is staged."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from everturn.core.limits import Limits
from everturn.core.messages import Message
from everturn.core.notes import Notes
from everturn.core.records import CollapseNoted
from everturn.core.tokens import Meter
from everturn.ports.ask import Ask
from everturn.ports.model import ModelCard


class Tracking(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of compactions."""

    failures: int = 0
    """In a row; at the limit the breaker is open for the session."""
    count: int = 0
    turns_since: int = 0


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One stage's report. Every stage that changes what is sent makes one."""

    stage: str
    cause: str
    tokens_before: int
    tokens_after: int


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    messages: Sequence[Message]
    """The view to send."""
    added: tuple[Message, ...] = ()
    """For the transcript: a boundary and its summary."""
    collapses: tuple[CollapseNoted, ...] = ()
    """Collapses that changed their state."""
    changes: tuple[Change, ...] = ()
    tracking: Tracking = Tracking()
    tokens: int = 0
    """Estimate of the whole request."""
    compacted: bool = False
    problem: str = ""
    """Why a compaction that was due did not work."""


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What the stages may know besides the messages."""

    card: ModelCard
    limits: Limits
    fixed_tokens: int
    """System prompt, tools and contexts."""
    output_cap: int
    meter: Meter | None
    tracking: Tracking
    collapse: bool = True
    """Staged collapses may be committed."""
    is_compaction: bool = False
    """The query is itself a compaction: it is never compacted."""
    notes: Notes = Notes()
    """Open tasks and the plan, which a summary must not lose."""


class Pipeline(Protocol):
    """Contract: never raises but `AbortedError` (through `ask`); a stage that fails leaves the messages as they were."""

    async def prepare(self, messages: Sequence[Message], situation: Situation, ask: Ask) -> Prepared:
        """All stages in order."""
        ...

    async def compact(
        self, messages: Sequence[Message], situation: Situation, ask: Ask, *, cause: str, instructions: str = ""
    ) -> Prepared:
        """Summarise now. `compacted` says whether it worked."""
        ...

    def drop_media(self, messages: Sequence[Message]) -> Prepared:
        """Takes out the media that was sent; `compacted` is False when there was none."""
        ...

    def drain(self, messages: Sequence[Message]) -> Prepared:
        """Commits every staged collapse; `collapses` names those that really changed the view."""
        ...

    @property
    def staged(self) -> int: ...

    def restore(self, collapses: tuple[CollapseNoted, ...]) -> None: ...

    def project(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The view as it was sent last: nothing new is decided."""
        ...
