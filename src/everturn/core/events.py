"""What happens, for eyes: each event says what precedes and what follows it. Records (for disk) are in `records`."""

from enum import StrEnum
from typing import Any

import msgspec

from everturn.core.budget import Usage
from everturn.core.messages import Block, Message
from everturn.core.notes import Notes
from everturn.core.outcomes import Problem
from everturn.core.state import Reason, Transition


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="event"):
    """The root of a closed set."""


class RequestStarted(Event, frozen=True, kw_only=True, tag="request_start"):
    """An iteration begins. Everything up to the next one, or to the terminal, belongs to it."""

    turn: int
    model: str


class MessageBegan(Event, frozen=True, kw_only=True, tag="message_start"):
    """The API answers. Blocks follow, then `assistant`; where nothing came after it, nothing is retracted."""

    message_id: str
    model: str
    """The one that answers, as the API calls it."""
    usage: Usage
    """As far as it is known now: what was sent."""
    api_id: str = ""
    """The API's own id of the message; empty where it gave none."""


class BlockBegan(Event, frozen=True, kw_only=True, tag="block_start"):
    """Follows `message_start`; deltas of this index follow, then `block` unless the message is retracted."""

    message_id: str
    index: int
    kind: str
    name: str = ""
    """Of a tool call."""
    tool_use_id: str = ""
    """Of a tool call: under this id it will run."""


class TextDelta(Event, frozen=True, kw_only=True, tag="text_delta"):
    message_id: str
    index: int
    text: str


class ThinkingDelta(Event, frozen=True, kw_only=True, tag="thinking_delta"):
    message_id: str
    index: int
    text: str


class InputDelta(Event, frozen=True, kw_only=True, tag="input_delta"):
    """A piece of a call's JSON; not valid by itself."""

    message_id: str
    index: int
    text: str


class BlockFinished(Event, frozen=True, kw_only=True, tag="block"):
    message_id: str
    index: int
    block: Block


class AnswerAdded(Event, frozen=True, kw_only=True, tag="assistant"):
    """The response is in the transcript and will not be retracted."""

    message: Message


class UserAdded(Event, frozen=True, kw_only=True, tag="user"):
    """A user message that the loop yields: a prompt, tool results, a hidden word. Prompts and results count as turns."""

    message: Message


class RetractionCause(StrEnum):
    RETRY = "retry"
    FALLBACK = "fallback"
    ESCALATION = "escalation"
    REPAIR = "repair"
    WITHHELD = "withheld"
    """The response ended in an error that recovery may still mend."""
    REFUSED = "refused"
    ABORTED = "aborted"
    """Aborted before anything worth keeping had come."""


class Retracted(Event, frozen=True, kw_only=True, tag="tombstone"):
    """What was shown under `message_id` must be removed: the answer is being made again.

    Follows any number of deltas and blocks of that message; after it, no event carries that id.
    """

    message_id: str
    cause: RetractionCause


class RetryScheduled(Event, frozen=True, kw_only=True, tag="api_retry"):
    """The wait begins now; the next attempt follows, or an abort."""

    attempt: int
    """The one that failed, from 1."""
    max_tries: int
    delay_s: float
    status: int | None
    error: str
    """The kind of fault."""
    text: str


class ModelSwitched(Event, frozen=True, kw_only=True, tag="fallback"):
    """The rest of the query, and of the session, runs on `model`."""

    before: str
    model: str
    cause: str


class Continued(Event, frozen=True, kw_only=True, tag="transition"):
    """The iteration ends here and another follows."""

    transition: Transition
    turn: int
    """Of the iteration that follows."""


class CallBegan(Event, frozen=True, kw_only=True, tag="tool_start"):
    """Passed the gate and runs; progress may follow, then `tool_end`, unless the response is retracted."""

    tool_use_id: str
    name: str
    line: str
    """What it does, in one line for people."""


class CallProgressed(Event, frozen=True, kw_only=True, tag="tool_progress"):
    tool_use_id: str
    text: str


class CallEnded(Event, frozen=True, kw_only=True, tag="tool_end"):
    """Exactly one per call of a response that was not retracted, also for those that never began (`began` is False)."""

    tool_use_id: str
    name: str
    is_error: bool
    duration_s: float
    """Without the time in which a person was asked."""
    shown: Any = None
    """The half of the result that is for people."""
    line: str = ""
    """How it ended, in one line for people; empty where there is nothing to say."""
    began: bool = True
    """False where no `tool_start` came: the call was denied, could not be read, or the query ended before its turn."""
    call_line: str = ""
    """What the call did, or would have done, in one line for people; empty where its input could not be read."""
    block: Block | None = None
    """The result as the call gave it. What the model reads may be shorter, once the results of the round are together."""
    message_id: str = ""
    """Of the user message that will carry the result, at this index; it comes when all calls of the response have ended."""
    index: int = 0


class PermissionAsked(Event, frozen=True, kw_only=True, tag="permission_request"):
    """A person, or a program in their place, is asked now. `tool_start`, `permission_denied` or an abort follows.

    After the call's `tool_start` it is about something that the call has come to, such as a host; the call goes on.
    """

    tool_use_id: str
    name: str
    reason: str
    """Which rule or mode asks."""
    line: str = ""
    """What the call would do, in one line for people."""


class CallDenied(Event, frozen=True, kw_only=True, tag="permission_denied"):
    """In place of `tool_start`: the call will not run. Its `tool_end` follows."""

    tool_use_id: str
    name: str
    reason: str
    by: str = ""
    """What decided: `rule` or `mode`; empty where neither did, such as a person's no."""
    line: str = ""
    """What it would have done, in one line for people."""


