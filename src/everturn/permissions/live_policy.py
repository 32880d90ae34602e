"""The policy of an engine whose settings files may change: checks them before each call, and asks a person where they would let more run."""

from typing import TYPE_CHECKING, Any

from everturn.permissions.live_rules import HeldBack, LiveRules
from everturn.ports.policy import SETTINGS_QUESTION, Call, HeldSettings, Ruling, Verdict
from everturn.ports.tool import Access, Confinement, Traits

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from everturn.permissions.policy import RulePolicy

_STRICTNESS = {Ruling.ALLOW: 0, Ruling.ASK: 1, Ruling.DENY: 2}
_CONFINED = frozenset({Confinement.INSIDE, Confinement.ENOUGH})
_HOLD_COMMANDS = frozenset({"Read", "Edit", "WebFetch"})
"""Tools whose deny rules hold commands in the sandbox, too."""


class LivePolicy:
    """`ports.policy.Policy` and `ports.policy.SettingsConsent`."""

    def __init__(self, policy: "RulePolicy", live: LiveRules, *, tell: "Callable[[str], None]", asks: bool) -> None:
        """`tell`: function that shows a notice to the person. `asks`: there is a person to ask."""
        self._policy = policy
        self._live = live
        self._tell = tell
        self._asks = asks

    def judge(self, call: Call) -> Verdict:
        self.look()
        return self._policy.judge(call)

    def judge_allowed(self, call: Call) -> Verdict:
        self.look()
        return self._policy.judge_allowed(call)

    def judge_apart(self, call: Call) -> Verdict:
        self.look()
        return self._policy.judge_apart(call)

    def look(self) -> None:
        """Reads changed settings files. Stricter rules count at once, looser ones wait for the person."""
        if (rules := self._live.look(self._tell)) is not None:
            self._policy.replace_rules(rules.rules, rules.paths)
            if problem := self._policy.forbid_bypass(off=bool(rules.no_bypass)):
                self._tell(problem)
            if not self._asks and (held := self._live.held) is not None:
                self._live.tell_held(held, self._tell)

    def prepare(self, call: Call) -> "Coroutine[Any, Any, None] | None":
        return self._policy.prepare(call)

    def advise(self, call: Call) -> str:
        return self._policy.advise(call)

    def find_held(self, call: Call) -> HeldSettings | None:
        held = self._live.held
        if held is None or not self._asks or not self._decides_otherwise(held, call):
            return None
        found = _Held(held, self._live, call.id, self._tell)
        if self._policy.judge(found.question).ruling is Ruling.DENY:
            # Nobody is asked in this mode.
            self._live.tell_held(held, self._tell)
            return None
        return found

    def _decides_otherwise(self, held: HeldBack, call: Call) -> bool:
        if call.traits.confinement in _CONFINED and _opens_sandbox(held):
            return True
        now = self._policy.judge(call).ruling
        if now is Ruling.ALLOW:
            return False
        imagined = self._policy.imagine()
        imagined.replace_rules(held.wanted.rules, held.wanted.paths)
        return _STRICTNESS[imagined.judge(call).ruling] < _STRICTNESS[now]


class _Held:
    """`ports.policy.HeldSettings`."""

    def __init__(self, held: HeldBack, live: LiveRules, call_id: str, tell: "Callable[[str], None]") -> None:
        self._held = held
        self._live = live
        self._tell = tell
        self.question = Call(
            id=call_id,
            name=SETTINGS_QUESTION,
            input={"changes": list(held.loosening.lines)},
            traits=Traits(read_only=True, access=Access.READ, needs_person=True),
            line="Settings that changed while the session runs",
        )

    def agree(self) -> None:
        self._live.agree(self._held)

    def refuse(self) -> None:
        self._live.refuse(self._held)
        self._live.tell_held(self._held, self._tell)


def _opens_sandbox(held: HeldBack) -> bool:
    """Whether agreeing would let commands in the sandbox write, read or reach more."""
    loosening = held.loosening
    return bool(loosening.folders) or any(
        rule.ruling is Ruling.DENY and rule.tool in _HOLD_COMMANDS for rule in loosening.drops
    )
