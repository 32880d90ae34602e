"""A tool: what the model sees of it, what the gate must know of a call, and how it runs."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from everturn.core.hiding import Hiding
from everturn.ports.abort import AbortSignal
from everturn.ports.ask import Ask
from everturn.ports.files import FileStates
from everturn.ports.holding import Holding
from everturn.ports.judged import Judged
from everturn.ports.modes import Modes
from everturn.ports.notes import Notepad
from everturn.ports.tasks import Tasks


class Access(StrEnum):
    """Which permission a call needs."""

    READ = "read"
    EDIT = "edit"
    EXECUTE = "execute"
    NETWORK = "network"
    """Changes nothing here, but somebody elsewhere hears of it."""


class Confinement(StrEnum):
    """Where a call runs, as far as a sandbox of the system has a say."""

    NONE = "none"
    """There is no sandbox, or none for this call: it is judged as any other."""
    INSIDE = "inside"
    """In the sandbox, and judged as any other."""
    ENOUGH = "enough"
    """In the sandbox, and nobody need be asked: only what denies or asks by a rule of its own still holds."""
    LEAVES = "leaves"
    """There is one, and the model asks to run it outside: a person must agree, whatever the mode."""


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """Answers about one call; each may depend on its input."""

    read_only: bool = False
    concurrent: bool = False
    """Safe to run beside others that are."""
    destructive: bool = False
    access: Access = Access.EXECUTE
    needs_person: bool = False
    """It is a question to the person: no mode and no rule answers for them."""
    confinement: Confinement = Confinement.NONE


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """Two halves: content for the model, a value for people."""

    content: str | list[dict[str, Any]]
    """Text, or blocks of the Messages API."""
    is_error: bool = False
    shown: Any = None
    files: tuple[str, ...] = ()
    """Files whose whole text it shows: where the result is cut, the model has seen them only in part."""


class Inquiry(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a running call has come to, and that is for the person to decide: as a call of its own."""

    name: str
    input: dict[str, Any]
    line: str
    reason: str
    """Why it is asked."""
    access: Access


class Inquire(Protocol):
    async def __call__(self, inquiry: Inquiry) -> str | None:
        """None for a yes; else why not. Raises `AbortedError` when the query is ended before there is an answer."""
        ...


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a call may touch. A tool never sees the engine."""

    folder: str
    """The working folder, absolute."""
    tool_use_id: str
    abort: AbortSignal
    files: FileStates
    progress: Callable[[str], None]
    """Shows a piece of output at once."""
    abort_grace_s: float = 2.0
    tasks: Tasks = msgspec.field(default_factory=Tasks)
    """What runs beside the conversation."""
    ask: Ask | None = None
    """A side question to a model, charged to the query; None where there is nobody to ask."""
    notepad: Notepad = msgspec.field(default_factory=Notepad)
    """What the session keeps beside its transcript."""
    modes: Modes | None = None
    """None where the policy has no modes."""
    inquire: Inquire | None = None
    """A question to the person in the midst of the call; None where nobody answers. It is for as long as the call runs."""
    judged: Judged | None = None
    """The file that was judged; None where nobody did, or where the approver put another input in place."""
    holding: Holding | None = None
    """How the call must be held while it runs; None where a rule, a mode or a person allowed it."""
    input_changed: bool = False
    """The approver put another input in place of the model's."""
    hiding: Hiding = msgspec.field(default_factory=Hiding)
    """Takes credentials of ours out of what the model is to read. A tool that cuts a text has them hidden first."""
    note_output: Callable[[str, int], None] = lambda _path, _size: None
    """Told of a file that the result names and that holds more than the result: its path and its size in bytes."""
    added: tuple[str, ...] = ()
    """More folders that are worked in at the moment. Real paths."""

    @property
    def folders(self) -> tuple[str, ...]:
        """All that are worked in: no program that we start by ourselves comes from there."""
        return (self.folder, *self.added)


class Tool(Protocol):
    """What the model is offered.

    It may also have `deferred` (true: not listed until it is searched for), `settle`, which is given the input and the
    working folder and returns the input as it is meant, for hooks, policy and `parse` alike (without it, what contradicts
    the schema and is certain is put right by `core.inputs`), `parse_approved`, which is called instead
    of `parse` for an input that the approver put in place of the model's, `check`, which raises as `run` would where the
    call cannot work, before a person is asked about it, and `done`, which tells in one line for people what a result brought.
    """

    name: str
    description: str
    """For the model."""
    schema: dict[str, Any]
    """JSON Schema of the input, an object."""
    result_limit: int
    """Characters of content; what is longer goes into a file, and both its ends are shown."""

    def parse(self, input_: dict[str, Any]) -> Any:
        """The typed input. Raises `InputFault` that names the field."""
        ...

    def traits(self, call: Any) -> Traits: ...

    def line(self, call: Any) -> str:
        """What the call does, in one line for people."""
        ...

    async def run(self, call: Any, context: ToolContext) -> ToolResult:
        """May raise anything: it becomes an error result. On abort it ends soon, or is cancelled after a grace."""
        ...
