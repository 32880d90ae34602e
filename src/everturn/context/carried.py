"""The messages that no request has sent yet: the last answer and everything after it. No stage may remove them.

The answer itself is the model's own: a compaction, whose request carries it, keeps it only where there is room.
Where the window cannot hold it, results go into files before anything else is lost. Where even that is not enough and the
API has refused the request, whatever has to go is in a file, which the model is told of.
"""

from collections.abc import Sequence

from everturn.context.accounting import costs_of, estimate_messages, threshold
from everturn.context.results import render_preview
from everturn.context.retention import put_aside
from everturn.context.rounds import last_prompt, round_starts
from everturn.core.messages import UNSENT, Block, Message, Text, ToolResult, result_text
from everturn.core.refused_media import find_refused
from everturn.core.tokens import BYTES_PER_TOKEN
from everturn.ports.context import Situation
from everturn.ports.outputs import Shelf

MAX_PINNED = 0.64
"""Share of the conversation's tokens: if what must stay takes more, there is no room for a summary."""
SUMMARY_SHARE = 8
"""At most one part in so many of the window is kept free for a summary."""
UNREAD = "You have not read these messages yet, because there was no room for them: {where}."
IN_FILE = "they are in {path}; read it with Read before you go on"
LOST = "they could not be kept"


def count_carried(view: Sequence[Message], *, refused: bool = False) -> int:
    """How many messages, from the first on, a request has carried: those before the last answer.

    `refused`: the API has refused the view, so that the last answer, which the model knows, counts as carried too.
    """
    places = (index for index in range(len(view) - 1, -1, -1) if view[index].role == "assistant")
    last = next(places, None)
    return 0 if last is None else last + refused


def find_unseen(view: Sequence[Message]) -> int:
    """Where the rounds begin that hold all that came after the last answer. That answer is among them where it has calls."""
    known = count_carried(view, refused=True)
    return max((start for start in round_starts(view) if start <= known), default=0) if known < len(view) else known


def estimate_pinned(view: Sequence[Message]) -> int:
    """Tokens of what a compaction leaves as it is: the last prompt, and what came after the last answer."""
    costs, unseen = costs_of(view, find_refused(view)), find_unseen(view)
    prompt = last_prompt(view)
    return sum(costs[unseen:]) + (costs[prompt] if prompt is not None and prompt < unseen else 0)


def plan_fitting(view: Sequence[Message], tokens: int, situation: Situation, *, refused: bool) -> list[Block]:
    """Results that no request has carried and that go into files, so that a compaction can make room: the largest first.

    `tokens` is the estimate of the whole request. Where the API refused it, it was at least a window in truth.
    """
    window = situation.card.window
    room = threshold(situation) - situation.fixed_tokens - window // SUMMARY_SHARE
    if refused:
        room = int(room * min(1.0, tokens / window))
    excess = estimate_pinned(view) - min(int(MAX_PINNED * estimate_messages(view)), room)
    preview = situation.limits.result_preview // BYTES_PER_TOKEN
    unseen = [
        block
        for message in view[count_carried(view) :]
        for block in message.blocks
        if isinstance(block.view, ToolResult) and not block.media and block.tokens > 2 * preview
    ]
    chosen: list[Block] = []
    for block in sorted(unseen, key=lambda block: -block.tokens):
        if excess <= 0:
            break
        chosen.append(block)
        excess -= block.tokens - preview
    return chosen


def preview_in_file(result: Block, most: int, shelf: Shelf | None) -> dict[str, str]:
    """Both its ends and the path of the file that holds it, by its `tool_use_id`; empty where no file could be written."""
    if not isinstance(result.view, ToolResult):
        return {}
    text = result_text(result.view)
    path = put_aside(text, shelf)
    return {result.view.tool_use_id: render_preview(text, most, path=path)} if path else {}


def note_unread(messages: Sequence[Message], shelf: Shelf | None) -> str:
    """Tells of messages that have to go although nobody has read them. Empty where there are none."""
    texts = [_render(message) for message in messages if message.kind not in UNSENT and message.role == "user"]
    if not any(texts):
        return ""
    path = put_aside("\n\n".join(filter(None, texts)), shelf)
    return UNREAD.format(where=IN_FILE.format(path=path) if path else LOST)


def _render(message: Message) -> str:
    parts = []
    for block in message.blocks:
        match block.view:
            case Text(text=text):
                parts.append(text)
            case ToolResult() as result:
                parts.append(result_text(result))
    return "\n\n".join(parts)
