"""From a replayed session to the state with which an engine goes on. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from everturn.core.messages import UNSENT, Kind, Message, ToolResult, ToolUse
from everturn.core.records import FilesKnown, SeenFile
from everturn.core.state import Transition
from everturn.core.tokens import Meter
from everturn.core.transcript import ends_in_text
from everturn.engine import wording
from everturn.ports.files import FileNews, FileState, Stamp
from everturn.ports.model import TaskBudget
from everturn.ports.store import Counted, OpenQuery

UNFINISHED = frozenset({"max_tokens", "pause_turn"})
"""Stop reasons of an answer that is not complete."""
TELLING = frozenset({Transition.STOP_HOOK_BLOCKING, Transition.TOKEN_BUDGET_CONTINUATION})
"""Transitions after a complete answer, in which a message of ours asks the model to go on."""


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
    """The last count of the API, by its place in `view`, which is the view as it is sent. None where that place is not in it."""
    if counted is None:
        return None
    places = (place for place, message in enumerate(view, start=1) if message.id == counted.message)
    place = next(places, None)
    return None if place is None else Meter(tokens=counted.tokens, messages=place)


def plan_task_budget(budget: TaskBudget | None, query: OpenQuery) -> TaskBudget | None:
    """The task budget, less what was spent before the last compaction."""
    if budget is None or query.output_before_compaction is None:
        return budget
    return TaskBudget(total=budget.total, remaining=max(budget.total - query.output_before_compaction, 0))


def list_calls(transcript: Sequence[Message], first: str) -> Iterator[tuple[str, bytes, bytes]]:
    """Tool, input and result of every call with a result, from this message on, as the ledger counts them."""
    begin = next((place for place, message in enumerate(transcript) if message.id == first), len(transcript))
    uses: dict[str, ToolUse] = {}
    for message in transcript[begin:]:
        uses |= {use.id: use for use in message.uses}
        for block in message.blocks:
            if isinstance(block.view, ToolResult) and (use := uses.get(block.view.tool_use_id)) is not None:
                yield use.name, bytes(use.input), block.raw.replace(use.id.encode(), b"")


def is_open(view: Sequence[Message], query: OpenQuery | None) -> bool:
    """Whether the model's answer is due without another prompt."""
    last = next((message for message in reversed(view) if message.kind not in UNSENT), None)
    if last is None:
        return False
    if last.role == "assistant":
        if query is not None and query.untold in TELLING:
            return True
        return bool(last.uses) or (last.answer is not None and last.answer.stop_reason in UNFINISHED)
    # A summary alone ends a conversation that was compacted by hand.
    return last.kind is not Kind.SUMMARY or query is not None


def has_answered(view: Sequence[Message]) -> bool:
    """Whether the last message is a complete answer without calls."""
    last = next((message for message in reversed(view) if message.kind not in UNSENT), None)
    if last is None or last.answer is None or last.uses or last.answer.incomplete:
        return False
    return last.answer.stop_reason not in UNFINISHED


def takes_more(view: Sequence[Message]) -> bool:
    """Whether messages may be added before the next answer. After a paused answer none may: it must be the last message."""
    last = next((message for message in reversed(view) if message.kind not in UNSENT), None)
    return last is not None and last.role == "user"


def tell_again(query: OpenQuery, work_budget: int) -> str:
    """The message of a transition that was cut off before the model got it; empty where none is missing.

    The text of a stop hook is in no record: the hook is asked again when the model has answered.
    """
    match query.untold:
        case Transition.STOP_HOOK_BLOCKING:
            return wording.HOOK_BLOCKED_UNTOLD
        case Transition.TOKEN_BUDGET_CONTINUATION if work_budget:
            return wording.budget_nudge(query.guards.work.total * 100 // work_budget)
        case Transition.TOKEN_BUDGET_CONTINUATION:
            return wording.GO_ON
        case _:
            return ""


def ask_for_rest(view: Sequence[Message]) -> str:
    """The message that asks for the rest of an answer; empty where nothing is missing, or where the API goes on by itself.

    After a paused answer the API goes on by itself where the answer ends in a tool of the API. An answer that ends
    in text is refused as the last message: always by newer models, by older ones if it ends in white space.
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
