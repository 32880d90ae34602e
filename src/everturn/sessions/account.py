"""A node of the budget tree: the session, a query, an agent or a purpose; what it spent, and which limit it has reached."""

from collections.abc import Iterator

from everturn.core.budget import Usage
from everturn.core.money import PICO, to_pico
from everturn.core.outcomes import Problem
from everturn.core.state import Reason
from everturn.ports.ledger import Allowance, Spent
from everturn.sessions.purse import Purse

UNLIMITED = Allowance()


class Account:
    """`reserve` sets the allowance aside in the parent; else it is a ceiling that others may use up first.

    How each limit counts: USD is reached at the limit or above; tokens, turns and tool calls by the first beyond; time
    when that many seconds have passed. Where nothing could be set aside, it is reached at once.
    """

    def __init__(
        self, label: str, parent: "Account | None" = None, allowance: Allowance = UNLIMITED, *, reserve: bool = False
    ) -> None:
        self.label = label
        """What the account is for, as the subject of a sentence."""
        self.parent = parent
        self.usage = Usage()
        """Usage of its own charges, without those below."""
        self.wall_s = allowance.wall_s
        self.started_s: float | None = None
        above: tuple[Purse | None, ...] = parent.purses if parent is not None else (None,) * 4
        wanted = (to_pico(allowance.usd), allowance.tokens, allowance.turns, allowance.tool_calls)
        self.purses: tuple[Purse, ...] = tuple(
            _open_purse(purse, limit, reserve=reserve) for purse, limit in zip(above, wanted, strict=True)
        )
        self.usd, self.tokens, self.turns, self.calls = self.purses

    @property
    def lineage(self) -> Iterator["Account"]:
        account: Account | None = self
        while account is not None:
            yield account
            account = account.parent

    @property
    def is_limited(self) -> bool:
        return bool(self.wall_s) or any(purse.limit is not None for purse in self.purses)

    def charge(self, usage: Usage, pico: int) -> None:
        self.usage += usage
        self.usd.spend(pico)
        self.tokens.spend(usage.total)

    def take_up(self, spent: Spent) -> None:
        """Takes over what was used before a restart; the accounts above have counted it already."""
        self.usd.spent += to_pico(spent.usd)
        self.tokens.spent += spent.tokens
        self.calls.spent += spent.tool_calls
        self.started_s = (self.started_s or 0.0) - spent.wall_s

    def close(self) -> None:
        for purse in self.purses:
            purse.close()

    def time_left(self, elapsed_s: float) -> float | None:
        if not self.wall_s or self.started_s is None:
            return None
        return self.started_s + self.wall_s - elapsed_s

    def reached(self, elapsed_s: float, label: str, *, in_mid_stream: bool = False) -> tuple[Reason, Problem] | None:
        """The limit that is reached, or None. `in_mid_stream`: what was spent includes calls under way, which will cost more."""
        usd, tokens, at_least = self.usd, self.tokens, "at least " if in_mid_stream else ""
        if usd.limit is not None and usd.spent >= usd.limit:
            limit = _say_limit(f"{usd.limit / PICO:g} USD", usd, f"{(usd.wanted or 0) / PICO:g}")
            return reached(Reason.MAX_BUDGET_USD, f"{limit}: {label} cost {at_least}{usd.spent / PICO:.4f} USD.")
        if tokens.limit is not None and (tokens.spent > tokens.limit or not tokens.limit):
            limit = _say_limit(f"{tokens.limit:,} tokens", tokens)
            return reached(Reason.MAX_TOKENS_TOTAL, f"{limit}: {label} used {at_least}{tokens.spent:,}.")
        if is_over(self.calls):
            limit = _say_limit(f"{self.calls.limit:,} tool calls", self.calls)
            return reached(Reason.MAX_TOOL_CALLS, f"{limit}: {label} may make no more.")
        if is_over(self.turns):
            limit = _say_limit(f"{self.turns.limit:,} turns", self.turns)
            return reached(Reason.MAX_TURNS, f"{limit}: {label} may take no more.")
        if (left := self.time_left(elapsed_s)) is not None and left <= 0:
            took = f"{label} took {self.wall_s - left:.1f}"
            return reached(Reason.MAX_WALL_TIME, f"Reached the limit of {self.wall_s:g} seconds: {took}.")
        return None


def reached(reason: Reason, text: str) -> tuple[Reason, Problem]:
    return reason, Problem(text=text, kind=reason.value, by_api=False)


def is_over(purse: Purse) -> bool:
    return purse.limit is not None and purse.spent > purse.limit


def _open_purse(parent: Purse | None, limit: int, *, reserve: bool) -> Purse:
    if limit <= 0:
        return Purse(parent)
    return parent.reserve(limit) if reserve and parent is not None else Purse(parent, limit=limit)


def _say_limit(limit: str, purse: Purse, wanted: str = "") -> str:
    if purse.limit == purse.wanted:
        return f"Reached the limit of {limit}"
    return f"Reached the limit of {limit}, which was all that was left of {wanted or f'{purse.wanted:,}'}"
