"""Stage four: stale results of tools that can be run again are replaced by a line, many at a time.

A result that no request has carried is never stale, however many there are.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from everturn.context.accounting import usable_window
from everturn.context.fact_tracker import SHELL, WAITER
from everturn.context.view_index import RERUNNABLE, VerboseResult, ViewIndex
from everturn.core.messages import Block, Message, ToolResult, result_block
from everturn.ports.context import Situation
from everturn.ports.model import Clearing

STAGE = "microcompact"
LINE = "[Stale, cleared: about {tokens:,} tokens. Run it again if it is needed.]"
"""Text in place of a cleared result. It is short, because there are many, and the call stands right before it."""
LINE_TOKENS = 50
CLEARED_BY_API = RERUNNABLE - {SHELL, WAITER}
"""Tools whose results the API may clear. Not Bash: the API does not know which command failed last, and that one must stay."""
WIDE = 375_000
"""Tokens of a window from which on no more must be freed at once: writing and reading cost the same in every window."""
SMALL_SHARE = 0.012
"""Share of the window above which no result counts as small, whatever `clear_small` says."""
LARGE_SHARE = 0.25
"""Share of the window from which on even the latest result may be cleared."""


def plan_clearing(index: ViewIndex, tokens: int, situation: Situation, *, held: Collection[str]) -> dict[str, str]:
    """Lines by `tool_use_id` for the results to clear, oldest first; empty where clearing is not worth the break of the cache.

    `tokens` is the estimate of the whole request. `held` are results that must stay.
    """
    if situation.card.clears_results or not is_crowded(tokens, situation):
        return {}
    stale = [each for each in _find_stale(index.seen, situation) if each.use.id not in held]
    if situation.is_cold:
        # The cache has expired: there is nothing to break.
        return _render(stale) if _gain(stale) > 0 else {}
    return _render(_choose(stale, index.tokens, tokens, situation))


def _find_stale(seen: Sequence[VerboseResult], situation: Situation) -> Iterator[VerboseResult]:
    """The stale results: all except the latest, and except small ones among as many results before these."""
    old = len(seen) - count_in_use(seen, situation)
    recent = len(seen) - 2 * situation.limits.clear_keeps
    small = min(situation.limits.clear_small, SMALL_SHARE * usable_window(situation))
    return (each for at, each in enumerate(seen[:old]) if at < recent or each.tokens > small)


def _choose(
    stale: Sequence[VerboseResult], messages_tokens: int, tokens: int, situation: Situation
) -> Sequence[VerboseResult]:
    """The oldest results, until enough is freed; none where even all of them are not worth it."""
    limits = situation.limits
    excess = tokens - limits.clear_share * usable_window(situation)
    gain, worthwhile = 0, 0
    for count, each in enumerate(stale, start=1):
        gain += each.tokens - LINE_TOKENS
        # Everything after the first of them is written to the cache again.
        again = messages_tokens - stale[0].before - gain
        if gain < max(least_gain(situation), limits.clear_worth * again):
            continue
        worthwhile = count
        if gain >= excess:
            break
    return stale[:worthwhile]


def plan_forced_clearing(index: ViewIndex, situation: Situation, *, held: Collection[str]) -> dict[str, str]:
    """Lines for a forced clearing, after nothing else helped: also for results in use that are very large."""
    seen, room = index.seen, usable_window(situation)
    old = len(seen) - count_in_use(seen, situation)
    stale = [*seen[:old], *(each for each in seen[old:] if each.tokens > LARGE_SHARE * room)]
    stale = [each for each in stale if each.use.id not in held]
    return _render(stale) if _gain(stale) > 0 else {}


def is_crowded(tokens: int, situation: Situation) -> bool:
    return tokens > situation.limits.clear_share * usable_window(situation)


def least_gain(situation: Situation) -> float:
    return situation.limits.clear_gain * min(usable_window(situation), WIDE)


def count_in_use(shown: Sequence[VerboseResult], situation: Situation) -> int:
    """Number of the latest results to keep: `clear_keeps`, or fewer where they are too large, but at least half."""
    limits, left = situation.limits, situation.limits.clear_kept * usable_window(situation)
    latest = shown[max(len(shown) - limits.clear_keeps, 0) :]
    for count, each in enumerate(reversed(latest)):
        left -= each.tokens
        if left < 0 and count >= limits.clear_keeps / 2:
            return count
    return len(latest)


def plan_by_api(situation: Situation, unseen: int) -> Clearing | None:
    """What the API is asked to clear, where it can: then nothing that was sent changes.

    `unseen`: number of results that no request has carried. The API does not know of them, so at least that many
    stay.
    """
    if not situation.card.clears_results:
        return None
    limits, room = situation.limits, usable_window(situation)
    return Clearing(
        above=max(int(limits.clear_share * room), 1),
        keep=max(limits.clear_keeps, unseen),
        at_least=int(least_gain(situation)),
        excluded=tuple(name for name in situation.tools if name not in CLEARED_BY_API),
    )


def clear_results(messages: Sequence[Message], lines: Mapping[str, str]) -> tuple[Message, ...]:
    """The messages with these results replaced by their lines. Messages without any of them are the same objects."""
    return tuple(_clear(message, lines) if _concerns(message, lines) else message for message in messages)


def _gain(stale: Sequence[VerboseResult]) -> int:
    return sum(each.tokens - LINE_TOKENS for each in stale)


def _render(stale: Sequence[VerboseResult]) -> dict[str, str]:
    return {each.use.id: LINE.format(tokens=each.tokens) for each in stale}


def _concerns(message: Message, lines: Mapping[str, str]) -> bool:
    return any(isinstance(block.view, ToolResult) and block.view.tool_use_id in lines for block in message.blocks)


def _clear(message: Message, lines: Mapping[str, str]) -> Message:
    return msgspec.structs.replace(message, blocks=tuple(_clear_block(block, lines) for block in message.blocks))


def _clear_block(block: Block, lines: Mapping[str, str]) -> Block:
    if not isinstance(block.view, ToolResult) or (line := lines.get(block.view.tool_use_id)) is None:
        return block
    return result_block(block.view.tool_use_id, line, is_error=block.view.is_error)
