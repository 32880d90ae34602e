"""Money in whole numbers, so that sums agree: pico-dollars inside, rounded figures that still add up outside."""

from collections.abc import Iterable, Sequence

PICO = 10**12
"""Pico-dollars in a dollar. A price per million tokens with six decimals is a whole number of them per token: sums are exact."""


def to_pico(usd: float) -> int:
    """What is no amount (not finite) counts as nothing."""
    return round(usd * PICO) if -PICO < usd < PICO else 0


def add_usd(amounts: Iterable[float]) -> float:
    """Added as whole numbers: 0.1 and 0.2 are 0.3, and not 0.30000000000000004."""
    return sum(map(to_pico, amounts)) / PICO


def share_out(total: int, weights: Sequence[int]) -> list[int]:
    """Whole shares in proportion to the weights; they add up to the total unless all weights are 0."""
    whole = sum(weights)
    if whole <= 0:
        return [0] * len(weights)
    shares = [total * weight // whole for weight in weights]
    by_rest = sorted(range(len(weights)), key=lambda at: total * weights[at] % whole, reverse=True)
    for at in by_rest[: total - sum(shares)]:
        shares[at] += 1
    return shares


def round_table(rows: Sequence[Sequence[int]], unit: int) -> list[list[int]]:
    """The table in whole units: rows and columns add up, to the rounded sum of all, and no cell is off by a unit or more.

    Each column is rounded as it grows, cell after cell, so that what one cell gains the next one loses. Amounts are not
    negative.
    """
    sums = [sum(column) for column in zip(*rows, strict=True)]
    rests = [total % unit for total in sums]
    missing = (sum(sums) + unit // 2) // unit - sum(total // unit for total in sums)
    raised = set(sorted(range(len(sums)), key=lambda at: rests[at], reverse=True)[:missing])
    grown = [
        max(unit // 2, unit - rest) if at in raised else min(unit // 2, unit - rest - 1)
        for at, rest in enumerate(rests)
    ]
    rounded = []
    for row in rows:
        before = [total // unit for total in grown]
        grown = [total + cell for total, cell in zip(grown, row, strict=True)]
        rounded.append([total // unit - earlier for total, earlier in zip(grown, before, strict=True)])
    return rounded
