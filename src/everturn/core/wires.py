"""The encoded messages of one request. The messages of earlier requests are not encoded again."""

from collections.abc import Mapping, Sequence

from everturn.core.transcript import Wire
from everturn.core.view import Joined

PIECE = 65_536
"""So many bytes are joined for good. What is loose is walked in each turn; what is joined is copied once more."""


class Lead:
    """What a list that only grows looks like in a request: large pieces, and the few that came last."""

    __slots__ = ("_ends", "_joined", "_loose", "_size", "_split", "wires")

    def __init__(self, wires: list[Wire]) -> None:
        self.wires = wires
        self._joined: list[bytes] = []
        self._ends: list[int] = []
        """Of each of these, the place behind its last wire."""
        self._loose: list[bytes] = []
        self._size = 0
        """So many wires are in these two."""
        self._split: tuple[int, bytes, bytes] | None = None
        """What stands before and behind a wire in the middle of its piece: a mark stays where it is for many turns."""

    def encode(self, size: int, marked: Mapping[int, bytes]) -> list[bytes]:
        """The first so many, those that are `marked` as they are given. Cheap where it is not fewer than the last time."""
        if size < self._size:
            return encode_each(self.wires, 0, size, marked)
        self._loose += [wire.encoded for wire in self.wires[self._size : size]]
        self._size = size
        settled = self._ends[-1] if self._ends else 0
        has_marks = any(index < settled for index in marked)
        pieces = self._encode_joined(marked) if has_marks else self._joined.copy()
        pieces += [marked.get(index, encoded) for index, encoded in enumerate(self._loose, settled)]
        if sum(map(len, self._loose)) > PIECE:
            self._ends.append(size)
            self._joined.append(b"".join(self._loose))
            self._loose.clear()
        return pieces

    def _encode_joined(self, marked: Mapping[int, bytes]) -> list[bytes]:
        """The large pieces, of which one at least has a mark in it."""
        pieces: list[bytes] = []
        begin = 0
        for end, joined in zip(self._ends, self._joined, strict=True):
            inside = [index for index in marked if begin <= index < end]
            pieces += self._take_apart(begin, end, inside, marked) if inside else (joined,)
            begin = end
        return pieces

    def _take_apart(self, begin: int, end: int, inside: list[int], marked: Mapping[int, bytes]) -> list[bytes]:
        """A piece with marks in it."""
        place, *others = inside
        if others:
            return encode_each(self.wires, begin, end, marked)
        if self._split is None or self._split[0] != place:
            before = b"".join(encode_each(self.wires, begin, place, {}))
            self._split = place, before, b"".join(encode_each(self.wires, place + 1, end, {}))
        _, before, behind = self._split
        # Nothing that is empty: what stands first in a request is known by its comma.
        return [part for part in (before, marked[place], behind) if part]


class Wires(Joined[Wire]):
    """The first wires of a list that is settled that far, and some more."""

    __slots__ = ("_lead",)

    def __init__(self, lead: Lead, size: int, tail: tuple[Wire, ...]) -> None:
        super().__init__(lead.wires, size, tail)
        self._lead = lead

    def encode(self, marked: Mapping[int, bytes]) -> list[bytes]:
        settled = self._lead.encode(self.size, marked)
        return settled + [marked.get(index) or wire.encoded for index, wire in enumerate(self.tail, self.size)]


def encode_wires(wires: Sequence[Wire], marked: Mapping[int, bytes]) -> list[bytes]:
    """All of them, each with the comma before it; those that are `marked`, by their place, as they are given."""
    return wires.encode(marked) if isinstance(wires, Wires) else encode_each(wires, 0, len(wires), marked)


def encode_each(wires: Sequence[Wire], begin: int, end: int, marked: Mapping[int, bytes]) -> list[bytes]:
    return [marked.get(index) or wire.encoded for index, wire in enumerate(wires[begin:end], begin)]
