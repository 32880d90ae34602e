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
    """The person, or a program in their place. Called only where the policy says ask; may take as long as it takes."""

    async def approve(self, call: Call, reason: str) -> Verdict: ...
