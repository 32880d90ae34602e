"""Events, which show what happens: each says what precedes and what follows it. Records, which are written to disk, are in `records`."""

from enum import StrEnum
from typing import Any

import msgspec

from everturn.core.budget import Usage
from everturn.core.denials import Denial, DenialCause
from everturn.core.messages import Block, Message
from everturn.core.notes import Notes
from everturn.core.outcomes import Problem
from everturn.core.state import Reason, Transition


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="event"):
    """The base of all events."""


class RequestStarted(Event, frozen=True, kw_only=True, tag="request_start"):
    """A round with the model begins. Every event up to the next `request_start`, or to `terminal`, belongs to this round."""

    turn: int
    model: str


class MessageBegan(Event, frozen=True, kw_only=True, tag="message_start"):
    """The API begins to answer. Blocks follow, then `assistant`. An answer that breaks off before its first block is not retracted."""

    message_id: str
    model: str
    """Id of the model that answers, as the API reports it."""
    usage: Usage
    """Tokens of the request; the output is counted at the end of the answer."""
    api_id: str = ""
    """The API's id of the message; empty where it gave none."""


class BlockBegan(Event, frozen=True, kw_only=True, tag="block_start"):
    """A block of the answer begins. Follows `message_start`; deltas with the same index follow, then `block`, unless the message is retracted."""

    message_id: str
    index: int
    kind: str
    """Kind of the block, such as `text`, `thinking` or `tool_use`."""
    name: str = ""
    """Name of the tool, where the block is a call."""
    tool_use_id: str = ""
    """Id of the call, where the block is one."""


class TextDelta(Event, frozen=True, kw_only=True, tag="text_delta"):
    """A piece of the answer's text."""

    message_id: str
    index: int
    text: str


class ThinkingDelta(Event, frozen=True, kw_only=True, tag="thinking_delta"):
    """A piece of the model's thinking."""

    message_id: str
    index: int
    text: str


class InputDelta(Event, frozen=True, kw_only=True, tag="input_delta"):
    """A piece of the JSON of a call's input. Only all pieces together are valid JSON."""

    message_id: str
    index: int
    text: str


class BlockFinished(Event, frozen=True, kw_only=True, tag="block"):
    """A block of the answer is complete. It may still be retracted."""

    message_id: str
    index: int
    block: Block


class AnswerAdded(Event, frozen=True, kw_only=True, tag="assistant"):
    """The whole answer is in the transcript. It will not be retracted."""

    message: Message


class UserAdded(Event, frozen=True, kw_only=True, tag="user"):
    """A user message was added to the transcript: a prompt, the results of a round's calls, or a message of Everturn to the model."""

    message: Message


class RetractionCause(StrEnum):
    RETRY = "retry"
    FALLBACK = "fallback"
    ESCALATION = "escalation"
    REPAIR = "repair"
    WITHHELD = "withheld"
    """The response ended in an error, and a recovery may still help."""
    REFUSED = "refused"
    ABORTED = "aborted"
    """Aborted before any part of the answer was complete."""


class Retracted(Event, frozen=True, kw_only=True, tag="tombstone"):
    """The answer with this `message_id` no longer counts: the model is asked again.

    Follows any number of deltas and blocks of that message; no later event has that id.
    """

    message_id: str
    cause: RetractionCause


class RetryScheduled(Event, frozen=True, kw_only=True, tag="api_retry"):
    """An attempt failed, and the wait before the next one begins. The next attempt follows, or an abort."""

    attempt: int
    """Number of the attempt that failed, from 1."""
    max_tries: int
    delay_s: float
    status: int | None
    """HTTP status, where there was an answer."""
    error: str
    """Kind of the fault, such as `overloaded`."""
    text: str
    """The error, as a sentence."""


class ModelSwitched(Event, frozen=True, kw_only=True, tag="fallback"):
    """Another model takes over for the rest of the session."""

    before: str
    """Id of the model until now."""
    model: str
    """Id of the model from now on."""
    cause: str
    """The error of the first model, as a sentence."""


