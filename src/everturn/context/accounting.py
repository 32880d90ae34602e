"""How full the window is: the API's own count where there is one, estimates only for what came after it."""

import asyncio
from collections.abc import Collection, Iterable, Sequence

from everturn.core.messages import UNSENT, Message
from everturn.core.refused_media import count_refused, find_refused
from everturn.core.tokens import MEDIA_TOKENS, Meter, Scale
from everturn.ports.context import Situation

UNSCALED = Scale()
IMPLAUSIBLE = 2
"""A meter that shows more than this many windows is wrong."""
COUNT_S = 10.0
"""Time that a count of tokens may take."""
GUESSED_SHARE = 0.33
"""Of the window: where more than that is estimated, a count is worth a call before something is lost."""


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
    """Much of the estimate was never counted."""
    meter, window = situation.meter, situation.card.window
    if meter is None or not is_plausible(meter, view, window):
        return True
    return estimate_messages(view[meter.messages :]) > GUESSED_SHARE * window


async def run_count(view: Sequence[Message], situation: Situation) -> int | None:
    """What the API counts, where it says so soon: an estimate will do, and nobody should wait for better."""
    if situation.count is None:
        return None
    try:
        async with asyncio.timeout(min(COUNT_S, situation.limits.summary_s or COUNT_S)):
            return await situation.count(view)
    except TimeoutError:
        return None


def is_plausible(meter: Meter, view: Sequence[Message], window: int) -> bool:
    """It is of this view, and shows what a window can hold."""
    return meter.messages <= len(view) and meter.tokens <= IMPLAUSIBLE * window


def estimate_messages(messages: Sequence[Message]) -> int:
    return sum(costs_of(messages, find_refused(messages)))


def costs_of(messages: Iterable[Message], refused: Collection[str]) -> list[int]:
    """Message by message. What is not sent costs nothing; refused media is sent as a short note."""
    return [0 if message.kind in UNSENT else _cost(message, refused) for message in messages]


def usable_window(situation: Situation) -> int:
    """What a request may take: the window without the output that is reserved in it."""
    return max(1, situation.card.window - min(situation.output_cap, situation.card.max_output))


def threshold(situation: Situation) -> int:
    """Above it the conversation is compacted."""
    return int(situation.limits.compact_share * usable_window(situation))


def is_compaction_due(tokens: int, situation: Situation) -> bool:
    limits = situation.limits
    if situation.is_compaction or not limits.auto_compact or situation.tracking.failures >= limits.compact_failures:
        return False
    return tokens > threshold(situation)


def _cost(message: Message, refused: Collection[str]) -> int:
    return message.tokens - MEDIA_TOKENS * count_refused(message, refused)
