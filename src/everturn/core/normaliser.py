"""Normalising a conversation that grows: what was sent before is not made again, so that a turn costs what is new in it."""

from everturn.core.messages import Message
from everturn.core.transcript import (
    Abilities,
    Wire,
    blamed_in,
    complete_wires,
    count_media,
    join_segments,
    segment_starts,
)


class Normaliser:
    """Gives what `transcript.normalise` gives, and the very same wires for what the last call had settled.

    Settled are all segments but the last, which may still grow.
    """

    def __init__(self) -> None:
        self._abilities = Abilities()
        self._blamed: frozenset[str] = frozenset()
        self._settled: tuple[Message, ...] = ()
        """The messages of these segments, and the one after them that ended the last."""
        self._settled_blames: frozenset[str] = frozenset()
        self._wires: list[Wire] = []
        self._media = 0
        """Pieces in all of these but the last, which the next segment may join."""
        self.dropped = 0
        """Pieces of media that the last request left out because the model takes no more."""

    def normalise(self, messages: tuple[Message, ...], abilities: Abilities) -> tuple[Wire, ...]:
        known = len(self._settled)
        if abilities != self._abilities or messages[:known] != self._settled:
            self._abilities, self._settled_blames, self._wires, known = abilities, frozenset(), [], 0
        fresh, blamed = messages[known:], self._settled_blames | blamed_in(messages[known:])
        if blamed != self._blamed or not known:
            # A blame may concern what was settled long ago: all is made again.
            self._blamed, self._wires, self._media, known = blamed, [], 0, 0
        begin = max(0, known - 1)
        tail = messages[begin:]
        *_, last = (0, *segment_starts(tail))
        counted = max(0, len(self._wires) - 1)
        join_segments(self._wires, tail[:last], abilities, blamed)
        self._media += count_media(self._wires[counted:-1])
        self._settled = messages[: begin + last + 1]
        self._settled_blames |= blamed_in(fresh[: len(fresh) - len(messages) + len(self._settled)])
        wires = self._wires.copy()
        join_segments(wires, tail[last:], abilities, blamed)
        uncounted = wires[max(0, len(self._wires) - 1) :]
        self.dropped = max(0, self._media + count_media(uncounted) - abilities.max_media)
        return complete_wires(wires, excess=self.dropped)
