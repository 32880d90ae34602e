"""The account of a session: every model call is charged here, and here a query learns that it has had enough."""

from collections.abc import Mapping

from everturn.core.budget import Usage
from everturn.core.events import ModelUsage
from everturn.core.limits import Limits
from everturn.core.outcomes import Problem
from everturn.core.state import Reason
from everturn.sessions.replay import add_charge


class SessionLedger:
    """Give it what a replay says and it goes on from there.

    How each limit counts, from the beginning of the query; 0 = no limit, except for structured retries:

    - USD: reached when the cost is at the limit or above.
    - Tokens: reached when the total is above the limit.
    - Tool calls: the limit is the number of calls that the model may make, denied ones included. It is reached by the
      first beyond, which does not run: the model can still answer after the last.
    - Wall time: reached when that many seconds have passed.
    - Repeated calls: reached by the n-th call in a row with the same tool, the same input and the same result.
    - Structured retries: reached by the failure that would need one retry more.
    """

    def __init__(
        self, *, usd: float = 0.0, usage: Usage | None = None, models: Mapping[str, ModelUsage] | None = None
    ) -> None:
        self._session_usd = usd
        self._session_usage = usage or Usage()
        self._models = dict(models or {})
        self.begin_query(Limits(), 0.0)

    def begin_query(self, limits: Limits, started_s: float) -> None:
        """`started_s` is of the clock that `tripped` is asked with."""
        self._limits = limits
        self._started_s = started_s
        self._usd = 0.0
        self._tokens = 0
        self._main = Usage()
        self._calls = 0
        self._last_call: tuple[str, bytes, bytes] | None = None
        self._repeats = 0
        self._structured_failures = 0

    def charge(self, model: str, usage: Usage, usd: float, *, main: bool) -> None:
        self._session_usd += usd
        self._session_usage += usage
        self._models[model] = add_charge(self._models.get(model), usage, usd)
        self._usd += usd
        self._tokens += usage.total
        if main:
            self._main += usage

    def claim_call(self) -> bool:
        self._calls += 1
        return not 0 < self._limits.max_tool_calls < self._calls

    def release_calls(self, count: int) -> None:
        self._calls -= count

    def note_call(self, name: str, input_: bytes, result: bytes) -> None:
        call = (name, input_, result)
        self._repeats = self._repeats + 1 if call == self._last_call else 1
        self._last_call = call

    def note_structured_failure(self) -> None:
        self._structured_failures += 1

    def tripped(self, elapsed_s: float) -> tuple[Reason, Problem] | None:
        limits = self._limits
        passed = elapsed_s - self._started_s
        if 0 < limits.max_usd <= self._usd:
            return _reached(
                Reason.MAX_BUDGET_USD,
                f"Reached the limit of {limits.max_usd:g} USD: the query cost {self._usd:.4f} USD.",
            )
        if 0 < limits.max_tokens_total < self._tokens:
            return _reached(
                Reason.MAX_TOKENS_TOTAL,
                f"Reached the limit of {limits.max_tokens_total:,} tokens: the query used {self._tokens:,}.",
            )
        if 0 < limits.max_tool_calls < self._calls:
            return _reached(Reason.MAX_TOOL_CALLS, f"Reached the limit of {limits.max_tool_calls:,} tool calls.")
        if 0 < limits.max_wall_s <= passed:
            return _reached(
                Reason.MAX_WALL_TIME,
                f"Reached the limit of {limits.max_wall_s:g} seconds: the query took {passed:.1f}.",
            )
        if 0 < limits.max_repeated_calls <= self._repeats and self._last_call is not None:
            return _reached(
                Reason.REPEATED_CALLS,
                f"Reached the limit of {limits.max_repeated_calls:,} identical calls in a row: "
                f"{self._last_call[0]} was called again with the same input and gave the same result.",
            )
        if self._structured_failures > limits.structured_retries:
            return _reached(
                Reason.STRUCTURED_OUTPUT_RETRIES,
                f"Reached the limit of {limits.structured_retries:,} retries for an answer that fits the output schema.",
            )
        return None

    @property
    def session_usd(self) -> float:
        return self._session_usd

    @property
    def session_usage(self) -> Usage:
        return self._session_usage

    @property
    def query_usage(self) -> Usage:
        return self._main

    @property
    def query_output(self) -> int:
        return self._main.output

    @property
    def models(self) -> dict[str, ModelUsage]:
        return dict(self._models)


def _reached(reason: Reason, text: str) -> tuple[Reason, Problem]:
    return reason, Problem(text=text, kind=reason.value, by_api=False)
