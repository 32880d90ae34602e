"""Usage, prices and the two budgets that the core judges: what a call cost, and whether more work is worth it."""

import math
from typing import Any

import msgspec

from everturn.core.money import add_usd

MILLION = 1_000_000


class Usage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The four counters of the API. `cache_write_1h` is the part of `cache_write` that was kept for an hour.

    `estimated_output` is the part of `output` that the API has not counted: it is estimated from what was received.
    """

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0
    cache_write_1h: int = 0
    estimated_output: int = 0

    @property
    def context(self) -> int:
        """Tokens that the whole conversation, this response included, takes in the window."""
        return self.input + self.cache_write + self.cache_read + self.output

    @property
    def total(self) -> int:
        return self.context

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_write=self.cache_write + other.cache_write,
            cache_read=self.cache_read + other.cache_read,
            cache_write_1h=self.cache_write_1h + other.cache_write_1h,
            estimated_output=self.estimated_output + other.estimated_output,
        )


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """USD per million tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_write: float = 0.0
    cache_write_1h: float = 0.0
    cache_read: float = 0.0


def price_usage(usage: Usage, prices: Prices) -> float:
    """USD, exact to the last digit of the prices."""
    parts = (
        usage.input * prices.input,
        usage.output * prices.output,
        (usage.cache_write - usage.cache_write_1h) * prices.cache_write,
        usage.cache_write_1h * prices.cache_write_1h,
        usage.cache_read * prices.cache_read,
    )
    return add_usd([part / MILLION for part in parts if part])


def decode_usage(report: Any) -> Usage:
    """Reads the API's `usage` object; what is missing, negative or no number counts as nothing."""
    if not isinstance(report, dict):
        return Usage()
    parts = report.get("cache_creation")
    hourly = read_count(parts.get("ephemeral_1h_input_tokens")) if isinstance(parts, dict) else 0
    return Usage(
        input=read_count(report.get("input_tokens")),
        output=read_count(report.get("output_tokens")),
        cache_write=max(read_count(report.get("cache_creation_input_tokens")), hourly),
        cache_read=read_count(report.get("cache_read_input_tokens")),
        cache_write_1h=hourly,
    )


def merge_reports(earlier: dict[str, Any], later: Any) -> dict[str, Any]:
    """Later reports of one response are cumulative: a counter that is named again replaces the one before."""
    if not isinstance(later, dict):
        return earlier
    return {**earlier, **{key: value for key, value in later.items() if value is not None}}


def decode_nested(report: Any) -> tuple[tuple[str | None, Usage], ...]:
    """Usage of calls inside a response (`iterations`), each with its model or None for the response's own.

    Where it is present it is the bill: the top-level counters leave such calls out.
    """
    nested = report.get("iterations") if isinstance(report, dict) else None
    if not isinstance(nested, list):
        return ()
    return tuple(
        (model if isinstance(model := entry.get("model"), str) else None, decode_usage(entry))
        for entry in nested
        if isinstance(entry, dict)
    )


def read_count(value: Any) -> int:
    """A number of tokens; what is missing, negative or no number counts as nothing."""
    if type(value) is int:
        return max(value, 0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value < math.inf else 0


class WorkBudget(msgspec.Struct, frozen=True, kw_only=True):
    """How far a query got on its work budget. Counts output tokens of the query."""

    continuations: int = 0
    last_gain: int = 0
    """What the continuation before this check brought."""
    total: int = 0
    """Output tokens at the last check."""


class WorkVerdict(msgspec.Struct, frozen=True, kw_only=True):
    go_on: bool
    diminishing: bool
    percent: int
    work: WorkBudget
    """The budget as it stands after this check."""


def judge_work(
    work: WorkBudget, *, spent: int, budget: int, threshold: float, min_gain: int, min_continuations: int
) -> WorkVerdict:
    """Go on while under the threshold, unless both the last and the present gain were too small to be work."""
    gain = spent - work.total
    diminishing = work.continuations >= min_continuations and gain < min_gain and work.last_gain < min_gain
    go_on = not diminishing and spent < budget * threshold
    return WorkVerdict(
        go_on=go_on,
        diminishing=diminishing,
        percent=min(100, spent * 100 // budget),
        work=WorkBudget(continuations=work.continuations + go_on, last_gain=gain, total=spent),
    )
