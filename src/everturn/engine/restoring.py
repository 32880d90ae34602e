"""From what a replay tells to what an engine needs to go on as if it had never stopped. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from everturn.core.messages import UNSENT, Kind, Message, ToolResult, ToolUse
from everturn.core.records import FilesKnown, SeenFile
from everturn.core.tokens import Meter
from everturn.core.transcript import ends_in_text
from everturn.engine import wording
from everturn.ports.files import FileNews, FileState, Stamp
from everturn.ports.model import TaskBudget
from everturn.ports.store import Counted, OpenQuery

UNFINISHED = frozenset({"max_tokens", "pause_turn"})
"""Stop reasons of an answer that is to go on."""


def encode_news(news: FileNews, message: str | None) -> FilesKnown:
    seen = tuple(
        SeenFile(
            path=path,
            size=state.stamp.size,
            mtime_ns=state.stamp.mtime_ns,
            digest=state.stamp.digest,
            partial=state.partial,
            shown=state.shown,
            outdated=state.outdated,
            left=state.left,
        )
        for path, state in news.seen
    )
    return FilesKnown(
        seen=seen, forgotten=news.forgotten, message=message, cleared=news.cleared, changed=dict(news.changed)
    )


def decode_files(files: Iterable[SeenFile]) -> Iterator[tuple[str, FileState]]:
    for file in files:
        stamp = Stamp(size=file.size, mtime_ns=file.mtime_ns, digest=file.digest)
        yield (
            file.path,
            FileState(stamp=stamp, partial=file.partial, shown=file.shown, outdated=file.outdated, left=file.left),
        )


def plan_meter(counted: Counted | None, view: Sequence[Message]) -> Meter | None:
    """`view` as it is sent, collapses projected; None where what was counted is not in it."""
    if counted is None:
        return None
    places = (place for place, message in enumerate(view, start=1) if message.id == counted.message)
    place = next(places, None)
    return None if place is None else Meter(tokens=counted.tokens, messages=place)


def plan_task_budget(budget: TaskBudget | None, query: OpenQuery) -> TaskBudget | None:
    """After a compaction the API was told what was left."""
    if budget is None or query.output_before_compaction is None:
        return budget
    return TaskBudget(total=budget.total, remaining=max(budget.total - query.output_before_compaction, 0))


def list_calls(transcript: Sequence[Message], first: str) -> Iterator[tuple[str, bytes, bytes]]:
    """Tool, input and result of every call from this message on that has a result, as the ledger is told of them."""
    begin = next((place for place, message in enumerate(transcript) if message.id == first), len(transcript))
    uses: dict[str, ToolUse] = {}
    for message in transcript[begin:]:
        uses |= {use.id: use for use in message.uses}
        for block in message.blocks:
            if isinstance(block.view, ToolResult) and (use := uses.get(block.view.tool_use_id)) is not None:
                yield use.name, bytes(use.input), block.raw.replace(use.id.encode(), b"")


def is_open(view: Sequence[Message], query: OpenQuery | None) -> bool:
    """The next word is the model's: nobody need say anything before it."""
    last = next((message for message in reversed(view) if message.kind not in UNSENT), None)
    if last is None:
        return False
    if last.role == "assistant":
        return bool(last.uses) or (last.answer is not None and last.answer.stop_reason in UNFINISHED)
    # A summary alone ends a conversation that was compacted by hand.
    return last.kind is not Kind.SUMMARY or query is not None


def takes_more(view: Sequence[Message]) -> bool:
    """More may be said before the model's next word. An answer that paused is taken back only as the last message."""
    last = next((message for message in reversed(view) if message.kind not in UNSENT), None)
    return last is not None and last.role == "user"


def ask_for_rest(view: Sequence[Message]) -> str:
    """What asks the model for the rest of its answer. Empty where nothing is missing, or where the API goes on by itself.

    A paused answer goes on by itself where it ends in a tool of the API. One that ends in text is refused as the last
    message: by newer models always, by older ones if it ends in white space.
    """
    last = next((message for message in reversed(view) if message.kind not in UNSENT), None)
    if last is None or last.answer is None:
        return ""
    match last.answer.stop_reason:
        case "max_tokens":
            return wording.RESUME
        case "pause_turn" if not last.uses and ends_in_text(last):
            return wording.GO_ON
        case _:
            return ""
