"""Normalising a conversation that grows: what was sent before is not made again, so that a turn costs what is new in it."""

from collections.abc import Sequence

from everturn.core.messages import Message
from everturn.core.transcript import Abilities, Wire, blamed_in, complete_wires, join_segments, segment_starts


class Normaliser:
    """Gives what `transcript.normalise` gives, and the very same wires for what the last call had settled.

    Settled are all segments but the last, which may still grow.
    """

    def __init__(self) -> None:
        self._abilities = Abilities()
        self._blamed: frozenset[str] = frozenset()
        self._settled: tuple[Message, ...] = ()
        """The messages of these segments, and the one after them that ended the last."""
        self._wires: list[Wire] = []

    def normalise(self, messages: Sequence[Message], abilities: Abilities) -> tuple[Wire, ...]:
        blamed, known = blamed_in(messages), len(self._settled)
        if abilities != self._abilities or blamed != self._blamed or tuple(messages[:known]) != self._settled:
            self._abilities, self._blamed, self._wires, known = abilities, blamed, [], 0
        begin = max(0, known - 1)
        tail = messages[begin:]
        *_, last = (0, *segment_starts(tail))
        join_segments(self._wires, tail[:last], abilities, blamed)
        self._settled = tuple(messages[: begin + last + 1])
        wires = self._wires.copy()
        join_segments(wires, tail[last:], abilities, blamed)
        return complete_wires(wires, abilities)