class ContextChanged(Event, frozen=True, kw_only=True, tag="context"):
    """A stage changed what is sent. The prefix of the next request differs from the last one's, and this is why."""

    stage: str
    cause: str
    tokens_before: int
    tokens_after: int


class CompactionBegan(Event, frozen=True, kw_only=True, tag="compaction_start"):
    """The conversation is about to be summed up, and the query waits for it. `compaction_end` follows, whatever comes of it."""

    cause: str


class CompactionEnded(Event, frozen=True, kw_only=True, tag="compaction_end"):
    """Follows the `context` events of what it changed, if it changed anything."""


class CacheMissed(Event, frozen=True, kw_only=True, tag="cache_break"):
    """The cache had less of this request than the one before it left there. Follows the `usage` of the call."""

    segment: str
    cause: str
    kept: int
    tokens: int
    usd: float
    turn: int


class TaskBegan(Event, frozen=True, kw_only=True, tag="task_start"):
    """Something runs beside the conversation from now on. Its `tool_end` follows; the task's own end comes when it comes.

    That is `task_end`, or `attachment` of the kind `finished_task`; neither, when the session ends before.
    """

    task_id: str
    tool_use_id: str
    """The call that started it."""
    kind: str
    description: str


class TaskEnded(Event, frozen=True, kw_only=True, tag="task_end"):
    """A task has ended and the model learns it from the result of a call, whose `tool_end` follows."""

    task_id: str
    tool_use_id: str
    """The call that started it."""
    status: str
    summary: str
    output_path: str | None


class CommandNoted(Event, frozen=True, kw_only=True, tag="command"):
    """A queued command changed its state."""

    command_id: str
    state: str


class Attached(Event, frozen=True, kw_only=True, tag="attachment"):
    """Something was added beside what the user said.

    `kind` is `max_turns_reached`, `changed_files`, `gone_files`, `changed_context`, `queued_command` or `finished_task`.
    """

    kind: str
    detail: dict[str, Any]


class NotesChanged(Event, frozen=True, kw_only=True, tag="notes"):
    """The list of tasks, the plan or the found tools changed. Follows the `tool_end`s of the round that changed them."""

    notes: Notes


class ModeSwitched(Event, frozen=True, kw_only=True, tag="mode"):
    """Another permission mode is in force, because a tool or an approval switched it."""

    before: str
    mode: str


class StopPhaseProgressed(Event, frozen=True, kw_only=True, tag="stop_phase"):
    step: str
    text: str


class ToolsSummarised(Event, frozen=True, kw_only=True, tag="tool_summary"):
    """One line on the calls of an earlier turn."""

    text: str
    tool_use_ids: tuple[str, ...]


class Level(StrEnum):
    INFO = "info"
    WARNING = "warning"


class Noticed(Event, frozen=True, kw_only=True, tag="notice"):
    text: str
    level: Level = Level.INFO


class UsageReported(Event, frozen=True, kw_only=True, tag="usage"):
    """A model call was billed, or a part of one; also an attempt that was thrown away."""

    purpose: str
    model: str
    usage: Usage
    usd: float
    turn: int


class WorkCompleted(Event, frozen=True, kw_only=True, tag="work_budget"):
    continuations: int
    percent: int
    diminishing: bool
    duration_s: float


class ErrorReleased(Event, frozen=True, kw_only=True, tag="error"):
    """An error that nothing helped against. At most one per query, directly before the terminal."""

    problem: Problem


class Terminated(Event, frozen=True, kw_only=True, tag="terminal"):
    """The last event of a query, exactly one."""

    reason: Reason
    problem: Problem | None = None
    exit: int = 0


class ModelUsage(msgspec.Struct, frozen=True, kw_only=True):
    usage: Usage = Usage()
    usd: float = 0.0
    calls: int = 0


class Denial(msgspec.Struct, frozen=True, kw_only=True):
    tool_use_id: str
    tool_name: str
    tool_input: dict[str, Any]
    reason: str
    by: str = ""
    """As in `CallDenied`."""
    rules: tuple[str, ...] = ()
    """Where nobody was asked: allow rules that would have let it run."""
    mode: str = ""
    """Where nobody was asked: the permission mode that would have."""


class ResultEvent(Event, frozen=True, kw_only=True, tag="result"):
    """The last event of a submit, exactly one; follows the terminal."""

    subtype: str
    is_error: bool
    duration_s: float
    api_duration_s: float
    num_turns: int
    """User messages: prompts and tool results. `rounds` counts something else."""
    text: str
    """The model's last answer, which need not be complete; or what went wrong."""
    stop_reason: str | None
    reason: Reason
    terminal_reason: str
    """The public name of the reason."""
    exit: int
    total_usd: float
    """Of the session so far, all model calls included."""
    usage: Usage
    """Of the main loop in this query."""
    models: dict[str, ModelUsage]
    denials: tuple[Denial, ...]
    """Of the session so far."""
    errors: tuple[str, ...]
    session_id: str
    structured_output: Any = None
    answered: bool = False
    """A limit ended the query, but the answer in `text` is complete."""
    rounds: int = 0
    """Rounds with the model in this query, as `max_turns` counts them; 0 where it was not asked."""
    denied_before: int = 0
    """So many of the denials are of earlier queries."""

    @property
    def new_denials(self) -> tuple[Denial, ...]:
        return self.denials[self.denied_before :]
