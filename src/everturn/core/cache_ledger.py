"""What the prompt cache gave and what it lost: each break with its segment, its cause, its tokens and its price."""

from collections.abc import Iterable

import msgspec

from everturn.core.budget import MILLION, Prices, Usage
from everturn.core.money import add_usd
from everturn.core.prefix import Departure, Segment, Sent
from everturn.core.records import CacheBroken, ContextAltered, QueryBegan, Record, Rewound, UsageCharged

LIFETIMES_S = {"5m": 300.0, "1h": 3_600.0}
EXPIRED = "expired"
RESUMED, REWOUND = "resume", "rewind"
UNEXPLAINED = "unexplained"
"""Nobody reported it: a fault of ours, or of the API's."""
HARMLESS_STAGES = frozenset({"tool_results"})
"""Stages that change a message only before it is sent for the first time."""
_SPOKEN = {"signatures": "model"}
"""A stage whose name says less than what made it act."""


class CacheContents(msgspec.Struct, frozen=True, kw_only=True):
    """What the cache holds of a session, as far as its journal tells."""

    sent: Sent
    """The last request that was charged."""
    tokens: int
    """What it read from the cache or wrote to it."""
    reported: tuple[str, ...] = ()
    """Stages that have changed what will be sent since then."""


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """What was known when the request was sent."""

    departure: Departure | None
    expected: int
    """Tokens that the request before it had read from the cache or written to it."""
    is_expired: bool
    reported: tuple[str, ...] = ()
    """Stages that said since then that they change what is sent."""


class Break(msgspec.Struct, frozen=True, kw_only=True):
    segment: Segment
    cause: str
    kept: int
    """Messages that went on as they were."""
    tokens: int
    usd: float


def judge_break(before: Circumstances, usage: Usage, prices: Prices) -> Break | None:
    """Why the cache had less of this request than expected. None where it had all of the request before."""
    lost = count_lost(before.expected, usage)
    departure = before.departure
    if departure is None and not lost:
        return None
    named = departure.named if departure is not None else ()
    causes = tuple(dict.fromkeys(_SPOKEN.get(stage, stage) for stage in (*before.reported, *named)))
    known = ", ".join(causes)
    if before.is_expired and (known or departure is None):
        # Whatever a stage changed, nothing of it was there any more.
        known = EXPIRED
    return Break(
        segment=departure.segment if departure is not None else Segment.NOTHING,
        cause=known or UNEXPLAINED,
        kept=departure.kept if departure is not None else 0,
        tokens=lost,
        usd=price_loss(lost, usage, prices),
    )


def count_lost(expected: int, usage: Usage) -> int:
    """Tokens that were paid for again. What is no longer sent is not lost, nor what an API without a cache never kept."""
    if not usage.cache_read and not usage.cache_write:
        return 0
    sent = usage.input + usage.cache_read + usage.cache_write
    return max(0, min(expected, sent) - usage.cache_read)


def price_loss(lost: int, usage: Usage, prices: Prices) -> float:
    """USD beyond what reading them would have cost: most of it was written to the cache once more."""
    written = min(lost, usage.cache_write)
    write = prices.cache_write_1h if usage.cache_write_1h else prices.cache_write
    dearer = written * (write - prices.cache_read) + (lost - written) * (prices.input - prices.cache_read)
    return add_usd((max(0.0, dearer) / MILLION,))


class ChargedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call that was charged."""

    query: int
    turn: int
    purpose: str
    model: str
    usage: Usage
    request_id: str = ""
    breaks: tuple[CacheBroken, ...] = ()

    @property
    def share(self) -> float:
        """Share of what was sent that came from the cache."""
        return share_of(self.usage)


class CacheStory(msgspec.Struct, frozen=True, kw_only=True):
    calls: tuple[ChargedCall, ...] = ()

    @property
    def usage(self) -> Usage:
        return sum((call.usage for call in self.calls), Usage())

    @property
    def breaks(self) -> tuple[CacheBroken, ...]:
        return tuple(broken for call in self.calls for broken in call.breaks)

    @property
    def by_cause(self) -> dict[str, tuple[CacheBroken, ...]]:
        """The dearest first."""
        causes: dict[str, list[CacheBroken]] = {}
        for broken in self.breaks:
            causes.setdefault(broken.cause, []).append(broken)
        dearest = sorted(causes.items(), key=lambda item: -sum(broken.usd for broken in item[1]))
        return {cause: tuple(found) for cause, found in dearest}


def fold_cache_contents(cache_contents: CacheContents | None, record: Record) -> CacheContents | None:
    match record:
        case UsageCharged(sent=Sent() as sent, usage=usage):
            return CacheContents(sent=sent, tokens=usage.cache_read + usage.cache_write)
        case ContextAltered(stage=stage) if cache_contents is not None and stage not in HARMLESS_STAGES:
            return msgspec.structs.replace(cache_contents, reported=(*cache_contents.reported, stage))
        case Rewound() if cache_contents is not None:
            return msgspec.structs.replace(cache_contents, reported=(*cache_contents.reported, REWOUND))
        case _:
            return cache_contents


def share_of(usage: Usage) -> float:
    sent = usage.input + usage.cache_read + usage.cache_write
    return usage.cache_read / sent if sent else 0.0


def fold_story(records: Iterable[Record]) -> CacheStory:
    """A call counts once, however often its record stands in the journal."""
    calls: dict[str, ChargedCall] = {}
    breaks: dict[str, list[CacheBroken]] = {}
    query = 0
    for number, record in enumerate(records):
        match record:
            case QueryBegan():
                query += 1
            case UsageCharged(request_id=id_):
                calls.setdefault(
                    id_ or str(number),
                    ChargedCall(
                        query=query,
                        turn=record.turn,
                        purpose=record.purpose,
                        model=record.model,
                        usage=record.usage,
                        request_id=id_,
                    ),
                )
            case CacheBroken(request_id=id_):
                if record not in breaks.setdefault(id_, []):
                    breaks[id_].append(record)
    return CacheStory(
        calls=tuple(msgspec.structs.replace(call, breaks=tuple(breaks.get(id_, ()))) for id_, call in calls.items())
    )
