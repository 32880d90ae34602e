"""The policy of an engine that works for another engine: at each call it uses the rules that the other one has then."""

from typing import TYPE_CHECKING, Any

from everturn.ports.policy import Call, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from everturn.permissions.policy import RulePolicy


class FollowingPolicy:
    """`ports.policy.Policy`. The mode is its own."""

    def __init__(self, policy: "RulePolicy", find_leader: "Callable[[], RulePolicy]") -> None:
        self._policy = policy
        self._find_leader = find_leader

    def judge(self, call: Call) -> Verdict:
        return self._follow().judge(call)

    def judge_allowed(self, call: Call) -> Verdict:
        return self._follow().judge_allowed(call)

    def judge_apart(self, call: Call) -> Verdict:
        return self._follow().judge_apart(call)

    def prepare(self, call: Call) -> "Coroutine[Any, Any, None] | None":
        return self._policy.prepare(call)

    def advise(self, call: Call) -> str:
        return self._policy.advise(call)

    def _follow(self) -> "RulePolicy":
        self._policy.follow(self._find_leader())
        return self._policy
