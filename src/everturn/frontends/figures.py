"""Figures as people read them: time, money, tokens."""

from everturn.core.budget import Usage

MINUTE_S = 60
HOUR_S = 3600
TENTHS_BELOW_S = 10
CENTS_FROM_USD = 1


def render_duration(seconds: float) -> str:
    seconds = max(seconds, 0.0)
    if (ms := round(seconds * 1000)) < 1000:  # noqa: PLR2004 (a second)
        return f"{ms} ms"
    if seconds < TENTHS_BELOW_S:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < MINUTE_S:
        return f"{whole} s"
    if whole < HOUR_S:
        return f"{whole // MINUTE_S} min {whole % MINUTE_S:02d} s"
    return f"{whole // HOUR_S} h {whole % HOUR_S // MINUTE_S:02d} min"


def render_usd(usd: float) -> str:
    return f"${usd:.2f}" if usd >= CENTS_FROM_USD or usd == 0 else f"${usd:.4f}"


def render_count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def render_usage(usage: Usage) -> str:
    """What went in, how much of it the cache gave, and what came out, which may be an estimate."""
    sent = usage.input + usage.cache_write + usage.cache_read
    cached = f" ({usage.cache_read * 100 // sent} % cached)" if usage.cache_read else ""
    about = "about " if usage.estimated_output else ""
    return f"{sent:,} tokens in{cached}, {about}{usage.output:,} out"
