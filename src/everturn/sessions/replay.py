"""From the lines of a journal to the state of the session: decoding, which reports every loss, and one fold."""

import contextlib
from collections.abc import Iterable
from datetime import datetime

from everturn.core.budget import Usage
from everturn.core.cache_ledger import CacheContents, fold_cache_contents
from everturn.core.errors import JournalError, TranscriptError
from everturn.core.events import ModelUsage
from everturn.core.messages import Kind, Message
from everturn.core.money import add_usd
from everturn.core.record_codec import restore_message
from everturn.core.records import (
    CallIntended,
    CallSettled,
    CommandChanged,
    CompactionTried,
    MessageAdded,
    MessageRetracted,
    QueryBegan,
    QueryEnded,
    Record,
    Rewound,
    SessionOpened,
    TransitionTaken,
    UsageCharged,
)
from everturn.core.state import Transition
from everturn.core.transcript import unanswered
from everturn.ports.store import Replay
from everturn.sessions.blobs import BlobStore, restore_media
from everturn.sessions.formats import DecodedLine, decode_line
from everturn.sessions.replayed_state import ReplayedState
from everturn.sessions.unfinished import PendingCommands, QueryProgress

MAX_HELD = 64 << 20
"""Bytes of messages that are kept although a summary stands for them. Beyond it they stay on the disk alone."""
MAX_IN_VIEW = 512 << 20
"""Bytes that no summary stands for. No model could read as much, and few machines could hold it."""
MAX_WARNINGS = 20
KIND_AT = len('{"type":"everturn","timestamp":"2026-11-15T18:00:00.000Z","record":{"type":"')
"""Where the line of a record says of which kind it is."""
MAX_KIND_LENGTH = 12
_USE = b'"type":"tool_use"'
PASSING = (b'intent"', b'settled"', b'withheld"', b'work"')
"""Nothing of these outlasts a compaction: a call whose outcome was unknown was told of before it."""


class RewoundError(Exception):
    """A session that goes back to an earlier message is not to be skimmed."""


def fold_lines(
    session_id: str, lines: Iterable[bytes], blobs: BlobStore | None = None
) -> tuple[Replay, tuple[str, ...]]:
    """The session, and a warning for each line that had to be skipped."""
    fold = ReplayFold(blobs)
    for line in lines:
        fold.read(line)
    return fold.replay(session_id), fold.warnings


