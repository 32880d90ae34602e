"""What a session left unfinished: the query that was cut off, and queued commands."""

import msgspec

from everturn.core.commands import MAIN, CommandState, QueuedCommand
from everturn.core.messages import Kind, Message, Text
from everturn.core.money import add_usd
from everturn.core.records import (
    CommandChanged,
    ContextAltered,
    GoalVerified,
    QueryBegan,
    QueryEnded,
    Record,
    TransitionTaken,
    UsageCharged,
)
from everturn.core.state import Reason
from everturn.ports.store import Counted, OpenQuery


class PendingCommands:
    """A command that was started is heard when a message carries its words."""

    def __init__(self) -> None:
        self.waiting: dict[str, QueuedCommand] = {}
        self.started: dict[str, QueuedCommand] = {}
        self.unheard: dict[str, QueuedCommand] = {}

    def follow(self, change: CommandChanged) -> None:
        """Only the record of its queueing need carry the words."""
        told = QueuedCommand(id=change.id, text=change.text, address=change.address or MAIN)
        known = self.waiting.pop(change.id, told)
        self.started.pop(change.id, None)
        self.unheard.pop(change.id, None)
        match change.state:
            case CommandState.QUEUED:
                self.waiting[change.id] = told
            case CommandState.STARTED:
                self.started[change.id] = self.unheard[change.id] = known

    def add_message(self, message: Message) -> None:
        if not self.unheard or message.role != "user":
            return
        said = "\n".join(block.view.text for block in message.blocks if isinstance(block.view, Text))
        self.unheard = {id_: command for id_, command in self.unheard.items() if command.text not in said}


class QueryProgress:
    """How far the query under way came, and what the API counted last."""

    def __init__(self) -> None:
        self.query: OpenQuery | None = None
        self._id: str | None = None
        self.counted: Counted | None = None

    def take(self, record: Record) -> None:
        query = self.query
        match record:
            case QueryBegan(query_id=id_) if id_ == self._id:
                # The same line once more.
                pass
            case QueryBegan(query_id=id_, goes_on=goes_on, at=at):
                self._id = id_
                going_on = query if goes_on else None
                self.query = (
                    OpenQuery(began_at=at) if going_on is None else msgspec.structs.replace(going_on, deferred=False)
                )
            case QueryEnded(reason=Reason.TOOL_DEFERRED) if query is not None:
                self.query = msgspec.structs.replace(query, deferred=True)
            case QueryEnded():
                self.query = None
            case TransitionTaken(guards=guards, transition=transition) if query is not None:
                self.query = msgspec.structs.replace(
                    query, guards=guards or query.guards, tools_ran=False, untold=transition
                )
            case GoalVerified(passed=False, digest=digest) if query is not None:
                self.query = msgspec.structs.replace(query, digests=(*query.digests, digest))
            case ContextAltered():
                self._recount(record)

    def charge(self, record: UsageCharged) -> None:
        if (query := self.query) is None:
            return
        spent = msgspec.structs.replace(
            query.spent, usd=add_usd((query.spent.usd, record.usd)), tokens=query.spent.tokens + record.usage.total
        )
        output = record.usage.output if record.purpose == "main" else 0
        self.query = msgspec.structs.replace(query, output=query.output + output, spent=spent)

    def count_calls(self, calls: int) -> None:
        if (query := self.query) is not None and calls:
            spent = msgspec.structs.replace(query.spent, tool_calls=query.spent.tool_calls + calls)
            self.query = msgspec.structs.replace(query, spent=spent)

    def pass_time(self, seconds: float) -> None:
        self.query = self.as_of(seconds)

    def as_of(self, seconds: float) -> OpenQuery | None:
        """The query after so much more time."""
        if (query := self.query) is None or not seconds:
            return query
        spent = msgspec.structs.replace(query.spent, wall_s=query.spent.wall_s + seconds)
        return msgspec.structs.replace(query, spent=spent)

    def add_message(self, message: Message) -> None:
        query, answer = self.query, message.answer
        if answer is not None and answer.counted:
            self.counted = Counted(message=message.id, tokens=answer.counted)
        if query is None:
            return
        if query.untold or not query.began_with:
            self.query = query = msgspec.structs.replace(query, began_with=query.began_with or message.id, untold="")
        if message.kind is Kind.RESULTS:
            self.query = msgspec.structs.replace(query, tools_ran=True)
        elif message.kind is Kind.BOUNDARY:
            self.query = msgspec.structs.replace(query, output_before_compaction=query.output)

    def forget(self) -> None:
        self.query = self.counted = None

    def _recount(self, change: ContextAltered) -> None:
        """Sizes of zero: what was counted is not affected, or not known."""
        if self.counted is None or change.tokens_before == change.tokens_after == 0:
            return
        if change.stage != "tools":
            self.counted = None
            return
        grown = change.tokens_after - change.tokens_before
        self.counted = msgspec.structs.replace(self.counted, tokens=self.counted.tokens + grown)
