"""May this call run? Rules and mode decide; where they say ask, the approver does."""

from collections.abc import Coroutine, Sequence
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from everturn.core.denials import DenialCause
from everturn.ports.holding import Holding
from everturn.ports.judged_paths import JudgedPath
from everturn.ports.tool import PatchHunk, Traits

HOST_QUESTION = "sandbox.network"
"""Name of the call that asks whether a command in the sandbox may reach a host. No tool can have this name.

Its input holds `host`, `port` and the `command` that wants to connect.
"""

SETTINGS_QUESTION = "settings.changed"
"""Name of the call that asks whether settings that changed while the session runs count in it from now on.

Its input holds `changes`, a line for each rule or folder, with its file.
"""


ELICITATION_QUESTION = "mcp.elicitation"
"""Name of the call that passes on a question of an MCP server to the person, while one of its tools runs.

Its input holds `server`, `message`, and `requested_schema` or `url`. An approver that fills in the form gives an `input` with `content`.
"""


class Ruling(StrEnum):
    """What a verdict says about a call."""

    ALLOW = "allow"
    """The call runs."""
    ASK = "ask"
    """The approver decides."""
    DENY = "deny"
    """The call does not run, and the model reads the reason."""


class Decider(StrEnum):
    """Which part of the policy decided, by the names that stream-json uses."""

    RULE = "rule"
    MODE = "mode"
    HOOK = "hook"
    """The gate's: a hook of the user."""


class Scope(StrEnum):
    """How long a person's yes counts."""

    ONCE = "once"
    """For this call only."""
    SESSION = "session"
    """Until the session ends."""
    ALWAYS = "always"
    """Written to a settings file, so that it counts in later sessions of this project, too."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A yes for more than this call: what it would add to the rules, and what that would let run."""

    scope: Scope
    """How long it would count."""
    rules: tuple[str, ...] = ()
    """Allow rules that would be added, the narrowest that make sense."""
    mode: str | None = None
    """Permission mode from then on, in place of rules."""
    covers: tuple[str, ...] = ()
    """What each rule, or the mode, would let run, in words."""
    past: tuple[str, ...] = ()
    """Earlier calls of this session that a person was asked about, and that these rules would have allowed; a line each."""
    place: str = ""
    """File that the rules would be written to."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The decision about one call. An approver sets `ruling`, and may set `reason`, `input`, `mode`, `grants` and `scope`."""

    ruling: Ruling
    """Allow, ask or deny. An approver allows or denies."""
    reason: str = ""
    """Why, for the model and for people. The policy names the rule or the mode here; an approver may leave it empty."""
    by: Decider | None = None
    """The policy's: which part of it decided; None where it was neither a rule nor the mode."""
    cause: DenialCause | None = None
    """Kind of the reason for a denial or a question; an approver may set another one than `person`. None if the call may run."""
    unasked: bool = False
    """The gate's: a person could have allowed it, and nobody was here to be asked."""
    grave: bool = False
    """The policy's: what the call does cannot be undone."""
    judged: JudgedPath | None = None
    """The policy's: the file that was judged. The call may touch no other one."""
    may_read: bool = False
    """The policy's: the file that the call would change may be read. A call that cannot work then fails before anybody is asked."""
    advice: str = ""
    """The gate's: sentences for the model after a denial, about what it may do in place of the call."""
    holding: Holding | None = None
    """The policy's: how the call is confined while it runs, since nobody approved it."""
    by_person: bool = False
    """The gate's: the verdict is the approver's."""
    input: dict[str, Any] | None = None
    """An approver's: input that the call runs with, in place of the model's. Answers to AskUserQuestion are given here."""
    mode: str | None = None
    """An approver's: permission mode from now on."""
    grants: tuple[str, ...] = ()
    """An approver's: allow rules to add."""
    scope: Scope = Scope.ONCE
    """An approver's: how long the rules in `grants` count."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call, as the policy, the approver and the hooks see it before or after it runs."""

    id: str
    """Id of the call, as the model gave it."""
    name: str
    """Name of the tool, or of a question that is no call of a tool."""
    input: dict[str, Any]
    """Input of the call, corrected where the meaning was certain."""
    traits: Traits
    """What the tool says about this call."""
    line: str
    """What the call does, in one line for people."""
    derived: dict[str, Any] = {}
    """Fields that the tool adds to the input for people and hooks. They are never sent."""
    offers: tuple[Offer, ...] = ()
    """For an approver: what a yes for more than this call may add. Empty where no rule would help."""
    grave: bool = False
    """For an approver: the call cannot be undone, so a yes should take more than one key."""
    details: tuple[str, ...] = ()
    """For an approver: why the policy asks, a line for each part of a command."""
    folder: str = ""
    """For an approver: folder in which a command would run, where it is not the working folder; else empty."""
    patch: Sequence[PatchHunk] = ()
    """For an approver: what would become of a file, with the lines around each change. Empty where that is not known."""
    exports: tuple[str, ...] = ()
    """For an approver: variables that earlier commands have set and that matter to this one, as `NAME=value` or `NAME is not set`."""

    @property
    def shown(self) -> dict[str, Any]:
        """The input with the derived fields."""
        return {**self.derived, **self.input}

    def without_derived(self, shown: dict[str, Any]) -> dict[str, Any]:
        """The input that somebody made of `shown`: a derived field that they left as it was is none of it."""
        own = self.derived.keys() - self.input.keys()
        return {name: value for name, value in shown.items() if name not in own or value != self.derived[name]}