class Continued(Event, frozen=True, kw_only=True, tag="transition"):
    """The round ends, and another one follows."""

    transition: Transition
    turn: int
    """Number of the round that follows."""


class CallBegan(Event, frozen=True, kw_only=True, tag="tool_start"):
    """A call is allowed and begins to run. Progress may follow, then `tool_end`, unless the answer is retracted."""

    tool_use_id: str
    name: str
    line: str
    """What the call does, in one line for people."""
    derived: dict[str, Any] = {}
    """Fields that the tool adds to the input for people. The model never sees them."""


class CallProgressed(Event, frozen=True, kw_only=True, tag="tool_progress"):
    """A running call reports progress: a piece of its output, or a message."""

    tool_use_id: str
    text: str


class CallEnded(Event, frozen=True, kw_only=True, tag="tool_end"):
    """A call has ended. Comes exactly once for each call of an answer that was not retracted, also if the call never began; but not for a call that a hook deferred."""

    tool_use_id: str
    name: str
    is_error: bool
    duration_s: float
    """Seconds that the call took, without the time in which a person was asked."""
    shown: Any = None
    """The result as a value for people and programs; the tools page lists its fields."""
    line: str = ""
    """How the call ended, in one line for people; empty where there is nothing to say."""
    began: bool = True
    """False where no `tool_start` came: the call was denied, could not be read, or the query ended before its turn."""
    call_line: str = ""
    """What the call did, or would have done, in one line for people; empty where its input could not be read."""
    block: Block | None = None
    """The result as the call gave it. The model may be sent a shorter one."""
    message_id: str = ""
    """Id of the user message that will hold the result; that message comes when all calls of the answer have ended."""
    index: int = 0
    """Place of the result in that message."""


class PermissionAsked(Event, frozen=True, kw_only=True, tag="permission_request"):
    """The approver is asked about a call. `tool_start`, `permission_denied` or an abort follows.

    After the call's `tool_start` the question is about something that the running call wants, such as a host.
    """

    tool_use_id: str
    name: str
    reason: str
    """The rule or the mode that asks."""
    line: str = ""
    """What the call would do, in one line for people."""


class CallDenied(Event, frozen=True, kw_only=True, tag="permission_denied"):
    """A call is denied and does not run. Comes in place of `tool_start`; the call's `tool_end` follows."""

    tool_use_id: str
    name: str
    reason: str
    by: str = ""
    """What decided, "rule" or "mode"; empty where a person or the approver said no."""
    line: str = ""
    """What the call would have done, in one line for people."""
    cause: DenialCause | None = None
    """Kind of the reason."""
    unasked: bool = False
    """A person could have allowed the call, but nobody could be asked."""


class ContextChanged(Event, frozen=True, kw_only=True, tag="context"):
    """A context stage changed what is sent, so the next request does not begin with the bytes of the last one."""

    stage: str
    cause: str
    """Why the stage changed something."""
    tokens_before: int
    tokens_after: int


class CompactionBegan(Event, frozen=True, kw_only=True, tag="compaction_start"):
    """A summary of the conversation is being made, and the query waits for it. `compaction_end` always follows."""

    cause: str
    """`auto`, `too_long` or `manual`."""


class CompactionEnded(Event, frozen=True, kw_only=True, tag="compaction_end"):
    """The summary is made, or has failed. Where it changed what is sent, a `context` event comes before this one."""

    id: str = ""
    """Id of the compaction; empty where it failed."""


class CacheMissed(Event, frozen=True, kw_only=True, tag="cache_break"):
    """The prompt cache held less of this request than it should have. Follows the `usage` of the call."""

    segment: str
    """First part of the request that differs, such as `messages`."""
    cause: str
    """What changed it, such as a stage of the context pipeline."""
    kept: int
    """Number of messages that stayed the same."""
    tokens: int
    usd: float
    """Additional cost, compared with reading these tokens from the cache."""
    turn: int


