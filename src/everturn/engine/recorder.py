"""Record first, then show: everything that enters the transcript, the journal or the event stream goes through here."""

from collections.abc import Callable, Iterable

import msgspec

from everturn.core.budget import Usage, price_usage
from everturn.core.errors import JournalError
from everturn.core.events import (
    AnswerAdded,
    ContextChanged,
    Event,
    Level,
    Noticed,
    Retracted,
    RetractionCause,
    UsageReported,
    UserAdded,
)
from everturn.core.messages import Block, Kind, Message, text_block
from everturn.core.outcomes import Problem
from everturn.core.records import (
    CallIntended,
    CallSettled,
    ContextAltered,
    ErrorWithheld,
    MessageRetracted,
    Record,
    UsageCharged,
    record_message,
)
from everturn.core.transcript import view_of
from everturn.engine.deps import Deps
from everturn.ports.context import Change


class Recorder:
    """Owns the transcript, which stays whole. `emit` is where the engine watches every event."""

    def __init__(self, deps: Deps, emit: Callable[[Event], None], transcript: Iterable[Message] = ()) -> None:
        self._deps = deps
        self._journal_lost = False
        self.emit = emit
        self.transcript: list[Message] = list(transcript)
        self.use_ids = {use.id for message in self.transcript for use in message.uses}
        """Ids of all calls so far: a response that uses one again gets another."""
        self.unsettled: dict[str, CallIntended] = {}
        """Calls with effects that began and whose result is not in the transcript: until it is, the model does not know."""
        self.mended: dict[str, Message] = {}
        """Messages that the API refused as they are, in the form in which it takes them."""
        self.media_dropped = 0
        """Pieces of media that the last request left out because the model takes no more."""
        self.api_s = 0.0
        """Time spent waiting for the API."""

    @property
    def view(self) -> tuple[Message, ...]:
        return tuple(self.mended.get(message.id, message) for message in view_of(self.transcript))

    def record(self, record: Record) -> None:
        """A journal that cannot be written is said once, loudly; the work goes on in memory."""
        match record:
            case CallIntended(tool_use_id=use):
                self.unsettled[use] = record
            case CallSettled(tool_use_id=use):
                self.unsettled.pop(use, None)
        if self._journal_lost:
            return
        try:
            self._deps.journal.append(record)
        except JournalError as error:
            self._lose_journal(error)

    async def sync(self) -> None:
        if self._journal_lost:
            return
        try:
            await self._deps.journal.sync()
        except JournalError as error:
            self._lose_journal(error)

    def add(self, message: Message) -> Message:
        self.transcript.append(message)
        self.use_ids.update(use.id for use in message.uses)
        self.record(record_message(message))
        for result in message.results:
            if result.tool_use_id in self.unsettled:
                self.record(CallSettled(tool_use_id=result.tool_use_id, is_error=result.is_error))
        if message.role == "assistant":
            self.emit(AnswerAdded(message=message))
        elif message.kind not in {Kind.BOUNDARY, Kind.NOTICE}:
            self.emit(UserAdded(message=message))
        return message

    def add_user(self, kind: Kind, *blocks: Block | str) -> Message:
        made = tuple(text_block(block) if isinstance(block, str) else block for block in blocks)
        return self.add(Message(id=self._deps.ids.new(), role="user", kind=kind, blocks=made))

    def retract(self, message_id: str, cause: RetractionCause) -> None:
        self.record(MessageRetracted(id=message_id, cause=cause))
        self.emit(Retracted(message_id=message_id, cause=cause))

    def withhold(self, problem: Problem) -> None:
        self.record(ErrorWithheld(kind=problem.kind, text=problem.text))

    def note_change(self, change: Change) -> None:
        fields = msgspec.structs.asdict(change)
        self.record(ContextAltered(**fields))
        self.emit(ContextChanged(**fields))

    def charge(self, purpose: str, model: str, usage: Usage, *, fast: bool = False, turn: int = 0) -> None:
        """Every call is charged, also an attempt that was thrown away."""
        if usage == Usage():
            return
        card = self._deps.catalog.card(model)
        usd = price_usage(usage, card.fast_prices if fast and card.fast_prices else card.prices)
        self.record(UsageCharged(purpose=purpose, model=model, usage=usage, usd=usd, turn=turn))
        self._deps.ledger.charge(model, usage, usd, main=purpose == "main")
        self.emit(UsageReported(purpose=purpose, model=model, usage=usage, usd=usd, turn=turn))

    def _lose_journal(self, error: JournalError) -> None:
        self._journal_lost = True
        self.emit(Noticed(text=f"This session is no longer saved: {error}", level=Level.WARNING))
