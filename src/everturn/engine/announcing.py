"""What is said of an attempt that failed and is made again: by the main call, and by what a query stands still for."""

from everturn.core.errors import ModelFault
from everturn.core.events import RetryScheduled


def announce_retry(fault: ModelFault, tried: int, most: int, delay_s: float) -> RetryScheduled:
    return RetryScheduled(
        attempt=tried, max_tries=most, delay_s=delay_s, status=fault.status, error=fault.kind, text=fault.text
    )
