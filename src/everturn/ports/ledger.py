"""One account for all model calls: what was spent, and whether a limit is reached. Accounts form a tree."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from everturn.core.budget import Usage
from everturn.core.events import ModelUsage
from everturn.core.limits import Limits
from everturn.core.outcomes import Problem
from everturn.core.state import Reason


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """The share of a budget for an engine that works for another one. 0 = no limit but those of the budget itself."""

    usd: float = 0.0
    """USD that it may spend."""
    tokens: int = 0
    """Tokens that it may use, all four counters together."""
    turns: int = 0
    """Rounds with the API."""
    tool_calls: int = 0
    """Calls of tools."""
    wall_s: float = 0.0
    """Seconds from the beginning of its first query."""


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What a query had used when it was cut off; its totals are in those of the session already."""

    usd: float = 0.0
    tokens: int = 0
    """All four counters."""
    tool_calls: int = 0
    wall_s: float = 0.0


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    """What a ledger below was charged, as this one sees it."""

    purpose: str
    """The name of the part of the work that spent it."""
    model: str
    usage: Usage
    usd: float
    turn: int
    """Number of the round in this ledger's query."""
    api_id: str = ""
    request_id: str = ""
    """Both ids are those of the first record of the call, so that a call in two journals is counted once."""


class Ledger(Protocol):
    """Never raises. Totals are of the session, all below it included; limits count from `begin_query`."""

    def begin_query(self, limits: Limits, started_s: float, spent: Spent | None = None) -> None:
        """`spent`: it goes on from there."""
        ...

    def watch(self, *, reached: Callable[[], None], charged: Callable[[Charge], None]) -> None:
        """`reached`: a limit may be reached, by others or in mid-stream; ask `tripped`. `charged`: somebody below spent."""
        ...

    def child(self, name: str, allowance: Allowance = ...) -> "Ledger":
        """For an engine that works on behalf of the query under way; what it spends counts here, too.

        What is allowed is set aside at once, so that two children together cannot be promised more than there is; it
        may be less than asked for. A limit of the child ends the child, a limit above ends all below.
        """
        ...

    def close(self) -> None:
        """Gives back what was set aside and not spent. A later charge still counts above. May be called again."""
        ...

    def charge(
        self, purpose: str, model: str, usage: Usage, usd: float, *, api_id: str = "", request_id: str = ""
    ) -> None:
        """`main` = the loop's own calls, whose usage the result shows; all calls count towards limits."""
        ...

    def note_received(self, request_id: str, usage: Usage, usd: float) -> None:
        """What a call under way has cost at least: whole each time. Limits count it, totals do not; `watch` is told."""
        ...

    def settle_received(self, request_id: str) -> None:
        """The call is over: nothing of what was noted counts any more, and what it really cost is charged next."""
        ...

    def note_turn(self, turn: int) -> None:
        """The round with the API that begins, from 1 in each query."""
        ...

    def claim_call(self) -> bool:
        """Asked once per call, denied ones included; False when the limit is reached: then it does not run."""
        ...

    def release_calls(self, count: int) -> None:
        """Takes back claims of a response that was thrown away: it is asked for again because of us."""
        ...

    def note_call(self, name: str, input_: bytes, result: bytes) -> None: ...

    def note_structured_failure(self) -> None: ...

    def tripped(self, elapsed_s: float) -> tuple[Reason, Problem] | None:
        """The first limit that is reached, here or above, with a text that names it."""
        ...

    def time_left(self, elapsed_s: float) -> float | None:
        """Seconds to the first limit of time, here or above; None = there is none."""
        ...

    @property
    def session_usd(self) -> float: ...

    @property
    def query_usage(self) -> Usage: ...

    @property
    def query_output(self) -> int:
        """Output tokens of the main loop in this query: what a work budget counts."""
        ...

    @property
    def models(self) -> dict[str, ModelUsage]: ...
