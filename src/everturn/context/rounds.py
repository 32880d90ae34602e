"""Where a view may be cut: between rounds, and never between a tool use and its result."""

from collections.abc import Sequence

from everturn.core.messages import UNSENT, Kind, Message

_OPENING = frozenset({Kind.PROMPT, Kind.SUMMARY})


def round_starts(view: Sequence[Message]) -> list[int]:
    """Indices at which a round begins: a prompt, a summary, or an answer with the user messages after it.

    An index is left out where cutting before it would part a use from its result, however far apart they stand.
    """
    barred = _bars(view)
    starts: list[int] = []
    before: str | None = None
    for index, message in enumerate(view):
        opens = before is None or message.kind in _OPENING or (message.role == "assistant" and before == "user")
        if opens and not barred[index] and message.kind not in UNSENT:
            starts.append(index)
        if message.kind not in UNSENT:
            before = message.role
    return starts


def last_prompt(view: Sequence[Message]) -> int | None:
    """Index of the last prompt."""
    return next((index for index in range(len(view) - 1, -1, -1) if view[index].kind is Kind.PROMPT), None)


def _bars(view: Sequence[Message]) -> list[int]:
    """For each index, the number of pairs of call and result that a cut there would part."""
    spans: dict[str, tuple[int, int]] = {}
    for index, message in enumerate(view):
        for id_ in (*(use.id for use in message.uses), *(result.tool_use_id for result in message.results)):
            spans[id_] = (spans.get(id_, (index, index))[0], index)
    steps = [0] * (len(view) + 2)
    for first, last in spans.values():
        steps[first + 1] += 1
        steps[last + 1] -= 1
    bars: list[int] = []
    level = 0
    for step in steps[: len(view)]:
        level += step
        bars.append(level)
    return bars
