"""The notice about a failed attempt: that another attempt follows, or when a new one makes sense."""

import time

from everturn.core.errors import ModelFault
from everturn.core.events import RetryScheduled


def announce_retry(fault: ModelFault, tried: int, most: int, delay_s: float) -> RetryScheduled:
    return RetryScheduled(
        attempt=tried, max_tries=most, delay_s=delay_s, status=fault.status, error=fault.kind, text=fault.text
    )


MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400
MAX_S = 366 * DAY_S
"""The longest wait that a message names; a longer one is shown as this."""


def tell_when(fault: ModelFault, wait_s: float, now: float) -> ModelFault:
    """The same fault, with the time from which on another attempt makes sense."""
    wait_s = min(wait_s, MAX_S)
    local = time.localtime(-(-(now + wait_s) // MINUTE_S) * MINUTE_S)
    when = time.strftime("%H:%M" if wait_s < DAY_S else "%Y-%m-%d %H:%M", local)
    return ModelFault(
        fault.kind,
        f"{fault.text.rstrip()} The server asks to wait {render_wait(wait_s)}: try again after {when}.",
        status=fault.status,
        retry_after=fault.retry_after,
        request_id=fault.request_id,
    )


def render_wait(wait_s: float) -> str:
    """The wait in its two largest units, such as `2 min 5 s`."""
    if wait_s < MINUTE_S:
        return f"{wait_s:.0f} s"
    minutes = -(-int(wait_s) // MINUTE_S)
    days, hours, minutes = minutes // 1_440, minutes // 60 % 24, minutes % 60
    if days:
        return f"{days} d {hours} h" if hours else f"{days} d"
    if hours:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{minutes} min"
