"""One account for all model calls: who paid what, and whether a limit is reached."""

from typing import Protocol

from everturn.core.budget import Usage
from everturn.core.events import ModelUsage
from everturn.core.limits import Limits
from everturn.core.outcomes import Problem
from everturn.core.state import Reason


class Ledger(Protocol):
    """Never raises. Totals are of the session; limits count from `begin_query`."""

    def begin_query(self, limits: Limits, started_s: float) -> None: ...

    def charge(self, model: str, usage: Usage, usd: float, *, main: bool) -> None:
        """`main` = the loop's own calls, whose usage the result shows; all calls count towards limits."""
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
        """The first limit that is reached, with a text that names it."""
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
