"""A tool: what the model sees of it, what the gate must know of a call, and how it runs."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates


class Access(StrEnum):
    """Which permission a call needs."""

    READ = "read"
    EDIT = "edit"
    EXECUTE = "execute"


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """Answers about one call; each may depend on its input."""

    read_only: bool = False
    concurrent: bool = False
    """Safe to run beside others that are."""
    destructive: bool = False
    access: Access = Access.EXECUTE


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """Two halves: content for the model, a value for people."""

    content: str | list[dict[str, Any]]
    """Text, or blocks of the Messages API."""
    is_error: bool = False
    shown: Any = None


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


class Tool(Protocol):
    name: str
    description: str
    """For the model."""
    schema: dict[str, Any]
    """JSON Schema of the input, an object."""
    result_limit: int
    """Characters of content; what is longer is cut in the middle."""

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
