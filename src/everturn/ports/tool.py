"""A tool: what the model sees, what the permission check must know about a call, and how the call runs."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from everturn.core.hiding import Hiding
from everturn.core.notes import Notes
from everturn.ports.abort import AbortSignal
from everturn.ports.ask import Ask
from everturn.ports.elicitation import Elicit
from everturn.ports.files import FileStates
from everturn.ports.holding import Holding
from everturn.ports.judged_paths import JudgedPath
from everturn.ports.resources import Resources
from everturn.ports.tasks import Tasks


class Access(StrEnum):
    """Kind of permission that a call needs."""

    READ = "read"
    """Reads files of the working folders."""
    EDIT = "edit"
    """Changes files."""
    EXECUTE = "execute"
    """Runs something that may have any effect."""
    NETWORK = "network"
    """Changes nothing on this machine, but sends something to another one."""


class Confinement(StrEnum):
    """Whether a call runs in the sandbox of the operating system, and whether that replaces a question."""

    NONE = "none"
    """No sandbox, or none for this call. It is judged as any other."""
    INSIDE = "inside"
    """In the sandbox. It is judged as any other."""
    ENOUGH = "enough"
    """In the sandbox, and nobody is asked, except where a deny or ask rule covers the call."""
    LEAVES = "leaves"
    """There is a sandbox, and the model wants to run the call outside of it. A person must agree, in every mode."""


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool says about one call. Each value may depend on the input."""

    read_only: bool = False
    """The call changes nothing."""
    concurrent: bool = False
    """The call may run at the same time as other concurrent ones."""
    destructive: bool = False
    """What the call does cannot be undone."""
    access: Access = Access.EXECUTE
    """Kind of permission that the call needs."""
    needs_person: bool = False
    """The call is a question to the person: neither a mode nor a rule can answer it."""
    confinement: Confinement = Confinement.NONE
    """Whether the call runs in a sandbox."""


class NewContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a call changes for the next call of the model and all that follow. What is left out stays as it is."""

    model: str = ""
    """Id of the model."""
    mode: str = ""
    """Permission mode. It counts from the next call of a tool on."""
    tools: "tuple[Tool, ...] | None" = None
    """Tools that the model sees, in this order."""


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool returns: content for the model, and a value for people."""

    content: str | list[dict[str, Any]]
    """Text for the model, or a list of content blocks of the Messages API."""
    is_error: bool = False
    """The call failed; the model sees the content as an error."""
    shown: Any = None
    """Value for frontends; JSON output has it as `tool_use_result`."""
    files: tuple[str, ...] = ()
    """Files whose whole text is in the content. Where the result is shortened, they count as read only in part."""
    context: NewContext | None = None
    """What the model works with from now on."""


class Inquiry(msgspec.Struct, frozen=True, kw_only=True):
    """A question that comes up while a call runs. Policy and approver treat it as a call of its own."""

    name: str
    """Name that rules and the approver see."""
    input: dict[str, Any]
    """What the question is about."""
    line: str
    """The question, in one line for people."""
    reason: str
    """Why a person is asked."""
    access: Access
    """Kind of permission that a yes gives."""


class Inquire(Protocol):
    async def __call__(self, inquiry: Inquiry) -> str | None:
        """None for a yes, else the reason for the no. Raises `AbortedError` when the query ends before there is an answer."""
        ...


class Notepad:
    """The session's notes while the calls of one response change them.

    These calls see and change `notes`. The session takes it over once their results are kept.
    """

    def __init__(self, notes: Notes = Notes()) -> None:  # noqa: B008 - frozen
        self.notes = notes


