"""Record first, then show: everything that enters the transcript, the journal or the event stream goes through here."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from everturn.core.budget import Prices, Usage, price_usage
from everturn.core.errors import JournalError
from everturn.core.events import (
    AnswerAdded,
    BlockBegan,
    BlockFinished,
    CacheMissed,
    CallBegan,
    CallProgressed,
    ContextChanged,
    Event,
    InputDelta,
    Level,
    MessageBegan,
    NotesChanged,
    Noticed,
    Retracted,
    RetractionCause,
    TextDelta,
    ThinkingDelta,
    UsageReported,
    UserAdded,
)
from everturn.core.hiding import MARK, Hiding
from everturn.core.messages import Block, Kind, Message, text_block
from everturn.core.notes import Notes
from everturn.core.outcomes import Problem
from everturn.core.prefix import Look, Sent
from everturn.core.record_codec import record_message
from everturn.core.records import (
    CacheBroken,
    CallIntended,
    CallSettled,
    ContextAltered,
    ErrorWithheld,
    MessageRetracted,
    MessagesMended,
    NotesKept,
    Record,
    UsageCharged,
)
from everturn.core.stream import Fold
from everturn.core.transcript import view_of
from everturn.engine.cache_watch import CacheWatch
from everturn.engine.deps import Deps
from everturn.engine.resumed_session import encode_news
from everturn.ports.context import Change
from everturn.ports.files import FileStates
from everturn.ports.ledger import Charge
from everturn.ports.model import Request

_PLACES = {Kind.PROMPT: "the prompt", Kind.RESULTS: "the result of a call", Kind.LOCAL: "the output of a local command"}


FREQUENT = frozenset(
    {TextDelta, ThinkingDelta, InputDelta, MessageBegan, BlockBegan, BlockFinished, CallBegan, CallProgressed}
)
"""Events that come by the hundred, and that neither cost, count nor switch anything."""


class Recorder:
    """Owns the transcript, which always holds all messages."""

    def __init__(
        self,
        deps: Deps,
        transcript: Iterable[Message] = (),
        files: FileStates | None = None,
        show: Callable[[Event], None] | None = None,
    ) -> None:
        self._deps = deps
        self.show = show
        """Hands every event to the consumer of the running query; None between two prompts."""
        self.steps: Mapping[type[Event], Callable[[Any], None]] = {}
        """Functions that are called after an event, by its class."""
        self.check_limits: Callable[[], None] | None = None
        """Called after each event, and after its step; neither is called after events of `FREQUENT`."""
        self._files = FileStates() if files is None else files
        self._journal_lost = False
        self._refused = 0
        self._unsynced = False
        """Something was written that no flush has confirmed."""
        self.transcript: list[Message] = list(transcript)
        self.use_ids = {use.id for message in self.transcript for use in message.uses}
        """Ids of all calls so far. A call of a response that repeats an id gets another one."""
        self.unsettled: dict[str, CallIntended] = {}
        """Calls with effects that began and have no result in the transcript yet, by id."""
        self.mended: dict[str, Message] = {}
        """Messages that were repaired after a refusal, by id, in the form in which they are sent."""
        self.media_dropped = 0
        """Pieces of media that the last request left out because the model takes no more."""
        self.cleared_by_api = 0
        """Tokens of old results that the API itself left out of the last request."""
        self.notes = Notes()
        """What the session keeps beside the transcript."""
        self.cache = CacheWatch()
        """Compares requests with what the prompt cache should hold."""
        self.hidden_in: list[str] = []
        """Places where credentials were replaced and of which the model was not told yet."""
        self.api_s = 0.0
        """Seconds spent waiting for the API."""

    @property
    def view(self) -> tuple[Message, ...]:
        return tuple(self.mended.get(message.id, message) for message in view_of(self.transcript))

    def emit(self, event: Event) -> None:
        """Every event passes here, after its record."""
        if self.show is not None:
            self.show(event)
        kind = type(event)
        if kind in FREQUENT:
            return
        if (step := self.steps.get(kind)) is not None:
            step(event)
        if self.check_limits is not None:
            self.check_limits()

    def record(self, record: Record) -> None:
        """Writes the record. If the journal cannot be written, the person is told once, and the work goes on in memory."""
        if type(record) is CallIntended:
            self.unsettled[record.tool_use_id] = record
        elif type(record) is CallSettled:
            self.unsettled.pop(record.tool_use_id, None)
        try:
            self._deps.journal.append(record)
        except JournalError as error:
            self._lose_journal(error)
        else:
            if self._journal_lost and not self._unsynced:
                self._regain_journal()

    async def sync(self, *, end: bool = False) -> None:
        """Flushes the journal to disk. `end`: a query ends here; otherwise a side effect follows."""
        refused = self._refused
        try:
            await self._deps.journal.sync(end=end)
        except JournalError as error:
            self._unsynced = True
            self._lose_journal(error)
        else:
            self._unsynced = False
            # The disk was busy and refused a record; it is still held.
            if self._journal_lost and self._refused == refused:
                self._regain_journal()

    def add(self, message: Message) -> Message:
        """Adds the message and returns it as it was added: without credentials that a tool or a prompt brought in."""
        if message.role == "user":
            message = self.hide_credentials(message, _PLACES.get(message.kind, "what the program adds"))
        self.transcript.append(message)
        self.use_ids.update(use.id for use in message.uses)
        if self._files.has_news:
            # Before the message that shows the files to the model: without that message the record does not count.
            self.keep_files(message.id)
        self.record(record_message(message))
        for result in message.results:
            if result.tool_use_id in self.unsettled:
                self.record(CallSettled(tool_use_id=result.tool_use_id, is_error=result.is_error))
        if message.role == "assistant":
            self.emit(AnswerAdded(message=message))
        elif message.kind not in {Kind.BOUNDARY, Kind.NOTICE}:
            self.emit(UserAdded(message=message))
        return message

    def hide_credentials(self, message: Message, where: str) -> Message:
        """The message without our credentials. `where`: the name of the place for the person."""
        hiding = self.make_hiding()
        hidden = hiding.hide_in_message(message)
        if hiding.count:
            self.note_hidden(where)
        return hidden

    def make_hiding(self) -> Hiding:
        return Hiding(self._deps.secrets())

    def note_hidden(self, where: str) -> None:
        """Notes that a credential was replaced: the person is told now, the model with the next attachments."""
        self.hidden_in.append(where)
        told = f"There is a credential of this session in {where}. The model is shown {MARK} instead."
        self.emit(Noticed(text=told, level=Level.WARNING))

    def add_user(self, kind: Kind, *blocks: Block | str, message_id: str = "") -> Message:
        """Adds a user message. `message_id`: set where earlier events have named the message."""
        made = tuple(text_block(block) if isinstance(block, str) else block for block in blocks)
        return self.add(Message(id=message_id or self._deps.ids.new(), role="user", kind=kind, blocks=made))

    def retract(self, message_id: str, cause: RetractionCause) -> None:
        self.record(MessageRetracted(id=message_id, cause=cause))
        self.emit(Retracted(message_id=message_id, cause=cause))

    def withhold(self, problem: Problem) -> None:
        self.record(ErrorWithheld(kind=problem.kind, text=problem.text))

    def note_change(self, change: Change) -> None:
        fields = msgspec.structs.asdict(change)
        self.cache.report(change.stage)
        self.record(ContextAltered(**fields))
        self.emit(ContextChanged(**fields))

    def keep_notes(self, notes: Notes) -> None:
        if notes != self.notes:
            self.notes = notes
            self.record(NotesKept(notes=notes))
            self.emit(NotesChanged(notes=notes))

    def keep_files(self, message: str = "") -> None:
        """Records what the model knows of files. `message`: id of the message that shows them, where there is one."""
        self.record(encode_news(self._files.take_news(), message))

    def mend(self, plan: MessagesMended) -> None:
        self.record(plan)
        self.take_mending(plan)

    def take_mending(self, plan: MessagesMended) -> None:
        """Takes over a repair: the transcript stays as it is, other bytes are sent."""
        from everturn.engine.repairs import mend_messages

        changed = set(plan.messages)
        refused = [self.mended.get(message.id, message) for message in self.transcript if message.id in changed]
        self.mended |= {message.id: message for message in mend_messages(refused, plan)}

    def charge(
        self,
        purpose: str,
        model: str,
        usage: Usage,
        *,
        fast: bool = False,
        turn: int = 0,
        api_id: str = "",
        request_id: str = "",
        sent: Sent | None = None,
    ) -> None:
        """Charges a model call, also an attempt that was thrown away or broke off: that by what was received."""
        if usage == Usage():
            return
        usd = price_usage(usage, self._prices(model, fast=fast))
        request_id = request_id or self._deps.ids.new()
        self.record(
            UsageCharged(
                purpose=purpose,
                model=model,
                usage=usage,
                usd=usd,
                turn=turn,
                api_id=api_id,
                request_id=request_id,
                sent=sent,
            )
        )
        self._deps.ledger.charge(purpose, model, usage, usd, api_id=api_id, request_id=request_id)
        self.emit(UsageReported(purpose=purpose, model=model, usage=usage, usd=usd, turn=turn))

    def charge_response(
        self,
        purpose: str,
        fold: Fold,
        request: Request,
        *,
        turn: int,
        request_id: str,
        look: Look | None = None,
    ) -> None:
        """Charges everything that one response cost; calls inside it are charged to their own models.

        `look` comes with a call of the main loop: its request should begin with all of the one before it. If
        the API reported no usage, nothing is known of the cache.
        """
        if fold.reported == Usage():
            look = None
        sent, call_id = None if look is None else look.sent, request_id
        self._deps.ledger.settle_received(call_id)
        for model, usage in fold.charges:
            self.charge(
                purpose,
                model or request.model,
                usage,
                fast=request.fast,
                turn=turn,
                api_id=fold.api_id,
                request_id=request_id,
                sent=sent,
            )
            request_id, sent = "", None
        if look is not None:
            self._note_break(look, fold.reported, request, turn=turn, request_id=call_id)

    def note_received(self, fold: Fold, request: Request, *, request_id: str) -> None:
        """Notes what a call under way has cost at least, so that limits count it until it is charged."""
        usage = fold.take_least_usage()
        usd = price_usage(usage, self._prices(request.model, fast=request.fast))
        self._deps.ledger.note_received(request_id, usage, usd)

    def _prices(self, model: str, *, fast: bool) -> Prices:
        card = self._deps.catalog.card(model)
        return card.fast_prices if fast and card.fast_prices else card.prices

    def _note_break(self, look: Look, usage: Usage, request: Request, *, turn: int, request_id: str) -> None:
        prices = self._prices(request.model, fast=request.fast)
        if (found := self.cache.judge(look, request.cache_ttl, usage, prices)) is not None:
            fields = msgspec.structs.asdict(found)
            self.record(CacheBroken(**fields, turn=turn, request_id=request_id))
            self.emit(CacheMissed(**fields, turn=turn))

    def note_charge_below(self, charge: Charge) -> None:
        """Records what an engine that works for this session spent: the ledger knows it already."""
        fields = msgspec.structs.asdict(charge)
        self.record(UsageCharged(**fields))
        names = UsageReported.__struct_fields__
        self.emit(UsageReported(**{name: value for name, value in fields.items() if name in names}))

    def _lose_journal(self, error: JournalError) -> None:
        self._refused += 1
        if not self._journal_lost:
            self._journal_lost = True
            self.emit(Noticed(text=f"This session is not saved. {error}", level=Level.WARNING))

    def _regain_journal(self) -> None:
        self._journal_lost = False
        self.emit(Noticed(text="This session is saved now, with everything that could not be written before."))
