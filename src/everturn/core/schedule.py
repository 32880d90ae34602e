"""What to do after a failed attempt: wait, repair, switch the model, or give up. Pure; the sleeping is done elsewhere."""

from enum import StrEnum

import msgspec

from everturn.core.errors import RETRYABLE, FaultKind
from everturn.core.limits import Limits


class Repair(StrEnum):
    """Repairs of the messages, each made once per call."""

    DROP_THINKING = "drop_thinking"
    REPAIR_PAIRS = "repair_pairs"


class Attempts(msgspec.Struct, frozen=True, kw_only=True):
    """What happened so far to one call on the model in use."""

    tried: int = 1
    overloads: int = 0
    """Overloads in a row."""
    repairs: frozenset[Repair] = frozenset()
    fallbacks_left: int = 0
    unreached: bool = False
    """No connection was opened, and no answer ever came: another model at the same address would not help."""
    unanswered: bool = False
    """The last attempt brought no answer, and the session has none yet."""
    elapsed_s: float = 0.0
    """Seconds since the first attempt on this model."""

    def most(self, limits: Limits) -> int:
        """How many attempts there may be."""
        return min(limits.tries, limits.unreached_tries) if self.unreached or self.unanswered else limits.tries

    def is_exhausted(self, limits: Limits) -> bool:
        too_late = self.unanswered and 0 < limits.unanswered_s <= self.elapsed_s
        return too_late or self.tried >= self.most(limits)


class RetryAfter(msgspec.Struct, frozen=True):
    delay_s: float


class MendWith(msgspec.Struct, frozen=True):
    repair: Repair


class SwitchModel(msgspec.Struct, frozen=True):
    pass


class GiveUp(msgspec.Struct, frozen=True):
    retry_after: float | None = None
    """Seconds that the server wants us to wait, where that is too long to wait here."""


REPAIRS = {FaultKind.SIGNATURE: Repair.DROP_THINKING, FaultKind.PAIRING: Repair.REPAIR_PAIRS}
DOUBLINGS = 60
"""Largest exponent of the backoff: the delay is capped long before, and no float overflows."""
SWITCHING = frozenset({FaultKind.FALLBACK, FaultKind.MODEL_NOT_FOUND})


def plan_recovery(
    kind: FaultKind, attempts: Attempts, limits: Limits, *, retry_after: float | None, jitter: float
) -> RetryAfter | MendWith | SwitchModel | GiveUp:
    """What follows a failed attempt. `jitter` is a fraction in [0, 1)."""
    if (repair := REPAIRS.get(kind)) and repair not in attempts.repairs:
        return MendWith(repair)
    overloaded = kind is FaultKind.OVERLOADED and attempts.overloads >= limits.overloads_before_fallback
    too_long = retry_after if kind in RETRYABLE and (retry_after or 0) > limits.max_retry_after else None
    exhausted = kind in RETRYABLE and (too_long is not None or attempts.is_exhausted(limits))
    if attempts.fallbacks_left and (kind in SWITCHING or overloaded or (exhausted and not attempts.unreached)):
        return SwitchModel()
    if kind in RETRYABLE and not exhausted:
        return RetryAfter(plan_delay(attempts.tried, limits, retry_after=retry_after, jitter=jitter))
    return GiveUp(too_long)


def plan_delay(tried: int, limits: Limits, *, retry_after: float | None, jitter: float) -> float:
    """Seconds. The server's word counts; without one, the wait doubles from try to try, less up to a quarter of jitter."""
    if retry_after is not None and retry_after > 0:
        return retry_after
    delay = min(limits.backoff_first_s * 2.0 ** min(tried - 1, DOUBLINGS), limits.backoff_most_s)
    return delay * (1 - jitter / 4)