class Modes(Protocol):
    """Reads and switches the permission mode: used by the person and by the tools that plan.

    A switch counts from the next call on.
    """

    @property
    def mode(self) -> str: ...

    def switch(self, mode: str) -> None:
        """Raises `OptionError` for an unknown mode."""
        ...

    def leave_plan(self) -> str:
        """Switches from plan mode back to the mode before it, and returns that mode's name. Does nothing in any other mode."""
        ...


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a running call may use. A tool never sees the engine."""

    folder: str
    """The working folder, absolute."""
    tool_use_id: str
    """Id of the call."""
    abort: AbortSignal
    """Tells the tool when the query is interrupted."""
    files: FileStates
    """State of each file at the moment when the model read it."""
    progress: Callable[[str], None]
    """Function that shows a piece of output at once, as the event `CallProgressed`."""
    abort_grace_s: float = 2.0
    """Seconds that the call has to end by itself after an interruption."""
    tasks: Tasks = msgspec.field(default_factory=Tasks)
    """Commands and agents that run in the background."""
    resources: Resources = msgspec.field(default_factory=Resources)
    """What only one session can have at a time: a lock, a port, a screen. What a call puts in here is given back when the model stops."""
    ask: Ask | None = None
    """Function that asks a model a question beside the conversation and charges it to the query; None where there is no model to ask."""
    notepad: Notepad = msgspec.field(default_factory=Notepad)
    """The session's notes, such as the plan and the list of TodoWrite."""
    modes: Modes | None = None
    """Reads and switches the permission mode; None where the policy has no modes."""
    inquire: Inquire | None = None
    """Function that asks the person something while the call runs; None where nobody can answer."""
    elicit: Elicit | None = None
    """Function that passes on a question of an MCP server to hooks and to the person; declines where nobody can answer."""
    tools: "tuple[Tool, ...]" = ()
    """Tools that the model sees."""
    list_running: Callable[[], tuple[str, ...]] = tuple
    """Function that returns the ids of the calls that run now, this one included."""
    traits: Traits = Traits()
    """Traits of this call, as the policy judged them."""
    judged: JudgedPath | None = None
    """The file that the policy judged; None where there was none, or where the approver changed the input."""
    holding: Holding | None = None
    """How the call is confined while it runs; None where a rule, a mode or a person allowed it."""
    input_changed: bool = False
    """The approver replaced the model's input."""
    hiding: Hiding = msgspec.field(default_factory=Hiding)
    """Replaces our own credentials in text for the model. A tool that shortens a text does this first."""
    note_output: Callable[[str, int], None] = lambda _path, _size: None
    """Function that announces a file with the whole output, which the result names; takes its path and its size in bytes."""
    added: tuple[str, ...] = ()
    """Further working folders at the moment, as real paths."""

    @property
    def folders(self) -> tuple[str, ...]:
        """All working folders. Everturn never starts a program of theirs by itself."""
        return (self.folder, *self.added)


class PatchHunk(Protocol):
    """A stretch of a file that changes, with the lines around it."""

    @property
    def old_start(self) -> int:
        """Number of its first line as the file is, from 1."""
        ...

    @property
    def new_start(self) -> int:
        """The same as the file will be."""
        ...

    @property
    def lines(self) -> Sequence[str]:
        """Each begins with ` `, `-` or `+`."""
        ...


class Tool(Protocol):
    """A tool that the model may call. The decorator `everturn.tool` makes one of a function; a class that is a tool inherits from this."""

    name: str
    """Name by which the model and the rules know it."""
    description: str
    """Description for the model."""
    schema: dict[str, Any]
    """JSON Schema of the input, which is an object."""
    result_limit: int
    """Characters of content that the model gets at most. Longer content goes into a file, and the model sees its beginning and its end."""
    deferred: bool = False
    """The model sees the tool only after it has found it with ToolSearch."""

    def settle(self, input_: dict[str, Any], folder: str) -> dict[str, Any]:  # noqa: ARG002 - what every tool needs
        """The corrected input, which hooks, policy and `parse` see. Raises `InputFault`.

        Where input does not fit the schema but its meaning is certain, it is corrected. `folder` is the working folder.
        """
        from everturn.core.inputs import settle_input

        return settle_input(self.schema, input_)

    def parse(self, input_: dict[str, Any]) -> Any:
        """The typed input. Raises `InputFault` that names the field."""
        ...

    def parse_approved(self, input_: dict[str, Any]) -> Any:
        """The typed input where the approver replaced the model's. It may have fields that only a person fills in."""
        return self.parse(input_)

    def traits(self, call: Any) -> Traits:
        """What the permission check and the scheduler must know about this call."""
        ...

    def derive(self, call: Any) -> dict[str, Any]:  # noqa: ARG002 - nothing to add
        """Fields that people and hooks see beside the input, and the model never. A field of the input is not replaced."""
        return {}

    def line(self, call: Any) -> str:
        """What the call does, in one line for people."""
        ...

    def done(self, result: ToolResult) -> str:  # noqa: ARG002 - nothing to say
        """What the result says, in one line for people; may be empty."""
        return ""

    async def check(self, call: Any, context: ToolContext) -> Sequence[PatchHunk]:  # noqa: ARG002 - nothing to check
        """Raises like `run` where the call cannot work, before a person is asked about it. Changes nothing.

        Returns what would become of a file, for the question; nothing where the input itself says it best.
        """
        return ()

    async def run(self, call: Any, context: ToolContext) -> ToolResult:
        """Runs the call. Whatever it raises becomes an error result. When the query is interrupted it ends soon, or is cancelled."""
        ...
