"""Normalises a growing conversation: only new messages are normalised, so the cost of a turn does not grow with the conversation."""

from collections.abc import Mapping, Sequence
from operator import is_

from everturn.core.messages import Block, Message
from everturn.core.transcript import (
    Abilities,
    Wire,
    complete_wires,
    count_media,
    join_segments,
    segment_starts,
)
from everturn.core.view import View
from everturn.core.wires import Lead, Wires


class Normaliser:
    """Gives what `transcript.normalise` gives, and the very same wires for what the last call had settled.

    Settled are all segments but the last, which may still grow. What `opening` holds stands before everything.
    """

    def __init__(self, opening: tuple[Block, ...] = ()) -> None:
        self._opening = [Wire("user", opening)] if opening else []
        self._abilities = Abilities()
        self._refused: Mapping[str, str] = {}
        self._seen = View()
        self._known = 0
        """So many of these are settled: whole segments, and the message after them that ended the last."""
        self._wires = self._opening.copy()
        self._lead = Lead(self._wires)
        self._open: tuple[Message, ...] = ()
        """The segment that came last in the last call."""
        self._open_wires: list[Wire] = []
        """What the last settled wire became with it, and what followed that."""
        self._media = 0
        """Pieces in all of these but the last, which the next segment may join."""
        self.dropped = 0
        """Pieces of media that the last request left out because the model takes no more."""

    def normalise(self, messages: Sequence[Message], abilities: Abilities) -> Sequence[Wire]:
        view = View.of(messages)
        if abilities != self._abilities or view.refused != self._refused or not self._is_known(view):
            # A refusal may concern what was settled long ago: all is made again.
            self._abilities, self._refused, self._wires = abilities, view.refused, self._opening.copy()
            self._lead, self._media, self._known, self._open = Lead(self._wires), 0, 0, ()
        begin = max(0, self._known - 1)
        tail = view[begin:]
        *_, last = (0, *segment_starts(tail))
        counted = max(0, len(self._wires) - 1)
        settled = tail[:last]
        if settled and len(settled) == len(self._open) and all(map(is_, settled, self._open)):
            # Nothing came to the segment that was the last one: its wires are as they were.
            self._wires[counted:] = self._open_wires
        else:
            join_segments(self._wires, settled, abilities, view.refused)
        self._media += count_media(self._wires[counted:-1])
        self._seen, self._known = view, min(begin + last + 1, len(view))
        fixed = max(0, len(self._wires) - 1)
        wires = self._wires[fixed:]
        join_segments(wires, tail[last:], abilities, view.refused)
        self._open, self._open_wires = tail[last:], wires
        self.dropped = max(0, self._media + count_media(wires) - abilities.max_media)
        return complete_wires(Wires(self._lead, fixed, tuple(wires)), excess=self.dropped)

    def _is_known(self, view: View) -> bool:
        return view.grew_from(self._seen) or view[: self._known] == self._seen[: self._known]
