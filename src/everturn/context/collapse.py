"""Stage five: summaries that replace stretches of the conversation in what is sent; the transcript stays whole."""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

import msgspec

from everturn.context.accounting import estimate_messages
from everturn.context.rounds import last_prompt, round_starts
from everturn.core.errors import OptionError
from everturn.core.messages import Kind, Message, RedactedThinking, Thinking, text_block
from everturn.core.records import CollapseNoted
from everturn.core.transcript import unanswered
from everturn.ports.clock import Ids

STAGE = "collapse"
View = Sequence[Message]
Recall = Callable[[View], str]
"""Returns what of a stretch must stay word for word."""


class CollapseState(StrEnum):
    STAGED = "staged"
    """Written, but what it stands for is still sent."""
    COMMITTED = "committed"
    UNDONE = "undone"


class CollapseStore:
    """Staged and committed summaries. They come from the library's user or from the background.

    Staging does not check the range: whether it is whole, present and finished is judged when it would be
    committed.
    """

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._collapses: dict[str, CollapseNoted] = {}
        self._replaced: dict[str, View] = {}
        """The messages that each committed summary replaces, by its id."""
        self._news: dict[str, CollapseNoted] = {}
        self.version = 0
        """Raised when the set of committed summaries changes."""

    def stage(self, first_id: str, last_id: str, summary: str) -> str:
        """Stages a summary of the messages from one id to another, both included. Returns its id."""
        if not summary.strip():
            raise OptionError("summary", "must not be empty: it replaces messages that are no longer sent")
        id_ = self._ids.new()
        self._note(CollapseNoted(id=id_, first=first_id, last=last_id, summary=summary, state=CollapseState.STAGED))
        return id_

    def undo(self, id_: str) -> bool:
        """Takes the summary back: its messages are sent again from the next request on. False where there is nothing to undo."""
        collapse = self._collapses.get(id_)
        if collapse is None or collapse.state == CollapseState.UNDONE:
            return False
        self._note(msgspec.structs.replace(collapse, state=CollapseState.UNDONE))
        return True

    @property
    def all(self) -> tuple[CollapseNoted, ...]:
        return tuple(self._collapses.values())

    @property
    def staged(self) -> tuple[CollapseNoted, ...]:
        """The staged summaries, oldest first."""
        return self._in_state(CollapseState.STAGED)

    @property
    def committed(self) -> tuple[CollapseNoted, ...]:
        return self._in_state(CollapseState.COMMITTED)

    def restore(self, collapses: Iterable[CollapseNoted]) -> None:
        self._collapses = {collapse.id: collapse for collapse in collapses}
        self._replaced, self._news = {}, {}
        self.version += 1

    def take_news(self) -> tuple[CollapseNoted, ...]:
        """Returns what was staged or undone since the last call, for the journal."""
        news, self._news = tuple(self._news.values()), {}
        return news

    def take_back(self, notes: Iterable[CollapseNoted]) -> None:
        """Undoes changes that the journal never got: what was committed is staged again, and all of it is news again."""
        for note in notes:
            if note.state == CollapseState.COMMITTED:
                self._replaced.pop(note.id, None)
                self.version += 1
                if note.stage != STAGE:
                    # A snip is decided and committed at once, so it is decided anew.
                    del self._collapses[note.id]
                    continue
                self._note(msgspec.structs.replace(note, state=CollapseState.STAGED))
            else:
                self._note(note)

    def is_back(self, note: CollapseNoted) -> bool:
        """Whether the summary was committed and then undone."""
        return note.state == CollapseState.UNDONE and note.id in self._replaced

    def project(self, view: View) -> View:
        """The view with each committed stretch replaced and each undone one put back."""
        if not self._collapses:
            return view
        view = self._expand(view)
        ids = {message.id for message in view}
        for collapse in self.committed:
            if (
                collapse.first in ids
                and collapse.last in ids
                and (smaller := self._replace(view, collapse)) is not None
            ):
                view = smaller
                ids.add(collapse.id)
        return view

    def commit_oldest(
        self, view: View, recall: Recall = lambda _: "", *, most: int, in_use: str = ""
    ) -> tuple[View, CollapseNoted] | None:
        """Commits the oldest staged collapse that makes this view smaller; None when there is none.

        What must stay in sight of its stretch is added to its summary. It has to end among the first `most` messages,
        and before the message `in_use`.
        """
        for collapse in self.staged:
            span = find_span(view, collapse.first, collapse.last)
            if span is None or span[1] > most or (in_use and any(message.id == in_use for message in view[: span[1]])):
                continue
            kept = recall(view[slice(*span)])
            summary = f"{collapse.summary}\n\n{kept}" if kept else collapse.summary
            committed = msgspec.structs.replace(collapse, summary=summary, state=CollapseState.COMMITTED)
            if (smaller := self._replace(view, committed)) is not None:
                self._collapses[collapse.id] = committed
                self._news.pop(collapse.id, None)
                self.version += 1
                return smaller, committed
        return None

    def leave_out(
        self, view: View, span: tuple[int, int], text: str, *, stage: str
    ) -> tuple[View, CollapseNoted] | None:
        """Commits at once what no model summarised; None where the text would not be smaller."""
        first, end = span
        note = CollapseNoted(
            id=self._ids.new(),
            first=view[first].id,
            last=view[end - 1].id,
            summary=text,
            state=CollapseState.COMMITTED,
            stage=stage,
        )
        if (smaller := self._replace(view, note)) is None:
            return None
        self._collapses[note.id] = note
        self.version += 1
        return smaller, note

    def sources(self, id_: str) -> tuple[str, ...]:
        """Ids of the messages of the transcript that a message of the view stands for."""
        if id_ not in self._replaced:
            return (id_,)
        return tuple(source for message in self._replaced[id_] for source in self.sources(message.id))

    def originals(self, view: View) -> View:
        """The view with every summary replaced by its messages, however deep."""
        return tuple(
            part
            for message in view
            for part in (self.originals(self._replaced[message.id]) if message.id in self._replaced else (message,))
        )

    def _replace(self, view: View, collapse: CollapseNoted) -> View | None:
        span = find_span(view, collapse.first, collapse.last)
        if span is None:
            return None
        first, end = span
        summary = Message(id=collapse.id, role="user", kind=Kind.SUMMARY, blocks=(text_block(collapse.summary),))
        if summary.tokens >= estimate_messages(view[first:end]):
            return None
        self._replaced[collapse.id] = view[first:end]
        return (*view[:first], summary, *view[end:])

    def _expand(self, view: View) -> View:
        back = {id_ for id_, stood in self._replaced.items() if self._is_undone(id_) and stood}
        while any(message.id in back for message in view):
            view = tuple(
                part for message in view for part in (self._replaced[message.id] if message.id in back else (message,))
            )
        return view

    def _is_undone(self, id_: str) -> bool:
        return id_ in self._collapses and self._collapses[id_].state == CollapseState.UNDONE

    def _in_state(self, state: CollapseState) -> tuple[CollapseNoted, ...]:
        return tuple(collapse for collapse in self._collapses.values() if collapse.state == state)

    def _note(self, collapse: CollapseNoted) -> None:
        if collapse.state != CollapseState.STAGED:
            self.version += 1
        self._collapses[collapse.id] = self._news[collapse.id] = collapse


def find_span(view: View, first_id: str, last_id: str) -> tuple[int, int] | None:
    """The stretch as indices, its end excluded; None unless it may be replaced.

    It must be of whole rounds that are finished, so never the last; and never the user's last prompt.
    """
    places = {message.id: index for index, message in enumerate(view)}
    if first_id not in places or last_id not in places:
        return None
    first, end = places[first_id], places[last_id] + 1
    starts = round_starts(view)
    if first not in starts or end not in starts or unanswered(view[first:end]):
        return None
    prompt = last_prompt(view)
    if first >= end or (prompt is not None and first <= prompt < end):
        return None
    if (prompt is None or end > prompt) and any(map(has_thoughts, view[first:end])):
        # Thinking of the unfinished trajectory goes back exactly as received.
        return None
    return first, end


def has_thoughts(message: Message) -> bool:
    return any(isinstance(block.view, Thinking | RedactedThinking) for block in message.blocks)
