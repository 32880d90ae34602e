"""How full the window is: the API's own count where there is one, estimates only for what came after it."""

from collections.abc import Collection, Iterable, Sequence

from everturn.core.messages import UNSENT, Message
from everturn.core.tokens import MEDIA_TOKENS, Meter
from everturn.core.transcript import blamed_in
from everturn.ports.context import Situation

IMPLAUSIBLE = 2
"""A meter that shows more than this many windows is wrong."""


def estimate_request(view: Sequence[Message], situation: Situation) -> int:
    """Tokens of the whole request. With a meter, the cost is that of what is new."""
    meter = situation.meter
    if meter is None or not is_plausible(meter, view, situation.card.window):
        return situation.fixed_tokens + estimate_messages(view)
    return meter.tokens + estimate_messages(view[meter.messages :])


def is_plausible(meter: Meter, view: Sequence[Message], window: int) -> bool:
    """It is of this view, and shows what a window can hold."""
    return meter.messages <= len(view) and meter.tokens <= IMPLAUSIBLE * window


def estimate_messages(messages: Sequence[Message]) -> int:
    return sum(costs_of(messages, blamed_in(messages)))


def costs_of(messages: Iterable[Message], blamed: Collection[str]) -> list[int]:
    """Message by message. What is not sent costs nothing; refused media is sent as a short note."""
    return [0 if message.kind in UNSENT else _cost(message, blamed) for message in messages]


def usable_window(situation: Situation) -> int:
    """What a request may take: the window without the output that is reserved in it."""
    return max(1, situation.card.window - min(situation.output_cap, situation.card.max_output))


def _cost(message: Message, blamed: Collection[str]) -> int:
    if message.id in blamed:
        return message.tokens - MEDIA_TOKENS * sum(block.media for block in message.blocks)
    return message.tokens
