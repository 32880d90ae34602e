"""What hooks are given, what they may return, and when the loop calls them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from everturn.core.messages import Message
from everturn.ports.ask import Ask
from everturn.ports.elicitation import ElicitationAnswer
from everturn.ports.policy import Call
from everturn.ports.tool import ToolResult


class StopInput(msgspec.Struct, frozen=True, kw_only=True):
    """What a stop hook is given when the model thinks that it is done."""

    session_id: str
    """Id of the session."""
    messages: tuple[Message, ...]
    """Messages of this query, the last answer included."""
    text: str
    """Text of the last answer."""
    stop_hook_active: bool
    """A stop hook has already sent the model back to work in this query."""
    ask: Ask | None = None
    """For hooks that are prompts."""


class StopVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a stop hook returns. Without `block`, `context` and `prevent` the query may end; `prevent` wins over the others."""

    block: str | None = None
    """Text with which the model is sent back to work."""
    context: tuple[str, ...] = ()
    """The same, as additions that find no fault."""
    prevent: str | None = None
    """Reason for which the query ends, without the stop hooks' other answers."""
    output: str = ""
    """Text to show to people."""


class PostToolVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook returns that is called after a tool has run."""

    stop: str | None = None
    """Reason for which the query ends, once all running calls have their results."""
    note: str = ""
    """Text that is added to the result for the model."""


class FailureInput(msgspec.Struct, frozen=True, kw_only=True):
    """What a failure hook is given when a query ended because the model could not be used."""

    session_id: str
    """Id of the session."""
    reason: str
    """Why the query ended."""
    error: str
    """What went wrong, in words."""
    kind: str = ""
    """Of the error, where it has one."""


class CompactInput(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook is given before or after the conversation is summarised."""

    session_id: str
    """Id of the session."""
    cause: str
    """`auto`, `too_long` or `manual`."""
    instructions: str = ""
    """What the person asked the summary to keep."""
    summary: str = ""
    """After it: the summary that replaces the conversation from now on."""


class CompactVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook returns that is called before a summary."""

    block: str | None = None
    """Reason for which the conversation is not summarised."""
    instructions: str = ""
    """What the summary should keep, added to the person's instructions."""


class HookRuling(StrEnum):
    """What a hook decides about a call. Of several decisions the first of this list counts."""

    DENY = "deny"
    """The call does not run."""
    DEFER = "defer"
    """The query ends without an answer to the call. The hooks are asked again when the session goes on."""
    ASK = "ask"
    """The approver decides."""
    ALLOW = "allow"
    """The call runs without a question, unless a deny or ask rule covers it."""


