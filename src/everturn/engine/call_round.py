"""The calls of one answer: the state of each, from its arrival to its result, and the state that they share."""

import asyncio
from typing import Any

from everturn.core.errors import ApproverError
from everturn.core.messages import Block, ToolUse
from everturn.ports.policy import Call
from everturn.ports.tool import NewContext, Tool


class Refusal(Exception):
    """Raised for a call that cannot run. The text is its error result."""


class DeferredError(Exception):
    """Raised for a call that a hook deferred: it has no result."""


class CallSlot:
    """One call from its arrival to its result."""

    def __init__(self, use: ToolUse, index: int) -> None:
        self.use = use
        self.index = index
        self.tool: Tool | None = None
        self.parsed: Any = None
        self.call: Call | None = None
        self.refusal: str | None = None
        self.input_changed = False
        self.rewritten = False
        """A hook put another input in place of the model's."""
        self.deferred = False
        self.told: list[str] = []
        """Texts of hooks about the call, for the model."""
        self.running = False
        self.began = False
        """The event `tool_start` was emitted."""
        self.announced = False
        """The call's intent is on the disk already, written together with that of an earlier call."""
        self.result: Block | None = None
        self.files: tuple[str, ...] = ()
        """Paths of files whose content the result shows."""
        self.context: NewContext | None = None
        """Model, mode or tools that the call changed for the next model call."""
        self.task: asyncio.Task[None] | None = None

    @property
    def concurrent(self) -> bool:
        return self.call is None or self.call.traits.concurrent

    @property
    def has_effects(self) -> bool:
        return self.running and self.call is not None and not self.call.traits.read_only

    @property
    def may_be_announced(self) -> bool:
        return not (self.running or self.announced or self.refusal is not None or self.result is not None)


class CallRound:
    """State that all calls of one answer share. The executor and the call runner change it."""

    def __init__(self) -> None:
        self.slots: list[CallSlot] = []
        self.all_known = asyncio.Event()
        """Set when all calls of the answer were added."""
        self.claimed = 0
        """Number of calls that count towards the limit of tool calls."""
        self.said_no = False
        """The person has refused a call of this answer."""
        self.stopped_by: str | None = None
        """Reason of a hook that ended the query."""
        self.fault: ApproverError | None = None
        """Error in the approver that the caller gave: it ends the query."""
