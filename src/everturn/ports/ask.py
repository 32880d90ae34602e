"""One model call for a purpose other than the main loop: summary, classifier, memory, hook. Retried and charged."""

from typing import Protocol

import msgspec

from everturn.core.budget import Usage
from everturn.core.messages import Message


class Question(msgspec.Struct, frozen=True, kw_only=True):
    purpose: str
    messages: tuple[Message, ...]
    system: tuple[str, ...] = ()
    model: str | None = None
    """None = the session's main model."""
    max_tokens: int = 4_096
    share_prefix: bool = False
    """Send it with the main loop's system prompt, tools and thinking, so that the prompt cache is read."""
    within_s: float = 0.0
    """Time for all tries together, after which it has failed; 0 = no limit."""
    awaited: bool = False
    """The query stands still meanwhile: attempts that failed are told, like the main call's."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    stop_reason: str | None
    usage: Usage


class Ask(Protocol):
    """Contract: raises `ModelFault` when no retry helps; never asks the tools; ends at once when the query is aborted."""

    async def ask(self, question: Question) -> Reply: ...
