"""How long the server asks us to wait. Pure."""

import math
from collections.abc import Mapping

MILLI = 1_000


def parse_retry_after(headers: Mapping[str, str], now: float | None) -> float | None:
    """Seconds from `retry-after-ms` or `retry-after` (a number or a date); what makes no sense is None."""
    if (wait := _number(headers.get("retry-after-ms", ""))) is not None:
        return wait / MILLI
    value = headers.get("retry-after", "")
    if (wait := _number(value)) is not None:
        return wait
    until = _date(value)
    # The server's own clock is the better reference: ours may be wrong.
    since = _date(headers.get("date", ""))
    since = now if since is None else since
    if until is None or since is None or until < since:
        return None
    return until - since


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(value: str) -> float | None:
    if not value:
        return None
    from email.utils import parsedate_to_datetime  # slow to import, and dates are rare

    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
