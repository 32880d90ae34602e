"""The messages of one request, whose beginning was encoded for those before it: a long conversation is not walked again."""

from collections.abc import Sequence

from everturn.core.transcript import Wire
from everturn.core.view import Joined

PIECE = 65_536
"""So many bytes are joined for good. What is loose is walked in each turn; what is joined is copied once more."""


class Lead:
    """What a list that only grows looks like in a request: large pieces, and the few that came last."""

    __slots__ = ("_joined", "_loose", "_size", "wires")

    def __init__(self, wires: list[Wire]) -> None:
        self.wires = wires
        self._joined: list[bytes] = []
        self._loose: list[bytes] = []
        self._size = 0
        """So many wires are in these two."""

    def encode(self, size: int) -> list[bytes]:
        """The first so many. Cheap where it is not fewer than the last time."""
        if size < self._size:
            return [wire.encoded for wire in self.wires[:size]]
        self._loose += [wire.encoded for wire in self.wires[self._size : size]]
        self._size = size
        pieces = [*self._joined, *self._loose]
        if sum(map(len, self._loose)) > PIECE:
            self._joined.append(b"".join(self._loose))
            self._loose.clear()
        return pieces


class Wires(Joined[Wire]):
    """The first wires of a list that is settled that far, and some more."""

    __slots__ = ("_lead",)

    def __init__(self, lead: Lead, size: int, tail: tuple[Wire, ...]) -> None:
        super().__init__(lead.wires, size, tail)
        self._lead = lead

    def encode_first(self, size: int) -> list[bytes]:
        settled = self._lead.encode(min(size, self.size))
        return [*settled, *(wire.encoded for wire in self.tail[: max(0, size - self.size)])]


def encode_first(wires: Sequence[Wire], size: int) -> list[bytes]:
    """The first so many, each with the comma before it."""
    return wires.encode_first(size) if isinstance(wires, Wires) else [wire.encoded for wire in wires[:size]]
