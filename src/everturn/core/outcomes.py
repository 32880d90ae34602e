"""The outcomes of actions. They hold everything that `decide` needs to know besides the guards."""

from typing import ClassVar

import msgspec

from everturn.core.actions import (
    Action,
    AdmitPrompt,
    CallModel,
    CompactNow,
    DrainCollapses,
    RunStopPhase,
    RunTools,
)
from everturn.core.state import AbortCause, Phase, Reason

EVERY_ACTION: frozenset[type[Action]] = frozenset(
    {AdmitPrompt, CallModel, RunTools, DrainCollapses, CompactNow, RunStopPhase}
)
LEDGER_REASONS = (
    Reason.MAX_BUDGET_USD,
    Reason.MAX_TOKENS_TOTAL,
    Reason.MAX_TOOL_CALLS,
    Reason.MAX_TURNS,
    Reason.MAX_WALL_TIME,
    Reason.REPEATED_CALLS,
    Reason.STRUCTURED_OUTPUT_RETRIES,
)
"""Reasons of the ledger's limits. `max_turns` is among them for an engine that works for another one; otherwise the policy counts turns."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An error as a person reads it. Withheld while recovery is possible, released once if it was not."""

    text: str
    kind: str = ""
    status: int | None = None
    by_api: bool = True
    """The API failed, not we."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The root of a closed set. `follows` names the actions that can answer so, `echoes` the fields that repeat the action's."""

    follows: ClassVar[frozenset[type[Action]]] = frozenset({CallModel})
    echoes: ClassVar[frozenset[str]] = frozenset()


class PromptAdmitted(Outcome, frozen=True, kw_only=True):
    """The prompt is in the transcript, or the query goes on without one."""

    follows: ClassVar[frozenset[type[Action]]] = frozenset({AdmitPrompt})
    deferred: bool = False
    """It continues with a call that a hook deferred."""


class PromptBlocked(Outcome, frozen=True, kw_only=True):
    """A hook refused the prompt, which is not kept."""

    follows: ClassVar[frozenset[type[Action]]] = frozenset({AdmitPrompt})
    error: Problem


class CallsRequested(Outcome, frozen=True, kw_only=True):
    """The response holds at least one complete tool call; its stop reason does not matter."""


class Answered(Outcome, frozen=True, kw_only=True):
    """The response holds no call, and the model stopped by itself."""


class Truncated(Outcome, frozen=True, kw_only=True):
    """The answer hit the output cap before it held a complete call."""

    can_grow: bool
    """The model takes a larger cap than the one in force."""
    error: Problem


class TooLong(Outcome, frozen=True, kw_only=True):
    staged: int
    """Collapses that wait to be committed."""
    error: Problem


class MediaTooLarge(Outcome, frozen=True, kw_only=True):
    error: Problem


class Failed(Outcome, frozen=True, kw_only=True):
    """No retry and no fallback is left, or the fault is our own."""

    follows: ClassVar[frozenset[type[Action]]] = EVERY_ACTION
    error: Problem


class Refused(Outcome, frozen=True, kw_only=True):
    error: Problem


class Paused(Outcome, frozen=True, kw_only=True):
    error: Problem
    """Shown when there were too many pauses."""


class NoRoom(Outcome, frozen=True, kw_only=True):
    """The context is at the hard limit and nothing could make it smaller: the call was not made."""

    error: Problem


class CallsFinished(Outcome, frozen=True, kw_only=True):
    """Every call has its result, unless it was deferred."""

    follows: ClassVar[frozenset[type[Action]]] = frozenset({RunTools})
    stopped_by_hook: bool = False
    deferred: bool = False
    """A hook deferred the only call: it has no result, and the query ends until the session is resumed."""


class Drained(Outcome, frozen=True, kw_only=True):
    follows: ClassVar[frozenset[type[Action]]] = frozenset({DrainCollapses})
    committed: int
    error: Problem


class Compacted(Outcome, frozen=True, kw_only=True):
    follows: ClassVar[frozenset[type[Action]]] = frozenset({CompactNow})
    echoes: ClassVar[frozenset[str]] = frozenset({"media"})
    worked: bool
    media: bool
    """What was refused: media, or the length."""
    error: Problem


class StopPassed(Outcome, frozen=True, kw_only=True):
    follows: ClassVar[frozenset[type[Action]]] = frozenset({RunStopPhase})
    spent: int = 0
    """Output tokens of the query so far."""
    may_continue: bool = False
    """A work budget applies here: main thread, and no stop sequence was met."""


class StopBlocked(Outcome, frozen=True, kw_only=True):
    """The model is to go on: a stop hook wants it, or its answer does not fit the schema."""

    follows: ClassVar[frozenset[type[Action]]] = frozenset({RunStopPhase})
    unfit: Problem | None = None
    """What is wrong with an answer that cannot be accepted, however often it was sent back."""


class StopPrevented(Outcome, frozen=True, kw_only=True):
    """A stop hook forbade going on; this beats blocking."""

    follows: ClassVar[frozenset[type[Action]]] = frozenset({RunStopPhase})


class GoalFailed(Outcome, frozen=True, kw_only=True):
    """The command that shows whether the goal is met has failed."""

    follows: ClassVar[frozenset[type[Action]]] = frozenset({RunStopPhase})
    stuck: bool
    """For the third time in a row with the same output."""
    error: Problem


class Aborted(Outcome, frozen=True, kw_only=True):
    follows: ClassVar[frozenset[type[Action]]] = EVERY_ACTION
    cause: AbortCause
    phase: Phase


class LimitReached(Outcome, frozen=True, kw_only=True):
    """A limit of the ledger was met; `which` is the reason it ends with."""

    follows: ClassVar[frozenset[type[Action]]] = EVERY_ACTION
    which: Reason
    error: Problem