class TaskBegan(Event, frozen=True, kw_only=True, tag="task_start"):
    """A command continues in the background. The `tool_end` of its call follows at once.

    When the command ends, `task_end` comes, or an `attachment` of the kind `finished_task`; neither comes when the session ends first.
    """

    task_id: str
    tool_use_id: str
    """Id of the call that started it."""
    kind: str
    """Kind of the task: `local_bash`."""
    description: str
    """The command, in one line for people."""


class TaskEnded(Event, frozen=True, kw_only=True, tag="task_end"):
    """A command in the background has ended. The result of a call tells the model; the `tool_end` of that call follows."""

    task_id: str
    tool_use_id: str
    """Id of the call that started it."""
    status: str
    """`completed`, `failed` or `stopped`."""
    summary: str
    output_path: str | None


class CommandNoted(Event, frozen=True, kw_only=True, tag="command"):
    """A queued command changed its state."""

    command_id: str
    state: str
    """`queued`, `started` or `completed`."""


class Attached(Event, frozen=True, kw_only=True, tag="attachment"):
    """Something was added to the conversation that the user did not write.

    `kind` is `max_turns_reached`, `changed_files`, `gone_files`, `changed_context`, `queued_command` or `finished_task`.
    """

    kind: str
    """Kind of the attachment."""
    detail: dict[str, Any]
    """Contents; the fields depend on the kind."""


class NotesChanged(Event, frozen=True, kw_only=True, tag="notes"):
    """The list of tasks, the plan, the goal or the list of found tools has changed. Follows the last `tool_end` of the round if calls changed it."""

    notes: Notes


class ModeSwitched(Event, frozen=True, kw_only=True, tag="mode"):
    """Another permission mode is in force, because a tool or an approval switched it."""

    before: str
    """The permission mode until now."""
    mode: str


class HookRan(Event, frozen=True, kw_only=True, tag="hook"):
    """A hook has answered or failed. Comes before the effects of its answer."""

    hook: str
    """Name of the hook event, such as `PreToolUse`."""
    kind: str
    """Kind of the hook: "command", "http", "prompt", "agent" or "function"."""
    name: str
    """The hook, in one line for people."""
    source: str
    """The settings that define it: "managed", "user", "project" and so on; "program" for a function."""
    duration_s: float
    """Seconds that it took."""
    exit_code: int | None = None
    """Exit code, if the hook is a program that has ended."""
    decision: str = ""
    """The decision, in a word or two; empty if it decided nothing."""
    problem: str = ""
    """What went wrong; empty if nothing did. A hook that fails counts as if it had not answered, except functions at `PreToolUse` and `UserPromptSubmit`, which refuse."""


class StopPhaseProgressed(Event, frozen=True, kw_only=True, tag="stop_phase"):
    """A stop hook, or another step after the model's answer, has done something."""

    step: str
    """`stop_hook` or `structured_output`."""
    text: str
    """Message for people."""


class VerificationBegan(Event, frozen=True, kw_only=True, tag="verification_start"):
    """The command of the goal begins to run. `verification_end` follows, or an abort."""

    command: str
    attempt: int
    """Number of the verification in this query, from 1."""
    max_attempts: int


class GoalFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the goal's command reads or names, and that has changed since the query began."""

    path: str
    """Path in the working folder."""
    found: str
    """How it was found, such as "the command names it"."""
    change: str
    """`changed`, `new` or `removed`."""


class VerificationEnded(Event, frozen=True, kw_only=True, tag="verification_end"):
    """The command of the goal has ended. Where it failed, a `transition` follows, or the end of the query."""

    command: str
    attempt: int
    passed: bool
    """Exit code 0: the goal is met."""
    ended: str
    """How it ended, as a continuation of "the command …"."""
    exit_code: int | None
    """Exit code. Negative: the number of the signal that ended it. None: Everturn ended it."""
    output: str
    """The end of its output, as the model reads it."""
    duration_s: float
    stuck: bool = False
    """It has printed the same output for the third time in a row, apart from times, durations, addresses and temporary paths."""
    files: tuple[GoalFile, ...] = ()


class PromptSuggested(Event, frozen=True, kw_only=True, tag="suggestion"):
    """The small model suggests what the person may want to write next. If the query ends before that, only `engine.suggestion` has it."""

    text: str


