"""The outcomes that the exploration plays to the policy: every constructor, with the few values that matter."""

import functools
import itertools
import math
from enum import Enum
from typing import Any

import msgspec

from everturn.core.actions import Action
from everturn.core.decide import AnyOutcome, members
from everturn.core.limits import Limits
from everturn.core.outcomes import EVERY_ACTION, LEDGER_REASONS, GoalFailed, Outcome, Problem

PROBLEM = Problem(text="What went wrong.")
NAMED: dict[tuple[str, str], tuple[Any, ...]] = {
    ("TooLong", "staged"): (0, 1),
    ("Drained", "committed"): (0, 1),
    ("StopBlocked", "unfit"): (None, PROBLEM),
    ("LimitReached", "which"): LEDGER_REASONS,
}
"""Fields whose type does not say which values matter."""


class WithGoal(Limits, frozen=True, kw_only=True):
    """The limits of a query that has a goal: only there its command can fail."""


RELATIVE = ("StopPassed", "spent")
"""Sampled as a gain over what the query had spent at the last check."""


def sample_outcomes(action: Action, spent: int, limits: Limits) -> tuple[AnyOutcome, ...]:
    """Everything that `action` can answer when the last check of the work budget saw `spent` tokens."""
    return _sample(action, spent, limits)


@functools.lru_cache(maxsize=4_096)
def _sample(action: Action, spent: int, limits: Limits) -> tuple[AnyOutcome, ...]:
    return tuple(
        outcome
        for kind in members(Outcome)
        if type(action) in actions_before(kind) and (kind is not GoalFailed or isinstance(limits, WithGoal))
        for outcome in sample_kind(kind, spent, limits)
        if all(getattr(outcome, name) == getattr(action, name) for name in outcome.echoes)
    )


def actions_before(kind: type[Outcome]) -> frozenset[type[Action]]:
    """Raises TypeError for an outcome that no action can answer with: it would never be played."""
    if not kind.follows <= EVERY_ACTION or not kind.follows:
        raise TypeError(f"{kind.__name__}.follows names no action of the loop")
    return kind.follows


def sample_kind(kind: type[msgspec.Struct], spent: int, limits: Limits) -> list[Any]:
    """Raises TypeError for a field that nobody gave values to: a walk that leaves something out proves nothing."""
    fields = msgspec.structs.fields(kind)
    columns = [sample_field(kind, field, spent, limits) for field in fields]
    return [
        kind(**dict(zip((field.name for field in fields), values, strict=True)))
        for values in itertools.product(*columns)
    ]


def sample_field(
    kind: type[msgspec.Struct], field: msgspec.structs.FieldInfo, spent: int, limits: Limits
) -> tuple[Any, ...]:
    place = (kind.__name__, field.name)
    if place in NAMED:
        return NAMED[place]
    if place == RELATIVE:
        return tuple(spent + gain for gain in sample_gains(limits))
    if field.type is bool:
        return (False, True)
    if field.type is Problem:
        return (PROBLEM,)
    if isinstance(field.type, type) and issubclass(field.type, Enum):
        return tuple(field.type)
    raise TypeError(f"{kind.__name__}.{field.name} has no sample values; name them in everturn.testing.samples")


def sample_gains(limits: Limits) -> tuple[int, ...]:
    """Nothing, not quite work, just work, and enough to end it at once; without a work budget nobody looks."""
    if limits.work_budget <= 0:
        return (0,)
    least = limits.work_min_gain
    return tuple(sorted({0, max(least - 1, 0), least, most_work(limits)}))


def most_work(limits: Limits) -> int:
    """From here on, more spent tokens change nothing."""
    return math.ceil(max(limits.work_budget, limits.work_budget * limits.work_threshold, 0))
