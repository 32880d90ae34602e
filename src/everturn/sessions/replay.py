"""From the lines of a journal to the session they tell: decoding that loses nothing silently, and one fold."""

from collections.abc import Iterable, Iterator

import msgspec

from everturn.core.budget import Usage
from everturn.core.commands import MAIN, CommandState, QueuedCommand
from everturn.core.errors import JournalError, TranscriptError
from everturn.core.events import ModelUsage
from everturn.core.messages import Message
from everturn.core.records import (
    FORMAT,
    CallIntended,
    CallSettled,
    CollapseNoted,
    CommandChanged,
    MessageAdded,
    MessageRetracted,
    ModelChanged,
    Record,
    UsageCharged,
    decode_record,
    encode_record,
    restore_message,
)
from everturn.ports.store import Replay

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def encode_line(record: Record) -> bytes:
    try:
        return encode_record(record)
    except UnicodeEncodeError as error:
        raise JournalError(f"A {type(record).__name__} record cannot be written: it holds half a character.") from error


def fold_lines(session_id: str, lines: Iterable[bytes]) -> tuple[Replay, tuple[str, ...]]:
    """The session, and a warning for each line that had to be skipped."""
    warnings: list[str] = []
    fold = _Fold()
    for record in decode_lines(lines, warnings):
        fold.take(record, warnings)
    return fold.replay(session_id), tuple(warnings)


def decode_lines(lines: Iterable[bytes], warnings: list[str]) -> Iterator[Record]:
    """Foreign lines are passed over; each broken one adds a warning that names its number."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = decode_record(line)
        except JournalError as error:
            warnings.append(f"Line {number} was skipped: {error}.")
            continue
        if record is not None:
            yield record


def find_newer_format(lines: Iterable[bytes]) -> int | None:
    """The format of a record that only a later Everturn understands, or None."""
    for line in lines:
        if b'"format"' not in line:
            continue
        try:
            fields = _FIELDS.decode(line)
            written = msgspec.json.decode(fields.get("format", b"0"), type=int)
        except (msgspec.DecodeError, RecursionError):
            continue
        if bytes(fields.get("type", b"")) == b'"session"' and written > FORMAT:
            return written
    return None


class _Fold:
    """Each record has its one effect; kinds that only tell a story have none."""

    def __init__(self) -> None:
        self.messages: dict[str, Message] = {}
        self.model: str | None = None
        self.models: dict[str, ModelUsage] = {}
        self.intents: dict[str, CallIntended] = {}
        self.collapses: dict[str, CollapseNoted] = {}
        self.waiting: dict[str, QueuedCommand] = {}
        self.started: dict[str, QueuedCommand] = {}

    def take(self, record: Record, warnings: list[str]) -> None:
        match record:
            case MessageAdded():
                try:
                    self.messages[record.id] = restore_message(record)
                except TranscriptError as error:
                    warnings.append(f"Message {record.id} was skipped: {error}.")
            case MessageRetracted(id=id_):
                self.messages.pop(id_, None)
            case CallIntended(tool_use_id=use):
                self.intents[use] = record
            case CallSettled(tool_use_id=use):
                self.intents.pop(use, None)
            case UsageCharged(model=model, usage=usage, usd=usd):
                self.models[model] = add_charge(self.models.get(model), usage, usd)
            case CollapseNoted(id=id_):
                self.collapses[id_] = record
            case ModelChanged(model=model):
                self.model = model
            case CommandChanged():
                self.follow(record)
            case _:
                pass

    def follow(self, change: CommandChanged) -> None:
        """Only the record of its queueing need carry the words."""
        told = QueuedCommand(id=change.id, text=change.text, address=change.address or MAIN)
        known = self.waiting.pop(change.id, told)
        self.started.pop(change.id, None)
        match change.state:
            case CommandState.QUEUED:
                self.waiting[change.id] = told
            case CommandState.STARTED:
                self.started[change.id] = known

    def replay(self, session_id: str) -> Replay:
        return Replay(
            session_id=session_id,
            messages=tuple(self.messages.values()),
            model=self.model,
            usd=sum(account.usd for account in self.models.values()),
            usage=sum((account.usage for account in self.models.values()), Usage()),
            models=self.models,
            unsettled=tuple(self.intents.values()),
            collapses=tuple(self.collapses.values()),
            waiting=tuple(self.waiting.values()),
            interrupted=tuple(self.started.values()),
        )


def add_charge(account: ModelUsage | None, usage: Usage, usd: float) -> ModelUsage:
    account = account or ModelUsage()
    return ModelUsage(usage=account.usage + usage, usd=account.usd + usd, calls=account.calls + 1)