class ToolsSummarised(Event, frozen=True, kw_only=True, tag="tool_summary"):
    """The small model describes the calls of an earlier round in one line."""

    text: str
    tool_use_ids: tuple[str, ...]


class Level(StrEnum):
    INFO = "info"
    WARNING = "warning"


class Noticed(Event, frozen=True, kw_only=True, tag="notice"):
    """A message to the person that belongs to no other event."""

    text: str
    level: Level = Level.INFO


class UsageReported(Event, frozen=True, kw_only=True, tag="usage"):
    """A model call was charged, or a part of one. Discarded attempts are charged, too."""

    purpose: str
    model: str
    usage: Usage
    usd: float
    turn: int


class WorkCompleted(Event, frozen=True, kw_only=True, tag="work_budget"):
    """A query with a work budget ends."""

    continuations: int
    percent: int
    diminishing: bool
    duration_s: float


class ErrorReleased(Event, frozen=True, kw_only=True, tag="error"):
    """An error after which no recovery helped. Comes at most once in a query, directly before `terminal`."""

    problem: Problem


class Terminated(Event, frozen=True, kw_only=True, tag="terminal"):
    """The query has ended. Comes exactly once; only `result` follows."""

    reason: Reason
    problem: Problem | None = None
    exit: int = 0


class ModelUsage(msgspec.Struct, frozen=True, kw_only=True):
    usage: Usage = Usage()
    usd: float = 0.0
    calls: int = 0


class ResultEvent(Event, frozen=True, kw_only=True, tag="result"):
    """The result. The last event, exactly one; follows `terminal`."""

    subtype: str
    """`success`, or the kind of error, as in JSON output."""
    is_error: bool
    """The query failed."""
    duration_s: float
    """Seconds from the prompt to the result."""
    api_duration_s: float
    """Seconds that the model calls took."""
    num_turns: int
    """Number of user messages in this query: the prompt, and each message with results. `rounds` counts rounds with the model."""
    text: str
    """The model's last answer, which may be incomplete; or what went wrong."""
    stop_reason: str | None
    """Why the last answer ended, as the API reports it."""
    reason: Reason
    """Why the query ended."""
    terminal_reason: str
    """Why the query ended, by the name that JSON output uses."""
    exit: int
    """Exit code of the program."""
    total_usd: float
    """USD of the session so far, all model calls included."""
    usage: Usage
    """Tokens of the main loop in this query."""
    models: dict[str, ModelUsage]
    """Tokens, USD and calls of the session so far, by model."""
    denials: tuple[Denial, ...]
    """Calls of the session so far that were denied."""
    errors: tuple[str, ...]
    """Errors, one sentence each."""
    session_id: str
    """Id of the session, to resume it."""
    structured_output: Any = None
    """The answer as a value, where `output_schema` asks for one."""
    deferred_tool_use: Any = None
    """The call that a hook deferred, with its `id`, `name` and `input`; None where there is none."""
    answered: bool = False
    """A limit ended the query, or its goal was not met, but the answer in `text` is complete."""
    rounds: int = 0
    """Rounds with the model in this query, as `max_turns` counts them; 0 where it was not asked."""
    denied_before: int = 0
    """Number of the denials that are from earlier queries."""
    goal: str = ""
    """`met`; `not_met`, by the last verification; or `not_verified`, where there was none. Empty without a goal."""
    goal_attempts: int = 0
    """Verifications of the goal."""
    goal_files: tuple[GoalFile, ...] = ()
    """Files that the goal's command reads or names and that were changed, as of the last verification."""

    @property
    def ok(self) -> bool:
        """The query did not fail."""
        return not self.is_error

    @property
    def usd(self) -> float:
        """USD of the session so far, all model calls included."""
        return self.total_usd

    @property
    def structured(self) -> Any:
        """The answer as a value, where `output_schema` asks for one."""
        return self.structured_output

    @property
    def new_denials(self) -> tuple[Denial, ...]:
        """The denials of this query."""
        return self.denials[self.denied_before :]
