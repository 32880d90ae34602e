"""What the stages share: the view, and what is known of it."""

from collections.abc import Mapping, Sequence

import msgspec

from everturn.context import clear
from everturn.context.accounting import (
    estimate_request,
)
from everturn.context.collapse import CollapseStore, View
from everturn.context.fact_tracker import FactTracker
from everturn.context.retention import RecordingShelf
from everturn.context.view_index import ViewIndex
from everturn.core.messages import Block, Message
from everturn.core.notes import Notes
from everturn.core.tokens import Scale, estimate_bytes
from everturn.core.transcript import view_of
from everturn.core.view import View as Growing
from everturn.ports.context import Prepared, Situation
from everturn.ports.outputs import Shelf


class ContextState:
    """Of one session; each stage reads it and changes it."""

    def __init__(self, collapses: CollapseStore, shelf: Shelf | None) -> None:
        self.collapses = collapses
        self.aside = RecordingShelf(shelf) if shelf is not None else None
        """For what is put aside after it came in."""
        self.cleared: dict[str, str] = {}
        """Lines that stand for stale results, by the ids of their calls."""
        self.tracker = FactTracker()
        self.view_index = ViewIndex()
        self.settled = Growing()
        """The last view that was given out: what has grown from it is projected already."""
        self._settled_at = 0
        """Version of the collapses in it."""
        self._notes = Notes()
        self._changed: Mapping[str, str] = {}
        self._folder = ""

    def take_situation(self, situation: Situation) -> None:
        self._notes, self._changed, self._folder = situation.notes, situation.changed_files, situation.folder

    def see(self, messages: Sequence[Message]) -> Growing:
        """The view as it is sent, and all that there is to know of it."""
        self.tracker.take(messages[len(self.settled) :] if self._is_settled(messages) else messages)
        view = Growing.of(self.project(messages))
        self.view_index.follow(view)
        return view

    def project(self, messages: Sequence[Message]) -> Sequence[Message]:
        if isinstance(messages, Growing) and messages.grew_from(self.settled):
            return messages if self._settled_at == self.collapses.version else self.collapses.project(messages)
        view = slice_view(messages)
        if self.cleared:
            view = clear.clear_results(view, self.cleared)
        return self.collapses.project(view)

    def settle(self, prepared: Prepared) -> Prepared:
        """Keeps it as what is sent now."""
        view = Growing.of(prepared.messages)
        self.view_index.follow(view)
        self.settled, self._settled_at = view, self.collapses.version
        spilled = self.aside.take_news() if self.aside is not None else ()
        return msgspec.structs.replace(
            prepared, messages=view, change_points=self._list_change_points(view), spilled=spilled
        )

    def estimate(self, view: Growing, situation: Situation) -> int:
        return estimate_request(view, situation, self.scale(situation), messages_tokens=self.view_index.tokens)

    def scale(self, situation: Situation) -> Scale:
        return self.tracker.scales.get(situation.card.id, Scale())

    def recall_from(self, stretch: View) -> str:
        """What an earlier stage had put back in it is put back again: it is found where it came from."""
        from everturn.context.retention import recall_from

        return recall_from(
            self.collapses.originals(stretch),
            self.tracker.facts,
            self._notes,
            self.tracker.calls,
            self._changed,
            folder=self._folder,
        )

    def take_back(self, prepared: Prepared) -> None:
        """Cut short: nobody learns what was prepared, so the next preparation has to tell it."""
        self.collapses.take_back(prepared.collapses)
        self.take_back_lines(prepared)

    def take_back_lines(self, prepared: Prepared) -> None:
        if prepared.cleared is not None:
            self.cleared = {id_: line for id_, line in self.cleared.items() if id_ not in prepared.cleared.lines}

    def _is_settled(self, messages: Sequence[Message]) -> bool:
        return isinstance(messages, Growing) and messages.grew_from(self.settled)

    def _list_change_points(self, view: Growing) -> tuple[Block, ...]:
        """The oldest result that may be cleared, the oldest stretch whose summary would save something, and the work in progress."""
        held, index = self.tracker.facts.held_by, self.view_index
        cleared = next((index.places[each.message] for each in index.shown if each.use.id not in held), None)
        waiting = [
            index.places[note.first]
            for note in self.collapses.staged
            if index.weigh(note.first, note.last) > estimate_bytes(len(note.summary))
        ]
        found = {at for at in (cleared, min(waiting, default=None), index.work) if at is not None}
        return tuple(view[at].blocks[-1] for at in sorted(found) if view[at].blocks)


def slice_view(messages: Sequence[Message]) -> View:
    """The first stage: only what follows the last boundary."""
    return messages if isinstance(messages, Growing) and not messages.has_boundary else view_of(messages)