class ReplayFold:
    """Feed it every line. Each record has its one effect; kinds that only tell a story have none."""

    def __init__(
        self,
        blobs: BlobStore | None = None,
        *,
        session_id: str = "",
        most_held: int = MAX_HELD,
        most_in_view: int = MAX_IN_VIEW,
    ) -> None:
        self._session_id = session_id
        self._most_held, self._most_in_view = most_held, most_in_view
        self.last_message: str | None = None
        self.last_time = ""
        self.lines = 0
        self.first_format = False
        """It holds records of the first format, which say no time."""
        self._blobs = blobs
        self._warnings: list[str] = []
        self._unsaid = 0
        self._left_out = 0
        self._held = 0
        self._billed: set[str] = set()
        self._boundary: Message | None = None
        self.messages: dict[str, Message] = {}
        self.models: dict[str, ModelUsage] = {}
        self.intents: dict[str, CallIntended] = {}
        self.compaction: CompactionTried | None = None
        self._turns_since_compaction = 0
        self.standing = ReplayedState()
        self.commands = PendingCommands()
        self.progress = QueryProgress()
        self.cache_contents: CacheContents | None = None
        self._story: list[str | Record] = []
        """Ids of messages and what changed the standing between them, in order."""
        self._transition = b""
        self._at_work_since = ""
        self._before = ReplayedState()
        """What held when the story began."""
        self._rewound: set[str] = set()

    @property
    def warnings(self) -> tuple[str, ...]:
        more = (f"{self._unsaid:,} more lines were skipped.",) if self._unsaid else ()
        left = (
            (f"{self._left_out:,} messages before the last compaction stay on the disk: the session is very large.",)
            if self._left_out
            else ()
        )
        return (*self._warnings, *more, *left)

    def read(self, line: bytes) -> None:
        """Foreign lines are passed over; each broken one adds a warning that names its number."""
        self.lines += 1
        if not line.strip():
            return
        try:
            told = decode_line(line)
        except JournalError as error:
            self._warn(f"Line {self.lines} was skipped: {error}.")
            return
        if isinstance(told.record, SessionOpened | QueryBegan | QueryEnded):
            # Between two processes nobody works.
            self.progress.pass_time(measure_s(self._at_work_since, self.last_time))
            self._at_work_since = max(told.time, self.last_time) if isinstance(told.record, QueryBegan) else ""
        self.last_time = max(self.last_time, told.time)
        if told.record is not None:
            self.first_format = self.first_format or not told.time
            self.take(told)

    def pass_over(self, line: bytes) -> None:
        """A message that nobody sends again."""
        self._left_out += 1
        self.standing.add_message(self._find_teller(line))
        if self.progress.query is not None:
            self.progress.count_calls(line.count(_USE))
        if self.commands.unheard:
            # Words that were on their way arrive with a message, whatever became of it later.
            with contextlib.suppress(JournalError, TranscriptError):
                if isinstance(record := decode_line(line).record, MessageAdded):
                    self.commands.add_message(restore_message(record))

    def _find_teller(self, line: bytes) -> str:
        """The id of a message that tells of contexts or files: few are awaited, so that others need not be decoded."""
        return next((id_ for id_ in self.standing.awaited if b'"uuid":"%b"' % id_.encode() in line), "")

    def skim(self, line: bytes) -> None:
        """Any other line among such messages. Raises `RewoundError`: the way back needs them all."""
        kind = line[KIND_AT : KIND_AT + MAX_KIND_LENGTH]
        if kind.startswith(b'rewound"'):
            raise RewoundError
        if kind.startswith(PASSING):
            return
        if kind.startswith(b'transition"'):
            self._transition = line
            return
        if kind.startswith(b'query"'):
            self._catch_up()
        self.read(line)
        self._story.clear()

    def _catch_up(self) -> None:
        """Of many transitions the last one counts."""
        line, self._transition = self._transition, b""
        if line:
            self.read(line)

    def begin_here(self) -> None:
        """No way leads back to before this line."""
        self._catch_up()
        self._before = _copy(self.standing)
        self._story.clear()

    def take(self, told: DecodedLine) -> None:
        if told.record is not None:
            self.cache_contents = fold_cache_contents(self.cache_contents, told.record)
        match record := told.record:
            case MessageAdded():
                self._add(record, told.blobs)
            case MessageRetracted(id=id_):
                self.messages.pop(id_, None)
            case Rewound(to=to):
                self.rewind(to)
            case CallIntended(tool_use_id=use):
                self.intents[use] = record
            case CallSettled(tool_use_id=use):
                self.intents.pop(use, None)
            case UsageCharged():
                self.charge(record)
            case CompactionTried():
                if self.compaction is None or record.count != self.compaction.count:
                    self._turns_since_compaction = 0
                self.compaction = record
            case CommandChanged():
                self.commands.follow(record)
            case Record():
                if isinstance(record, TransitionTaken) and record.transition == Transition.NEXT_TURN:
                    self._turns_since_compaction += 1
                if self.standing.take(record):
                    self._story.append(record)
                self.progress.take(record)

    def charge(self, record: UsageCharged) -> None:
        """Once, however often its line stands in the file."""
        if not record.request_id or record.request_id not in self._billed:
            self._billed.add(record.request_id)
            self.models[record.model] = add_charge(self.models.get(record.model), record.usage, record.usd)
            self.progress.charge(record)

    def rewind(self, to: str) -> None:
        """Everything is as it was with this message, but for what was paid. What ran since, the model no longer knows."""
        if to not in self.messages:
            self._warn(f"The session cannot go back to message {to}: it is not there.")
            return
        story, messages = self._story[: self._story.index(to) + 1], self.messages
        self.messages, self.standing, self._story = {}, _copy(self._before), story
        for told in story:
            if isinstance(told, Record):
                self.standing.take(told)
            elif told in messages:
                self.messages[told] = messages[told]
                self.standing.add_message(told)
        self._rewound |= messages.keys() - self.messages.keys()
        self.last_message = to
        self.progress.forget()
        ran = {result.tool_use_id for id_ in self._rewound & messages.keys() for result in messages[id_].results}
        self.intents = {
            use.id: CallIntended(tool_use_id=use.id, name=use.name, input=use.input)
            for use in unanswered(tuple(self.messages.values()))
            if use.id in ran or use.id in self.intents
        }

    def replay(self, session_id: str) -> Replay:
        return Replay(
            session_id=session_id,
            messages=tuple(self.messages.values()),
            model=self.standing.model,
            asked_model=self.standing.asked_model,
            mode=self.standing.mode,
            contexts=self.standing.contexts,
            told_contexts=self.standing.told_contexts,
            usd=add_usd(account.usd for account in self.models.values()),
            usage=sum((account.usage for account in self.models.values()), Usage()),
            models=self.models,
            unsettled=tuple(self.intents.values()),
            collapses=tuple(self.standing.collapses.values()),
            cleared=self.standing.cleared,
            spilled=tuple(self.standing.spilled),
            facts=self.standing.facts,
            waiting=tuple(self.commands.waiting.values()),
            interrupted=tuple(self.commands.started.values()),
            unheard=tuple(self.commands.unheard.values()),
            notes=self.standing.notes,
            denials=tuple(self.standing.denials),
            files=tuple(self.standing.files.values()),
            changed_files=self.standing.changed_files,
            mended=tuple(self.standing.mended),
            compaction=self.compaction,
            turns_since_compaction=self._turns_since_compaction,
            counted=self.progress.counted,
            warmth=self.cache_contents,
            query=self.progress.as_of(measure_s(self._at_work_since, self.last_time)),
        )

    def _add(self, record: MessageAdded, blobs: tuple[str, ...]) -> None:
        if record.id in self._rewound:
            return
        if blobs and self._blobs is not None:
            record, whole = restore_media(record, blobs, self._blobs)
            if not whole:
                self._warn(f"Media of message {record.id} is gone: its file was deleted.")
        try:
            message = restore_message(record)
        except TranscriptError as error:
            self._warn(f"Message {record.id} was skipped: {error}.")
            return
        if record.id not in self.messages:
            self._story.append(record.id)
            self.progress.count_calls(len(message.uses))
        self.messages[record.id] = message
        self.last_message = record.id
        for follower in (self.commands, self.progress):
            follower.add_message(message)
        self.standing.add_message(message.id)
        self._held += sum(len(block.raw) for block in message.blocks)
        if self._boundary is not None and message.kind is Kind.SUMMARY and self._held > self._most_held:
            self._leave_out(self._boundary, message)
        self._boundary = message if message.kind is Kind.BOUNDARY else None
        if self._held > self._most_in_view:
            raise self.refusal(self._session_id, self._most_in_view)

    @staticmethod
    def refusal(session_id: str, most: int = MAX_IN_VIEW) -> JournalError:
        return JournalError(
            f"The session holds more than {most >> 20:,} MB since its last compaction, which is more than can be gone on with. "
            "Its file is untouched. Start a new session, and let the model read what it needs of it: "
            f"everturn sessions export {session_id or 'SESSION'} --output FILE"
        )

    def _leave_out(self, boundary: Message, summary: Message) -> None:
        """What the summary stands for is sent no more."""
        kept = {boundary.id, summary.id, *boundary.keeps}
        before = len(self.messages)
        self.messages = {id_: message for id_, message in self.messages.items() if id_ in kept}
        self._left_out += before - len(self.messages)
        self._held = sum(len(block.raw) for message in self.messages.values() for block in message.blocks)

    def _warn(self, text: str) -> None:
        if len(self._warnings) < MAX_WARNINGS:
            self._warnings.append(text)
        else:
            self._unsaid += 1


def _copy(standing: ReplayedState) -> ReplayedState:
    """Few sessions need it, and none that is new."""
    from copy import deepcopy

    return deepcopy(standing)


def measure_s(since: str, until: str) -> float:
    """Between two times of lines; nothing where one of them is none."""
    try:
        passed = datetime.fromisoformat(until) - datetime.fromisoformat(since)
    except ValueError:
        return 0.0
    return max(passed.total_seconds(), 0.0)


def add_charge(account: ModelUsage | None, usage: Usage, usd: float) -> ModelUsage:
    account = account or ModelUsage()
    return ModelUsage(usage=account.usage + usage, usd=add_usd((account.usd, usd)), calls=account.calls + 1)
