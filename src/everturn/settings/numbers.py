"""Judging the numbers of the loop: each limit has its kind and its least value."""

from collections.abc import Mapping
from typing import Any

from everturn.core.limits import Limits
from everturn.settings import checks

LIMITS = Limits.__struct_fields__
SHARES = frozenset(
    {"work_threshold", "compact_share", "collapse_share", "collapse_from", "clear_share", "clear_gain", "clear_kept"}
)
POSITIVE = frozenset(
    {
        "output_cap",
        "output_cap_escalated",
        "output_cap_thinking",
        "goal_attempts",
        "tries",
        "unreached_tries",
        "tool_concurrency",
        "read_tokens",
        "summary_tries",
        "summary_output",
        "file_states",
        "message_results",
        "result_preview",
    }
)
"""Nothing would work at all if they were 0."""


def limits(value: Any) -> str | None:
    """Of a `Limits` or of a map with some of its fields."""
    if isinstance(value, Limits):
        value = {name: getattr(value, name) for name in LIMITS}
    if not isinstance(value, Mapping):
        return "must be a Limits or a map of its fields"
    for name, number in value.items():
        if name not in LIMITS:
            return f"knows no {name!r}{checks.nearest(str(name), LIMITS)}"
        if problem := check_limit(name, number):
            return f"has {name}, which {problem}"
    return None


def check_limit(name: str, value: Any) -> str | None:
    match getattr(Limits(), name):
        case bool():
            return checks.flag(value)
        case int():
            return checks.whole(1 if name in POSITIVE else 0)(value)
        case _:
            return checks.number(0, 1)(value) if name in SHARES else checks.number(0)(value)
