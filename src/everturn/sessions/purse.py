"""One unit (USD, tokens, turns, calls) of one account in the budget tree: what was spent here and below, and what is reserved for accounts below."""

from typing import Self


class Purse:
    """Whole numbers only, so that sums agree however many charges there were.

    What is spent is spent by all above, too. A purse that was reserved holds its limit against its parent until it is
    spent or closed; any other passes on what those below hold. Closed, it goes on counting, so that no late charge is lost.
    """

    __slots__ = ("held", "limit", "parent", "reserved", "spent", "wanted")

    def __init__(self, parent: Self | None = None, *, limit: int | None = None, spent: int = 0) -> None:
        self.parent = parent
        self.limit = self.wanted = limit
        """None = no limit of its own."""
        self.spent = spent
        self.held = 0
        """What the open reservations below may still spend."""
        self.reserved = False

    def spend(self, amount: int) -> None:
        """A negative amount takes back."""
        self.change(amount, 0)

    def reserve(self, wanted: int) -> "Purse":
        """A purse below with `wanted`, or with what is left where that is less: perhaps nothing."""
        room = self.room
        child = Purse(self, limit=wanted if room is None else min(wanted, max(room, 0)))
        child.wanted, child.reserved = wanted, True
        self.change(0, child.outstanding)
        return child

    def close(self) -> None:
        """Gives back what was not spent. May be called again."""
        if not self.reserved or self.parent is None:
            return
        before = self.outstanding
        self.reserved, self.limit = False, None
        self.parent.change(0, self.outstanding - before)

    @property
    def room(self) -> int | None:
        """What can still be promised here; None = as much as anybody wants."""
        least: int | None = None
        purse: Purse | None = self
        while purse is not None:
            if purse.limit is not None:
                left = purse.limit - purse.spent - purse.held
                least = left if least is None else min(least, left)
                if purse.reserved:
                    # What it has was promised to it by all above.
                    break
            purse = purse.parent
        return least

    @property
    def outstanding(self) -> int:
        """What it holds of its parent."""
        if self.reserved and self.limit is not None:
            return max(self.limit - self.spent, 0)
        return self.held

    def change(self, spent: int, held: int) -> None:
        """By what the purses below did; all above follow."""
        purse: Purse | None = self
        while purse is not None:
            if purse.reserved:
                before = purse.outstanding
                purse.spent += spent
                purse.held += held
                held = purse.outstanding - before
            else:
                purse.spent += spent
                purse.held += held
            purse = purse.parent
