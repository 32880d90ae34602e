"""The context pipeline as the engine sees it: prepare a view, compact it, drain what is staged."""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from everturn.core.limits import Limits
from everturn.core.messages import Block, Message
from everturn.core.notes import Notes
from everturn.core.records import CollapseNoted, FactsKept, ResultsCleared, ResultSpilled
from everturn.core.tokens import Meter
from everturn.ports.ask import Ask
from everturn.ports.files import FileState
from everturn.ports.model import Clearing, ModelCard


class Tracking(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of compactions."""

    failures: int = 0
    """Failed compactions in a row. At the limit none is tried any more in this session."""
    count: int = 0
    id: str = ""
    """Of the last one that worked: the id of its boundary in the transcript."""
    turns_since: int = 0
    """Rounds of tools since then."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One stage's report. Every stage that changes what is sent makes one."""

    stage: str
    cause: str
    tokens_before: int
    tokens_after: int


class Fitted(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one round, as they enter the transcript."""

    blocks: tuple[Block, ...]
    spilled: tuple[ResultSpilled, ...] = ()
    change: Change | None = None
    """What was changed; None where all results fitted."""


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    messages: Sequence[Message]
    """The view to send."""
    added: tuple[Message, ...] = ()
    """For the transcript: a boundary and its summary."""
    collapses: tuple[CollapseNoted, ...] = ()
    """Collapses that changed their state."""
    cleared: ResultsCleared | None = None
    """Results for which a line stands from now on."""
    spilled: tuple[ResultSpilled, ...] = ()
    """Texts that went into files, to be recorded: the model may read these in a resumed session, too."""
    facts: FactsKept | None = None
    """Facts to record before `added`, where there was a compaction."""
    clearing: Clearing | None = None
    """What the API is to clear by itself, where it can."""
    restored: tuple[tuple[str, FileState], ...] = ()
    """Files that the summary shows again, whole."""
    changes: tuple[Change, ...] = ()
    change_points: tuple[Block, ...] = ()
    """Blocks at which the next changes may come, one for each message. Everything before such a block stays the same until then."""
    tracking: Tracking = Tracking()
    tokens: int = 0
    """Estimate of the whole request."""
    compacted: bool = False
    problem: str = ""
    """Why a compaction that was due did not work."""
    too_large: bool = False
    """Not even the last round alone could be summed up."""
    hopeless: bool = False
    """One was due, and no summary could make it small enough: none was asked for."""

    @property
    def only_cleared(self) -> bool:
        """Old results and finished work are out of sight, and nothing else: what is known of files still holds."""
        return bool(self.changes) and {change.stage for change in self.changes} <= {
            "tool_results",
            "microcompact",
            "collapse",
        }


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What the stages may know besides the messages."""

    card: ModelCard
    limits: Limits
    fixed_tokens: int
    """System prompt, tools and contexts."""
    output_cap: int
    meter: Meter | None
    tracking: Tracking
    is_cold: bool = False
    """The cache has expired since the last request: whatever is sent now is written to it anew."""
    collapse: bool = True
    """Staged collapses may be committed."""
    is_compaction: bool = False
    """The query is itself a compaction: it is never compacted."""
    notes: Notes = Notes()
    """Open tasks, the plan and pinned notes, which a summary must not lose."""
    session_id: str = ""
    folder: str = ""
    """The working folder: paths in calls may be relative to it."""
    small_model: str = ""
    """Summarises finished stretches in the background; empty = nobody does."""
    tools: tuple[str, ...] = ()
    """Names of those that are listed."""
    recent_files: tuple[str, ...] = ()
    """Files that the model has read or written, the latest last."""
    changed_files: Mapping[str, str] = {}
    """Files that commands or others changed, each with the id of the first call or message that reported it."""
    on_compaction: Callable[[str], None] | None = None
    """Hears the cause when one begins: somebody waits for it."""
    count: Callable[[Sequence[Message]], Awaitable[int | None]] | None = None
    """Asks the API how many tokens the whole request has; None where it does not say."""


class Collapses(Protocol):
    """Summaries that stand for finished stretches of the conversation, staged or committed."""

    @property
    def staged(self) -> tuple[CollapseNoted, ...]:
        """Written, but what they stand for is still sent."""
        ...

    @property
    def committed(self) -> tuple[CollapseNoted, ...]: ...

    @property
    def all(self) -> tuple[CollapseNoted, ...]: ...

    def stage(self, first_id: str, last_id: str, summary: str) -> str:
        """A summary of the messages from one id to another, both included. Returns the collapse's id. Raises `OptionError`."""
        ...

    def undo(self, id_: str) -> bool:
        """Whether there was one to take back."""
        ...


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

    async def fit_results(
        self, results: Sequence[Block], tool_limits: Mapping[str, int], *, limits: Limits, window: int
    ) -> Fitted:
        """Stage two, for a round that comes in. `tool_limits`: characters, by `tool_use_id`."""
        ...

    def plan_background(self, situation: Situation, ask: Ask) -> Coroutine[Any, Any, None] | None:
        """What is worth doing beside the call that follows `prepare`. It may be cancelled at any time, and never raises."""
        ...

    def drop_media(self, messages: Sequence[Message], blamed: Collection[str], *, every: bool, said: str) -> Prepared:
        """Takes out the pieces that are named; where none of them is sent any more, the newest; with `every`, all.

        `said` is the refusal as a person reads it. `compacted` is False when there was nothing to take out.
        """
        ...

    def drain(self, messages: Sequence[Message]) -> Prepared:
        """Commits every staged collapse; `collapses` names those that really changed the view."""
        ...

    @property
    def staged(self) -> int:
        """How many collapses wait for room to be needed."""
        ...

    @property
    def collapses(self) -> Collapses: ...

    def take_news(self) -> tuple[tuple[CollapseNoted, ...], tuple[Change, ...]]:
        """Collapses that were staged or undone since `prepare`, and what that changes, when nothing more is prepared."""
        ...

    def restore(
        self,
        collapses: tuple[CollapseNoted, ...],
        *,
        cleared: Mapping[str, str] = {},
        messages: Sequence[Message] = (),
        facts: FactsKept | None = None,
    ) -> None:
        """Restores the state of a resumed session. `messages` are its whole transcript."""
        ...

    def project(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The view as it was sent last: nothing new is decided."""
        ...
