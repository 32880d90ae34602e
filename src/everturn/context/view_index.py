"""Index of the view: its size, and the results in it that may go stale. It grows with the view."""

from collections.abc import Collection
from operator import is_

import msgspec

from everturn.context.accounting import costs_of
from everturn.context.finished import Stretch, Stretches
from everturn.core.messages import Kind, Message, ToolResult, ToolUse
from everturn.core.refused_media import count_refused
from everturn.core.view import View

RERUNNABLE = frozenset({"Read", "Grep", "Glob", "Bash", "TaskOutput", "WebFetch", "WebSearch"})
"""Tools whose calls can be run again to get the same information."""
VERBOSE = 400
"""Tokens below which a result is not worth clearing."""


class VerboseResult(msgspec.Struct, frozen=True):
    """A verbose result of a tool that can be run again."""

    use: ToolUse
    tokens: int
    message: str
    """Id of the message that holds it."""
    before: int
    """Estimated tokens of all messages before that one."""


class ViewIndex:
    def __init__(self) -> None:
        self._view = View()
        self._begin()

    def _begin(self) -> None:
        self._uses: dict[str, ToolUse] = {}
        self._stretches = Stretches()
        self.tokens = 0
        """Estimate of all messages."""
        self.shown: list[VerboseResult] = []
        """Verbose results, oldest first."""
        self.prompt = ""
        """Id of the last prompt."""
        self.prompts: list[int] = []
        """Indices of all prompts."""
        self.work: int | None = None
        """Index of the first answer to the last prompt; None before it came."""
        self.carried = 0
        """Number of messages, from the first on, that a request has carried: those before the last answer."""
        self.places: dict[str, int] = {}
        """Index of each message by its id."""
        self._sums: list[int] = []
        """Estimated tokens of all messages up to each of them."""

    @property
    def finished(self) -> list[Stretch]:
        return self._stretches.finished

    @property
    def seen(self) -> list[VerboseResult]:
        """Verbose results that a request has carried."""
        return [each for each in self.shown if self.places[each.message] < self.carried]

    def weigh(self, first: str, last: str) -> int:
        """Estimated tokens from one message to another, both included; 0 where one of them is not there."""
        begin, end = self.places.get(first), self.places.get(last)
        if begin is None or end is None:
            return 0
        return self._sums[end] - (self._sums[begin - 1] if begin else 0)

    def follow(self, view: View) -> None:
        """Takes over a view. Where it has only grown, this costs what is new."""
        if view is self._view:
            return
        known = len(self._view)
        if not self._has_grown(view):
            self._begin()
            known = 0
        self._view = view
        self._take(view[known:], view.refused)

    def _has_grown(self, view: View) -> bool:
        before = self._view
        if view.refused != before.refused:
            return False
        if view.grew_from(before):
            return True
        # A new query brings the same messages in another sequence. Both ends alone do not tell: results are cleared between.
        return bool(before) and len(view) >= len(before) and all(map(is_, view, before))

    def _take(self, messages: tuple[Message, ...], refused: Collection[str]) -> None:
        for message, cost in zip(messages, costs_of(messages, refused), strict=True):
            at = self.places[message.id] = len(self._sums)
            self._sums.append(self.tokens + cost)
            if message.role == "assistant":
                self.carried = at
            if message.kind is Kind.PROMPT:
                self.prompt, self.work = message.id, None
                self.prompts.append(at)
            elif message.role == "assistant" and self.work is None:
                self.work = at
            for use in message.uses:
                self._uses[use.id] = use
            for number, block in enumerate(message.blocks):
                if block.tokens < VERBOSE or count_refused(message, refused, number):
                    continue
                if isinstance(block.view, ToolResult):
                    asked = self._uses.get(block.view.tool_use_id)
                    if asked is not None and asked.name in RERUNNABLE:
                        self.shown.append(VerboseResult(asked, block.tokens, message.id, self.tokens))
            self._stretches.take(message)
            self.tokens += cost
