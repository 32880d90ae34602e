"""May this call run? Rules and mode decide; where they say ask, the approver does."""

from enum import StrEnum
from typing import Any, Protocol

import msgspec

from everturn.ports.tool import Traits


class Ruling(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    ruling: Ruling
    reason: str
    """For the model and for people; names the rule or the mode."""
    input: dict[str, Any] | None = None
    """An approver's: the call runs with this in place of what the model sent. Answers to a question come this way."""
    mode: str | None = None
    """An approver's: the permission mode from now on."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call on its way through the gate."""

    id: str
    name: str
    input: dict[str, Any]
    traits: Traits
    line: str


class Policy(Protocol):
    """Asked right before each run, never ahead of time. Never raises."""

    def judge(self, call: Call) -> Verdict: ...


class Approver(Protocol):
    """The person, or a program in their place. Called only where the policy says ask; may take as long as it takes.

    A call of AskUserQuestion is answered with ALLOW and an `input` whose `answers` map each question to the chosen label
    (several: joined by commas). ExitPlanMode is approved with ALLOW; `mode` may say how to go on, `input` hold another plan.
    """

    async def approve(self, call: Call, reason: str) -> Verdict: ...
