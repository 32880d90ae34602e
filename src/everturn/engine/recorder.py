"""Record first, then show: everything that enters the transcript, the journal or the event stream goes through here."""

from collections.abc import Callable, Iterable

import msgspec

from everturn.core.budget import Prices, Usage, price_usage
from everturn.core.errors import JournalError
from everturn.core.events import (
    AnswerAdded,
    CacheMissed,
    ContextChanged,
    Event,
    Level,
    NotesChanged,
    Noticed,
    Retracted,
    RetractionCause,
    UsageReported,
    UserAdded,
)
from everturn.core.hiding import MARK, Hiding
from everturn.core.messages import Block, Kind, Message, text_block
from everturn.core.notes import Notes
from everturn.core.outcomes import Problem
from everturn.core.prefix import Look, Sent
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
    record_message,
)
from everturn.core.stream import Fold
from everturn.core.transcript import view_of
from everturn.engine.cache_watch import CacheWatch
from everturn.engine.deps import Deps
from everturn.engine.mending import mend_messages
from everturn.engine.restoring import encode_news
from everturn.ports.context import Change
from everturn.ports.files import FileStates
from everturn.ports.ledger import Charge
from everturn.ports.model import Request

_PLACES = {Kind.PROMPT: "the prompt", Kind.RESULTS: "the result of a call", Kind.LOCAL: "the output of a local command"}


class Recorder:
    """Owns the transcript, which stays whole. `emit` is where the engine watches every event."""

    def __init__(
        self,
        deps: Deps,
        emit: Callable[[Event], None],
        transcript: Iterable[Message] = (),
        files: FileStates | None = None,
    ) -> None:
        self._deps = deps
        self._files = FileStates() if files is None else files
        self._journal_lost = False
        self._refused = 0
        self._unsynced = False
        """The disk took what was written, but did not promise to keep it."""
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
        self.cleared_by_api = 0
        """Tokens of old results that the API left out of the last request by itself."""
        self.notes = Notes()
        """What the session keeps beside the transcript."""
        self.cache = CacheWatch()
        """What of each request the API should still hold."""
        self.hidden_in: list[str] = []
        """Where credentials were hidden that the model has not been told of."""
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
        try:
            self._deps.journal.append(record)
        except JournalError as error:
            self._lose_journal(error)
        else:
            if self._journal_lost and not self._unsynced:
                self._regain_journal()

    async def sync(self, *, end: bool = False) -> None:
        """`end` says that a query ends here; otherwise a side effect follows."""
        refused = self._refused
        try:
            await self._deps.journal.sync(end=end)
        except JournalError as error:
            self._unsynced = True
            self._lose_journal(error)
        else:
            self._unsynced = False
            # A record that was refused while the disk was busy is still held.
            if self._journal_lost and self._refused == refused:
                self._regain_journal()

    def add(self, message: Message) -> Message:
        """Gives the message as it was added: without credentials of ours that a tool or a prompt brought in."""
        if message.role == "user":
            message = self.hide_credentials(message, _PLACES.get(message.kind, "what the program adds"))
        self.transcript.append(message)
        self.use_ids.update(use.id for use in message.uses)
        if self._files.has_news:
            # Before the message that tells the model of it: without that one it does not count.
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
        """`where`: what the person knows it as."""
        hiding = self.make_hiding()
        hidden = hiding.hide_in_message(message)
        if hiding.count:
            self.note_hidden(where)
        return hidden

    def make_hiding(self) -> Hiding:
        return Hiding(self._deps.secrets())

    def note_hidden(self, where: str) -> None:
        """The person is told now, the model with the next attachments."""
        self.hidden_in.append(where)
        told = f"A credential of this session stands in {where}. The model reads {MARK} in its place."
        self.emit(Noticed(text=told, level=Level.WARNING))

    def add_user(self, kind: Kind, *blocks: Block | str, message_id: str = "") -> Message:
        """`message_id`: where it was told before the message."""
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
        """What is known of files outlives the process. `message`: id of the one that tells it, where one does."""
        self.record(encode_news(self._files.take_news(), message))

    def mend(self, plan: MessagesMended) -> None:
        self.record(plan)
        self.take_mending(plan)

    def take_mending(self, plan: MessagesMended) -> None:
        """The transcript stays as it is; what is sent of it changes."""
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
        """Every call is charged, also an attempt that was thrown away or broke off: then by what was received."""
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
        """All that one response cost: calls inside it are charged to their own models.

        `look` comes with a call of the main loop, whose request should begin with all of the one before it. Without a
        report of the API nothing is known of the cache.
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
        """In mid-stream: limits count what has come at least, until the call is charged."""
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
        """Somebody who works for this session spent it: the ledger knows, the journal must, too."""
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
        self.emit(Noticed(text="This session is saved now, with everything that was held back."))
