"""How full the window is: the API's own count where there is one, estimates only for what came after it."""

import asyncio
from collections.abc import Collection, Iterable, Sequence

from everturn.core.messages import UNSENT, Message
from everturn.core.refused_media import count_refused, find_refused
from everturn.core.tokens import MEDIA_TOKENS, Meter, Scale
from everturn.ports.context import Situation

UNSCALED = Scale()
IMPLAUSIBLE = 2
"""Number of windows that a count cannot exceed; a larger one is wrong."""
COUNT_S = 10.0
"""Seconds that a count of tokens may take."""
GUESSED_SHARE = 0.33
"""Share of the window: if more than that is only estimated, the API is asked for a count before anything is removed."""


def estimate_request(
    view: Sequence[Message], situation: Situation, scale: Scale = UNSCALED, *, messages_tokens: int | None = None
) -> int:
    """Tokens of the whole request. With a meter, the cost is that of what is new.

    `messages_tokens` is the estimate of all messages, where it is known already. `scale` corrects what is estimated.
    """
    meter = situation.meter
    if meter is None or not is_plausible(meter, view, situation.card.window):
        whole = estimate_messages(view) if messages_tokens is None else messages_tokens
        return scale.apply(situation.fixed_tokens + whole)
    return meter.tokens + scale.apply(estimate_messages(view[meter.messages :]))


def is_guess(view: Sequence[Message], situation: Situation) -> bool:
    """Whether much of the size is only estimated."""
    meter, window = situation.meter, situation.card.window
    if meter is None or not is_plausible(meter, view, window):
        return True
    return estimate_messages(view[meter.messages :]) > GUESSED_SHARE * window


async def run_count(view: Sequence[Message], situation: Situation) -> int | None:
    """The API's count; None where it does not come soon: an estimate will do."""
    if situation.count is None:
        return None
    try:
        async with asyncio.timeout(min(COUNT_S, situation.limits.summary_s or COUNT_S)):
            return await situation.count(view)
    except TimeoutError:
        return None


def is_plausible(meter: Meter, view: Sequence[Message], window: int) -> bool:
    """Whether the count belongs to this view, and is one that a window can hold."""
    return meter.messages <= len(view) and meter.tokens <= IMPLAUSIBLE * window


def estimate_messages(messages: Sequence[Message]) -> int:
    return sum(costs_of(messages, find_refused(messages)))


def costs_of(messages: Iterable[Message], refused: Collection[str]) -> list[int]:
    """Estimates message by message. What is not sent costs nothing; refused media is sent as a short note."""
    return [0 if message.kind in UNSENT else _cost(message, refused) for message in messages]


def usable_window(situation: Situation) -> int:
    """Tokens that a request may take: the window without the reserved output."""
    return max(1, situation.card.window - min(situation.output_cap, situation.card.max_output))


def threshold(situation: Situation) -> int:
    """Tokens above which the conversation is compacted."""
    return int(situation.limits.compact_share * usable_window(situation))


def is_compaction_due(tokens: int, situation: Situation) -> bool:
    limits = situation.limits
    if situation.is_compaction or not limits.auto_compact or situation.tracking.failures >= limits.compact_failures:
        return False
    return tokens > threshold(situation)


def _cost(message: Message, refused: Collection[str]) -> int:
    return message.tokens - MEDIA_TOKENS * count_refused(message, refused)
