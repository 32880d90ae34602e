"""Call sites of hooks in the loop, and what a hook may answer."""

from typing import Any, Protocol

import msgspec

from everturn.core.messages import Message
from everturn.ports.policy import Call
from everturn.ports.tool import ToolResult


class StopInput(msgspec.Struct, frozen=True, kw_only=True):
    """The whole turn that the model ended."""

    session_id: str
    messages: tuple[Message, ...]
    text: str
    stop_hook_active: bool


class StopVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Neither = pass. Prevention beats blocking, whose errors are dropped."""

    block: str | None = None
    """Sends the model back to work with this text."""
    prevent: str | None = None
    """Ends the query with this reason."""
    output: str = ""


class PostToolVerdict(msgspec.Struct, frozen=True, kw_only=True):
    stop: str | None = None
    """Ends the query once all results are in."""
    note: str = ""
    """Added to the result for the model."""


class FailureInput(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    reason: str
    error: str


class CompactInput(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    cause: str
    """`auto`, `too_long` or `manual`."""
    instructions: str = ""
    summary: str = ""
    """Once it is there: what stands for the conversation from now on."""


class CompactVerdict(msgspec.Struct, frozen=True, kw_only=True):
    block: str | None = None
    """The conversation is not compacted, for this reason."""
    instructions: str = ""
    """Added to what the summary is asked to keep."""


class Hooks(Protocol):
    """Never raises: a hook that fails is reported in its verdict's `output` and passes."""

    async def stop(self, turn: StopInput) -> tuple[StopVerdict, ...]:
        """All stop hooks, in parallel."""
        ...

    async def post_tool(self, call: Call, result: ToolResult) -> PostToolVerdict: ...

    async def pre_compact(self, compaction: CompactInput) -> CompactVerdict:
        """In order; the first that blocks counts, the instructions are joined."""
        ...

    async def post_compact(self, compaction: CompactInput) -> None: ...

    async def stop_failure(self, failure: FailureInput) -> None:
        """Started, not awaited by the loop."""
        ...


class Checker(Protocol):
    """Judges a final answer against the output schema."""

    @property
    def schema(self) -> str:
        """As JSON: the model is shown it when an answer does not fit."""
        ...

    def check(self, text: str) -> tuple[Any, str | None]:
        """The value and None, or None and what is wrong, written for the model."""
        ...