class HookInput(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook of an event is given. Written `given`, its field `name` is `given["name"]`."""

    event: str
    """Name of the event, such as `PreToolUse`."""
    fields: dict[str, Any]
    """Fields of the event, those that all events have included."""

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]


class HookVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook of an event returns. Without any field it changes nothing."""

    ruling: HookRuling | None = None
    """PreToolUse and PermissionRequest: whether the call runs."""
    reason: str = ""
    """Reason of the ruling. The model reads it with a denial, the person with the others."""
    input: dict[str, Any] | None = None
    """PreToolUse and PermissionRequest: replaces the whole input of the call."""
    block: str | None = None
    """Reason for which the prompt or the result is refused, or the model is sent back to work."""
    stop: str | None = None
    """Reason for which the query ends."""
    context: tuple[str, ...] = ()
    """Texts for the model."""
    output: str | None = None
    """PostToolUse: text that replaces the result for the model."""
    notices: tuple[str, ...] = ()
    """Texts for the person."""
    permissions: tuple[dict[str, Any], ...] = ()
    """PermissionRequest: rules or a mode that a yes also sets."""
    interrupt: bool = False
    """PermissionRequest: a denial also ends the query."""
    answered: ElicitationAnswer | None = None
    """Elicitation and ElicitationResult: the answer to the server, in place of the person's."""
    watch: tuple[str, ...] | None = None
    """SessionStart, CwdChanged and FileChanged: files to watch from now on, by absolute paths, besides those that matchers name."""


NOTHING_SAID = HookVerdict()
PROJECT_VARIABLES = ("CLAUDE_PROJECT_DIR", "EVERTURN_PROJECT_DIR")
"""Name the working folder, for programs that are hooks."""
FILE_VARIABLES = ("CLAUDE_ENV_FILE", "EVERTURN_ENV_FILE")
"""Name the file for variables that hooks set (`GivenVariables`)."""


class Occasion(msgspec.Struct, frozen=True, kw_only=True):
    """An event that hooks are asked about."""

    event: str
    fields: dict[str, Any]
    """Without those that all events have."""
    call: Call | None = None
    """What `if` of a hook is held against."""
    ask: Ask | None = None
    """For hooks that are prompts; None where no model can be asked."""


class WrittenHooks(msgspec.Struct, frozen=True, kw_only=True):
    """The hooks of one event in one settings file, as they stand there."""

    event: str
    value: Any
    source: str
    """Managed, user, project, …"""
    origin: str
    """`file:line`."""


class HookSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings files say of hooks, of all that may run."""

    written: tuple[WrittenHooks, ...] = ()
    allowed_urls: tuple[str, ...] | None = None
    """Patterns of addresses that http hooks may ask; None: any."""
    allowed_variables: tuple[str, ...] | None = None
    """Variables that http hooks may send; None: those that the hook itself names."""


class Covers(Protocol):
    """Whether a permission rule, as a hook's `if` has it, covers a call. Where that cannot be told, it does."""

    def __call__(self, rule: str, call: Call) -> bool: ...


class Investigate(Protocol):
    """A model that looks into the working folder with tools that only read, and answers. None: the small model.

    Charged to the session as `hook`. Raises `EverturnError` where there is no answer.
    """

    async def __call__(self, system: str, prompt: str, model: str, /) -> str: ...


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program to run beside the session: without a terminal, in a session of its own."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str
    input: bytes = b""
    """Written to its standard input."""
    most_bytes: int
    """Of each of its outputs, so much is kept; the rest is read and dropped."""


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    code: int
    """Exit code, negative when a signal ended it."""
    output: bytes
    errors: bytes
    cut: bool = False
    """It wrote more than is kept."""


class Programs(Protocol):
    """Runs programs. One that is cancelled is ended with all that it has started."""

    async def run(self, program: Program) -> Finished:
        """Does not wait for what the program leaves running. Raises `OSError` where it cannot start."""
        ...

    async def aclose(self) -> None:
        """Ends what programs have left running."""
        ...


class GivenVariables(Protocol):
    """Variables that hooks set for later commands, by lines `export NAME=value` in a file."""

    def make(self) -> str:
        """A new file, empty, and open to nobody else. Raises `OSError`."""
        ...

    async def take(self, path: str) -> str:
        """What it sets counts from the next command on. What is wrong with it, in words; empty where nothing is."""
        ...

    def remove(self, path: str) -> None: ...


class Hooks(Protocol):
    """Never raises. A hook that fails is reported in its verdict's `output` and has no other effect."""

    def hears(self, event: str) -> bool:
        """Whether any hook is there for `ask` with this event. Costs nothing."""
        ...

    async def ask(self, occasion: Occasion) -> HookVerdict:
        """All hooks that match, in parallel; what they did is shown already."""
        ...

    def take_context(self) -> tuple[str, ...]:
        """What hooks that nobody waited for have said to the model since the last look."""
        ...

    async def look_around(self) -> str | None:
        """Asks FileChanged and ConfigChange hooks about what has changed since the last look. Returns why the query must end, if one says so."""
        ...

    async def aclose(self) -> None:
        """Ends what hooks have left running."""
        ...

    async def stop(self, turn: StopInput) -> tuple[StopVerdict, ...]:
        """Runs all stop hooks in parallel."""
        ...

    async def post_tool(self, call: Call, result: ToolResult) -> PostToolVerdict: ...

    async def pre_compact(self, compaction: CompactInput) -> CompactVerdict:
        """Runs the hooks in order. The first that blocks counts; the instructions are joined."""
        ...

    async def post_compact(self, compaction: CompactInput) -> None: ...

    async def stop_failure(self, failure: FailureInput) -> None:
        """The loop starts it and does not wait for it."""
        ...


class Checker(Protocol):
    """Judges a final answer against the output schema."""

    @property
    def schema(self) -> str:
        """The schema as JSON. The model is shown it when an answer does not fit."""
        ...

    def check(self, text: str) -> tuple[Any, str | None]:
        """The value and None; or None and a text for the model that says what is wrong."""
        ...
