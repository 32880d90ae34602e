"""May this call run? Rules and mode decide; where they say ask, the approver does."""

from enum import StrEnum
from typing import Any, Protocol

import msgspec

from everturn.ports.holding import Holding
from everturn.ports.judged import Judged
from everturn.ports.tool import Traits

HOST_QUESTION = "sandbox.network"
"""What a question about a host is called before policy and approver: no tool can have this name.

Its input holds `host`, `port` and the `command` that wants to connect.
"""

SETTINGS_QUESTION = "settings.changed"
"""What the question is called whether settings that changed while the session runs shall count in it.

Its input holds `changes`: a line for each rule or folder, with its file.
"""


class Ruling(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Decider(StrEnum):
    """What of the policy spoke, by the names that readers of stream-json know."""

    RULE = "rule"
    MODE = "mode"


class Scope(StrEnum):
    """How long a person's yes holds."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"
    """Written down, for later sessions of this project, too."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A longer yes that would let this call run: exactly what it would add, and what that covers."""

    scope: Scope
    rules: tuple[str, ...] = ()
    """Allow rules, the narrowest that make sense."""
    mode: str | None = None
    """In place of rules: the permission mode from then on."""
    covers: tuple[str, ...] = ()
    """What each rule, or the mode, lets run; in words."""
    past: tuple[str, ...] = ()
    """Earlier calls of this session that were asked and would not have been; a line each."""
    place: str = ""
    """The file that the rules would be written to."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    ruling: Ruling
    reason: str
    """For the model and for people; names the rule or the mode."""
    by: Decider | None = None
    """The policy's: what decided; None where it was neither a rule nor the mode."""
    grave: bool = False
    """The policy's: what is asked for cannot be undone."""
    judged: Judged | None = None
    """The policy's: the file that it spoke of; whoever runs the call is held to it."""
    may_read: bool = False
    """The policy's: the file that the call would change may be read, so a call that cannot work fails before anybody is asked."""
    advice: str = ""
    """The gate's, of the policy: sentences for the model behind a denial, of what it may do in place of the call."""
    holding: Holding | None = None
    """The policy's: nobody approved the call, so it must be held like this while it runs."""
    by_person: bool = False
    """The gate's: the person, or the program in their place, has said it."""
    input: dict[str, Any] | None = None
    """An approver's: the call runs with this in place of what the model sent. Answers to a question come this way."""
    mode: str | None = None
    """An approver's: the permission mode from now on."""
    grants: tuple[str, ...] = ()
    """An approver's: allow rules from now on, for as long as `scope` says."""
    scope: Scope = Scope.ONCE


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call on its way through the gate."""

    id: str
    name: str
    input: dict[str, Any]
    traits: Traits
    line: str
    offers: tuple[Offer, ...] = ()
    """For an approver: what a longer yes may add. Empty where no rule would help."""
    grave: bool = False
    """For an approver: it cannot be undone, so that a yes should take more than one key."""
    details: tuple[str, ...] = ()
    """For an approver: how the policy came to ask, part by part."""
    folder: str = ""
    """For an approver: where a command would run, if that is not the working folder; else empty."""
    exports: tuple[str, ...] = ()
    """For an approver: what earlier commands have set for this one that decides which programs run, or stands in it: `NAME=value`, `NAME is not set`."""


class Policy(Protocol):
    """Asked right before each run, whatever it said before. Changes nothing, and never raises.

    It may have `prepare`, which is given the call and returns None, or something to be awaited before the call is judged again,
    and `advise`, which tells the model what it may do in place of a call that was denied; empty where there is nothing.
    """

    def judge(self, call: Call) -> Verdict: ...


class Approver(Protocol):
    """The person, or a program in their place. Called only where the policy says ask; may take as long as it takes.

    It may have `one_at_a_time` (true: it is asked about one call after the other, and the policy is asked again before
    each, since a longer yes may have answered it); otherwise calls that run together are asked about together.

    A call of AskUserQuestion is answered with ALLOW and an `input` whose `answers` map each question to the chosen label
    (several: joined by commas). ExitPlanMode is approved with ALLOW; `mode` may say how to go on, `input` hold another plan.
    A call named `HOST_QUESTION` is about a host that a command in the sandbox wants; when the command ends first, it is cancelled.
    A call named `SETTINGS_QUESTION` is about settings files that changed and would let more run: ALLOW lets them count from
    now on, anything else holds them back until they change again.
    """

    async def approve(self, call: Call, reason: str) -> Verdict: ...


class Grants(Protocol):
    """What a person's yes may add to the rules. Never raises."""

    def prepare(self, call: Call) -> Call:
        """The call with its offers and details. It counts as asked from now on."""
        ...

    def add(self, rules: tuple[str, ...], scope: Scope) -> str:
        """Empty, or what of it went wrong: a rule that could not be written down still holds for this session."""
        ...


class HeldSettings(Protocol):
    """Settings that changed and would let more run. They do not count yet."""

    @property
    def question(self) -> Call:
        """For an approver, named `SETTINGS_QUESTION`."""
        ...

    def agree(self) -> None:
        """They count from the next judgement on."""
        ...

    def refuse(self) -> None:
        """They do not count, and are not asked about again while they stay as they are."""
        ...


class SettingsConsent(Protocol):
    """Whether a person has to be asked about changed settings. Never raises."""

    def find_held(self, call: Call) -> HeldSettings | None:
        """What would decide this call otherwise, and is for a person to decide. None almost always, and then cheap."""
        ...
