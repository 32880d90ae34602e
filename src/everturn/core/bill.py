"""What was paid for what: the charges of a session, each split by kind of token, and what the cache saved."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

import msgspec

from everturn.core.budget import MILLION, Prices, Usage
from everturn.core.money import PICO, share_out, to_pico
from everturn.core.records import QueryBegan, QueryEnded, Record, UsageCharged

PER_TOKEN = PICO // MILLION
"""From USD per million tokens to pico-dollars per token."""
ROUNDING = 1_000
"""Pico-dollars by which two ways to compute the same price may differ."""

Key = TypeVar("Key", bound=Hashable)
PriceLists = Callable[[str], tuple[Prices, ...]]
"""The prices that a model may have been charged at, the usual ones first; none for a model that nobody knows."""


class Paid(msgspec.Struct, frozen=True, kw_only=True):
    """Amounts in pico-dollars."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0
    unsplit: int = 0
    """Amount of the charges of which only the sum is known."""
    saved: int = 0
    """Amount that reading from the cache saved, compared with the price of plain input."""
    premium: int = 0
    """For writing to the cache, beyond the price of plain input."""
    exact: bool = True
    """The prices are those that were charged; otherwise the split is in proportion to today's."""

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_write + self.cache_read + self.unsplit

    @property
    def net_saved(self) -> int:
        """What the cache was worth; less than nothing where it was written and not read."""
        return self.saved - self.premium

    def __add__(self, other: "Paid") -> "Paid":
        return Paid(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_write=self.cache_write + other.cache_write,
            cache_read=self.cache_read + other.cache_read,
            unsplit=self.unsplit + other.unsplit,
            saved=self.saved + other.saved,
            premium=self.premium + other.premium,
            exact=self.exact and other.exact,
        )


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Calls that belong together."""

    query: int = 0
    """From 1; 0 = before the first."""
    turn: int = 0
    """0 = not known."""
    after: bool = False
    """Charged when the query had ended: a compaction by hand, a hook that ran late."""
    purpose: str = ""
    model: str = ""
    calls: int = 1
    usage: Usage = Usage()
    paid: Paid = Paid()

    def __add__(self, other: "Entry") -> "Entry":
        """Calls, tokens and money of both; the rest is this one's."""
        return msgspec.structs.replace(
            self, calls=self.calls + other.calls, usage=self.usage + other.usage, paid=self.paid + other.paid
        )


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    entries: tuple[Entry, ...] = ()
    """One for each turn, purpose and model, in the order of their first call."""

    @property
    def total(self) -> Entry:
        return sum_entries(self.entries, lambda _: "").get("", Entry(calls=0))

    @property
    def by_model(self) -> dict[str, Entry]:
        return sum_entries(self.entries, lambda entry: entry.model)

    @property
    def by_purpose(self) -> dict[str, Entry]:
        return sum_entries(self.entries, lambda entry: entry.purpose)

    @property
    def by_turn(self) -> list[Entry]:
        return list(sum_entries(self.entries, lambda entry: (entry.query, entry.turn, entry.after)).values())


def fold_bill(records: Iterable[Record], prices: PriceLists) -> Bill:
    """A charge counts once, however often its record stands in the journal."""
    entries: list[Entry] = []
    billed: set[str] = set()
    query, after = 0, False
    for record in records:
        match record:
            case QueryBegan():
                query, after = query + 1, False
            case QueryEnded():
                after = True
            case UsageCharged(request_id=id_) if not id_ or id_ not in billed:
                billed.add(id_)
                entries.append(
                    Entry(
                        query=query,
                        turn=record.turn,
                        after=after,
                        purpose=record.purpose,
                        model=record.model,
                        usage=record.usage,
                        paid=split_charge(record.usage, record.usd, prices(record.model)),
                    )
                )
    merged = sum_entries(entries, lambda entry: (entry.query, entry.turn, entry.after, entry.purpose, entry.model))
    return Bill(entries=tuple(merged.values()))


def sum_entries(entries: Iterable[Entry], key: Callable[[Entry], Key]) -> dict[Key, Entry]:
    sums: dict[Key, Entry] = {}
    for entry in entries:
        before = sums.get(key(entry))
        sums[key(entry)] = entry if before is None else before + entry
    return sums


def split_charge(usage: Usage, usd: float, price_lists: tuple[Prices, ...]) -> Paid:
    """The sum is always what was charged; the lists only say how it is split."""
    total = to_pico(usd)
    for prices in price_lists:
        if abs(sum(_price_parts(usage, prices)) - total) <= ROUNDING:
            return _split(usage, total, prices, exact=True)
    if not price_lists or not any(_price_parts(usage, price_lists[0])):
        return Paid(unsplit=total, exact=not total)
    return _split(usage, total, price_lists[0], exact=False)


def _split(usage: Usage, total: int, prices: Prices, *, exact: bool) -> Paid:
    parts = _price_parts(usage, prices)
    listed = sum(parts)
    saved = round(usage.cache_read * (prices.input - prices.cache_read) * PER_TOKEN)
    premium = parts[2] - round(usage.cache_write * prices.input * PER_TOKEN)
    input_, output, cache_write, cache_read = share_out(total, parts)
    return Paid(
        input=input_,
        output=output,
        cache_write=cache_write,
        cache_read=cache_read,
        saved=saved if exact else saved * total // listed,
        premium=premium if exact else premium * total // listed,
        exact=exact,
    )


def _price_parts(usage: Usage, prices: Prices) -> tuple[int, int, int, int]:
    brief = usage.cache_write - usage.cache_write_1h
    return (
        round(usage.input * prices.input * PER_TOKEN),
        round(usage.output * prices.output * PER_TOKEN),
        round((brief * prices.cache_write + usage.cache_write_1h * prices.cache_write_1h) * PER_TOKEN),
        round(usage.cache_read * prices.cache_read * PER_TOKEN),
    )