class Policy(Protocol):
    """Judges each call right before it runs, also one that it has judged before. It changes nothing and never raises."""

    def judge(self, call: Call) -> Verdict: ...

    def judge_allowed(self, call: Call) -> Verdict:
        """As `judge`, where a hook of the user has allowed the call: that counts like a rule that allows every call of the tool, and every file."""
        ...

    def judge_apart(self, call: Call) -> Verdict:
        """As `judge`, of a command that starts in the working folder, with nothing that earlier commands have set."""
        ...

    def prepare(self, call: Call) -> Coroutine[Any, Any, None] | None:
        """Something to await, after which the call is judged again. None almost always."""
        ...

    def advise(self, call: Call) -> str:
        """Sentences for the model about what it may do in place of a denied call; empty where there is nothing to say."""
        ...


class Approver(Protocol):
    """The person, or a program in their place. Called only where the policy says ask. It may take any time to answer.

    With the attribute `one_at_a_time = True` it is asked about one call after the other, and the policy judges each call
    again first, since an earlier yes may have covered it. Without it, several calls may be asked about at the same time.

    A call of AskUserQuestion is answered with ALLOW and an `input` whose `answers` map each question to the chosen label
    (several: joined by commas). ExitPlanMode is approved with ALLOW; `mode` may say how to go on, `input` hold another plan.
    A call named `HOST_QUESTION` is about a host that a command in the sandbox wants; when the command ends first, it is cancelled.
    A call named `ELICITATION_QUESTION` is a question of an MCP server: ALLOW accepts it, and an `input` with `content` fills in its form.
    A call named `SETTINGS_QUESTION` is about settings files that changed and would let more run: ALLOW lets them count from
    now on, anything else holds them back until they change again.
    """

    async def approve(self, call: Call, reason: str) -> Verdict: ...


class Grants(Protocol):
    """Adds rules to the policy when a person says yes for more than one call. Never raises."""

    def prepare(self, call: Call) -> Call:
        """Fills in `offers` and `details` of the call, and remembers that a person was asked about it."""
        ...

    def add(self, rules: tuple[str, ...], scope: Scope) -> str:
        """What went wrong, or an empty text. A rule that could not be written to the file still counts in this session."""
        ...


class HeldSettings(Protocol):
    """Settings that changed while the session runs and would let more run. They do not count yet."""

    @property
    def question(self) -> Call:
        """For an approver, named `SETTINGS_QUESTION`."""
        ...

    def agree(self) -> None:
        """The settings count from the next judgement on."""
        ...

    def refuse(self) -> None:
        """The settings do not count. Nobody is asked about them again until they change again."""
        ...


class SettingsConsent(Protocol):
    """Whether a person has to be asked about changed settings. Never raises."""

    def find_held(self, call: Call) -> HeldSettings | None:
        """Changed settings that would decide this call differently, so a person must be asked. None almost always, and then cheap."""
        ...
