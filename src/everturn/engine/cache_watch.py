"""Compares each request of the main loop with the one before it: where the common beginning ends, why, and what that cost."""

from collections.abc import Sequence

import msgspec

from everturn.core.budget import Prices, Usage
from everturn.core.cache_ledger import (
    HARMLESS_STAGES,
    LIFETIMES_S,
    RESUMED,
    Break,
    CacheContents,
    Circumstances,
    judge_break,
)
from everturn.core.messages import Block
from everturn.core.prefix import IMAGES, Look, Prefixes, Segment
from everturn.core.transcript import Wire
from everturn.ports.model import Request

_MADE_ANEW = frozenset({Segment.SETTINGS, Segment.TOOLS, Segment.SYSTEM, Segment.CONTEXT})
"""Segments that a new process makes anew from its own options. Messages, by contrast, it must repeat as they were."""
_MAX_ANCHORS = 3
"""Number of places that are remembered for cache marks."""


class CacheWatch:
    """An attempt for which the API reported no usage left nothing in the cache: the next request is compared with the one before that attempt."""

    def __init__(self) -> None:
        self._prefixes = Prefixes()
        self._expected = 0
        self._reported: list[str] = []
        self._resumed = False
        self._anchors: list[tuple[Block, int | None]] = []

    def restore(self, cache_contents: CacheContents | None) -> None:
        if cache_contents is not None:
            self._prefixes.restore(cache_contents.sent)
            self._expected, self._reported, self._resumed = cache_contents.tokens, list(cache_contents.reported), True

    def report(self, stage: str) -> None:
        """Notes that a stage changes what is sent next."""
        if stage not in HARMLESS_STAGES:
            self._reported.append(stage)

    def anchor(self, request: Request, change_points: tuple[Block, ...]) -> Request:
        """The request with a cache mark before the next place that may change. There is one mark, so several such places take turns."""
        wires = request.messages
        block = change_points[len(wires) // 2 % len(change_points)]
        at = self._find(wires, block)
        others = (known for known in self._anchors if known[0] is not block)
        self._anchors = [(block, at), *others][:_MAX_ANCHORS]
        if at is None:
            return request
        # The summary of a collapsed stretch is user text: it is joined with the message before an answer, and so changes that message, too.
        return msgspec.structs.replace(request, anchor=at - (wires[at].role == "assistant"))

    def _find(self, wires: Sequence[Wire], block: Block) -> int | None:
        """Index of the wire with this block; searched for only when the block or its place has changed."""
        at = next((place for each, place in self._anchors if each is block), 0)
        if at is None or (at < len(wires) and _holds(wires[at], block)):
            return at
        return next((index for index in range(len(wires) - 1, -1, -1) if _holds(wires[index], block)), None)

    def is_cold(self, ttl: str, now: float) -> bool:
        """Whether the cache has expired since the last request."""
        last = self._prefixes.last
        return last is not None and now - last.at >= LIFETIMES_S[ttl]

    def look(self, request: Request, now: float) -> Look:
        """Compares a request with the last one, right before it is sent."""
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
        """Judges the request when its usage is known. The next request is compared with this one."""
        found = None
        if look.departure is not None or usage.cache_read < self._expected:
            found = self._explain(look, ttl, usage, prices)
        self._prefixes.keep(look)
        self._expected, self._resumed = usage.cache_read + usage.cache_write, False
        self._reported.clear()
        return found

    def _explain(self, look: Look, ttl: str, usage: Usage, prices: Prices) -> Break | None:
        departure = look.departure
        remade = (
            self._resumed
            and departure is not None
            and departure.segment in _MADE_ANEW
            # The first image always comes with a message, in a resumed session as well.
            and departure.named != (IMAGES,)
        )
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


def _holds(wire: Wire, block: Block) -> bool:
    return any(each is block for each in wire.blocks)
