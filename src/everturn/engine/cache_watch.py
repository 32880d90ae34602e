"""Watches what the main loop sends: whether each request begins with all of the one before it, and what it cost if not."""

import msgspec

from everturn.core.budget import Prices, Usage
from everturn.core.cache_ledger import HARMLESS_STAGES, LIFETIMES_S, RESUMED, Break, Circumstances, Warmth, judge_break
from everturn.core.messages import ToolResult
from everturn.core.prefix import Look, Prefixes, Segment
from everturn.core.transcript import Wire
from everturn.ports.model import Request

_MADE_ANEW = frozenset({Segment.SETTINGS, Segment.TOOLS, Segment.SYSTEM, Segment.CONTEXT})
"""What a new process makes from its own options; messages it has to repeat."""


class CacheWatch:
    """An attempt that brought no usage left nothing in the cache: the next one is held against what came before it."""

    def __init__(self) -> None:
        self._prefixes = Prefixes()
        self._expected = 0
        self._reported: list[str] = []
        self._resumed = False
        self._anchor: int | None = None

    def restore(self, warmth: Warmth | None) -> None:
        if warmth is not None:
            self._prefixes.restore(warmth.sent)
            self._expected, self._reported, self._resumed = warmth.tokens, list(warmth.reported), True

    def report(self, stage: str) -> None:
        """Tells that a stage changes what is sent next."""
        if stage not in HARMLESS_STAGES:
            self._reported.append(stage)

    def anchor(self, request: Request, next_cleared: str) -> Request:
        """With the place before which nothing will change: the message with this result, searched only when it is another."""
        wires, at = request.messages, self._anchor
        if at is None or at >= len(wires) or not _answers(wires[at], next_cleared):
            backwards = range(len(wires) - 1, -1, -1)
            at = self._anchor = next((index for index in backwards if _answers(wires[index], next_cleared)), None)
        return request if at is None else msgspec.structs.replace(request, anchor=at)

    def is_cold(self, ttl: str, now: float) -> bool:
        """Nothing of what was sent last is kept any more."""
        last = self._prefixes.last
        return last is not None and now - last.at >= LIFETIMES_S[ttl]

    def look(self, request: Request, now: float) -> Look:
        """Right before it is sent."""
        settings = (
            request.model,
            request.fast,
            request.thinking,
            request.effort,
            request.output_schema,
            request.task_budget,
        )
        return self._prefixes.look(request, settings, now)

    def judge(self, look: Look, ttl: str, usage: Usage, prices: Prices) -> Break | None:
        """When its usage is known; from now on it is the one that the next request has to begin with."""
        found = None
        if look.departure is not None or usage.cache_read < self._expected:
            found = self._explain(look, ttl, usage, prices)
        self._prefixes.keep(look)
        self._expected, self._resumed = usage.cache_read + usage.cache_write, False
        self._reported.clear()
        return found

    def _explain(self, look: Look, ttl: str, usage: Usage, prices: Prices) -> Break | None:
        departure = look.departure
        remade = self._resumed and departure is not None and departure.segment in _MADE_ANEW
        return judge_break(
            Circumstances(
                departure=departure,
                expected=self._expected,
                is_expired=self.is_cold(ttl, look.sent.at),
                reported=(*self._reported, RESUMED) if remade else tuple(self._reported),
            ),
            usage,
            prices,
        )


def _answers(wire: Wire, use: str) -> bool:
    return any(isinstance(block.view, ToolResult) and block.view.tool_use_id == use for block in wire.blocks)
