"""Watches what the main loop sends: whether each request begins with all of the one before it, and what it cost if not."""

from collections.abc import Sequence

import msgspec

from everturn.core.budget import Prices, Usage
from everturn.core.cache_ledger import HARMLESS_STAGES, LIFETIMES_S, RESUMED, Break, Circumstances, Warmth, judge_break
from everturn.core.messages import Block
from everturn.core.prefix import IMAGES, Look, Prefixes, Segment
from everturn.core.transcript import Wire
from everturn.ports.model import Request

_MADE_ANEW = frozenset({Segment.SETTINGS, Segment.TOOLS, Segment.SYSTEM, Segment.CONTEXT})
"""What a new process makes from its own options; messages it has to repeat."""
_MOST_ANCHORS = 3
"""Places of the next changes that are remembered."""


class CacheWatch:
    """An attempt that brought no usage left nothing in the cache: the next one is held against what came before it."""

    def __init__(self) -> None:
        self._prefixes = Prefixes()
        self._expected = 0
        self._reported: list[str] = []
        self._resumed = False
        self._anchors: list[tuple[Block, int | None]] = []

    def restore(self, warmth: Warmth | None) -> None:
        if warmth is not None:
            self._prefixes.restore(warmth.sent)
            self._expected, self._reported, self._resumed = warmth.tokens, list(warmth.reported), True

    def report(self, stage: str) -> None:
        """Tells that a stage changes what is sent next."""
        if stage not in HARMLESS_STAGES:
            self._reported.append(stage)

    def anchor(self, request: Request, turning: tuple[Block, ...]) -> Request:
        """With a place before which nothing will change. There is one mark for all of them, so they take turns."""
        wires = request.messages
        block = turning[len(wires) // 2 % len(turning)]
        at = self._find(wires, block)
        others = (known for known in self._anchors if known[0] is not block)
        self._anchors = [(block, at), *others][:_MOST_ANCHORS]
        if at is None:
            return request
        # What stands for a stretch is told by the user: it joins the message before an answer, and changes that, too.
        return msgspec.structs.replace(request, anchor=at - (wires[at].role == "assistant"))

    def _find(self, wires: Sequence[Wire], block: Block) -> int | None:
        """Searched only when it is another, or somewhere else."""
        at = next((place for each, place in self._anchors if each is block), 0)
        if at is None or (at < len(wires) and _holds(wires[at], block)):
            return at
        return next((index for index in range(len(wires) - 1, -1, -1) if _holds(wires[index], block)), None)

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
        remade = (
            self._resumed
            and departure is not None
            and departure.segment in _MADE_ANEW
            # A message brings the first image, whichever process sends it.
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
