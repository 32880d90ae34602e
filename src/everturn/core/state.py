"""What the policy remembers between two decisions of one query, and the names of all ways to go on and to stop."""

from enum import IntEnum, StrEnum

import msgspec

from everturn.core.budget import WorkBudget


class Transition(StrEnum):
    """Why the loop goes on."""

    NEXT_TURN = "next_turn"
    MAX_OUTPUT_TOKENS_ESCALATE = "max_output_tokens_escalate"
    MAX_OUTPUT_TOKENS_RECOVERY = "max_output_tokens_recovery"
    COLLAPSE_DRAIN_RETRY = "collapse_drain_retry"
    REACTIVE_COMPACT_RETRY = "reactive_compact_retry"
    STOP_HOOK_BLOCKING = "stop_hook_blocking"
    GOAL_RETRY = "goal_retry"
    TOKEN_BUDGET_CONTINUATION = "token_budget_continuation"  # noqa: S105 (a name, not a secret)


class Reason(StrEnum):
    """Why the loop stops: first the reasons of the contract's table, then the ledger's other limits."""

    ABORTED_STREAMING = "aborted_streaming"
    ABORTED_TOOLS = "aborted_tools"
    MAX_BUDGET_USD = "max_budget_usd"
    IMAGE_ERROR = "image_error"
    MODEL_ERROR = "model_error"
    PROMPT_TOO_LONG = "prompt_too_long"
    COMPLETED = "completed"
    STOP_HOOK_PREVENTED = "stop_hook_prevented"
    HOOK_STOPPED = "hook_stopped"
    TOOL_DEFERRED = "tool_deferred"
    PROMPT_BLOCKED = "prompt_blocked"
    GOAL_NOT_MET = "goal_not_met"
    BLOCKING_LIMIT = "blocking_limit"
    MAX_TURNS = "max_turns"

    MAX_TOKENS_TOTAL = "max_tokens_total"
    MAX_TOOL_CALLS = "max_tool_calls"
    MAX_WALL_TIME = "max_wall_time"
    REPEATED_CALLS = "repeated_calls"
    STRUCTURED_OUTPUT_RETRIES = "structured_output_retries"


class Exit(IntEnum):
    OK = 0
    ERROR = 1
    USAGE = 2
    INTERRUPTED = 130
    TERMINATED = 143


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a reason shows in the result."""

    public: str
    subtype: str
    is_error: bool
    exit: Exit
    stop_failure: bool = False
    """Failure hooks are started and not awaited."""


def _limit(public: str, subtype: str = "error_during_execution") -> Ending:
    return Ending(public=public, subtype=subtype, is_error=True, exit=Exit.ERROR)


def _failure(public: str, *, stop_failure: bool = False) -> Ending:
    return Ending(public=public, subtype="success", is_error=True, exit=Exit.ERROR, stop_failure=stop_failure)


def _end(public: str) -> Ending:
    return Ending(public=public, subtype="success", is_error=False, exit=Exit.OK)


def _abort(public: str) -> Ending:
    return Ending(public=public, subtype="error_during_execution", is_error=True, exit=Exit.INTERRUPTED)


ENDINGS: dict[Reason, Ending] = {
    Reason.ABORTED_STREAMING: _abort("aborted_streaming"),
    Reason.ABORTED_TOOLS: _abort("aborted_tools"),
    Reason.MAX_BUDGET_USD: _limit("budget_exhausted", "error_max_budget_usd"),
    Reason.IMAGE_ERROR: _failure("image_error"),
    Reason.MODEL_ERROR: _failure("model_error", stop_failure=True),
    Reason.PROMPT_TOO_LONG: _failure("prompt_too_long", stop_failure=True),
    Reason.COMPLETED: _end("completed"),
    Reason.STOP_HOOK_PREVENTED: _end("stop_hook_prevented"),
    Reason.HOOK_STOPPED: _end("hook_stopped"),
    Reason.TOOL_DEFERRED: _end("tool_deferred"),
    Reason.PROMPT_BLOCKED: _failure("prompt_blocked"),
    Reason.GOAL_NOT_MET: _limit("goal_not_met"),
    Reason.BLOCKING_LIMIT: _failure("blocking_limit"),
    Reason.MAX_TURNS: _limit("max_turns", "error_max_turns"),
    Reason.MAX_TOKENS_TOTAL: _limit("max_tokens_total"),
    Reason.MAX_TOOL_CALLS: _limit("max_tool_calls"),
    Reason.MAX_WALL_TIME: _limit("max_wall_time"),
    Reason.REPEATED_CALLS: _limit("repeated_calls"),
    Reason.STRUCTURED_OUTPUT_RETRIES: _limit("structured_output_retries", "error_max_structured_output_retries"),
}
"""How each reason shows. Public names equal the reasons, except `max_budget_usd`, which clients know as `budget_exhausted`.

Two rows depend on the terminal as well: `completed` with a released error is an error, and `model_error` is shown as
`api_error` when the API failed.
"""


class AbortCause(StrEnum):
    USER = "user"
    NEW_PROMPT = "new_prompt"
    """The user submitted another prompt, so there is no message about the interruption."""
    TERMINATED = "terminated"
    PARENT = "parent"


class Phase(StrEnum):
    STREAMING = "streaming"
    TOOLS = "tools"


class Guards(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The counters and flags that `decide` sees. They are never changed: each `Continue` holds new ones."""

    turn: int = 1
    output_recoveries: int = 0
    """Resumes after a cut answer, at most `Limits.output_recoveries`."""
    reactive_compact_tried: bool = False
    """Survives a stop hook's veto: resetting it there would make a loop that never ends."""
    media_drops: int = 0
    """How often refused media has left the view since the last tool round, at most `Limits.media_drops`."""
    max_output_override: int | None = None
    """The raised output cap in force."""
    stop_hook_active: bool = False
    stop_hook_blocks: int = 0
    goal_failures: int = 0
    """Failed verifications of the goal, fewer than `Limits.goal_attempts`; 0 without a goal."""
    pauses: int = 0
    """`pause_turn` answers in a row."""
    work: WorkBudget = WorkBudget()
    transition: Transition | None = None
    """Transition that led to this turn; None in the first."""
