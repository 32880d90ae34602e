"""Prompts that were answered long ago: one summary stands for several of them, with the user's words beside it."""

from collections.abc import Iterable, Sequence

from everturn.context.collapse import CollapseState
from everturn.context.finished import Stretch
from everturn.context.retention import choose_prompts
from everturn.context.view_index import ViewIndex
from everturn.core.commands import SENT_MEANWHILE
from everturn.core.contexts import REMINDER
from everturn.core.facts import Said
from everturn.core.marks import harmless, in_brackets
from everturn.core.messages import Kind, Message, Text
from everturn.core.records import CollapseNoted

KEPT = 6
"""Answered prompts that stay as they are, each with its answer and the summary of its work: the latest."""
MIN_TOKENS = 6_000
"""Of all that one digest stands for: with each new one, everything behind it is written to the cache again."""
MAX_PROMPT_LENGTH = 600
"""Characters of a prompt that stays word for word; of a longer one both ends do."""
WHY = "prompts that were answered"
INSTRUCTION = """\
Below is a finished stretch of an agent's work: prompts of the user that were answered long ago, with the answers and what is left of the work between. Write at most 250 words that can stand in its place: what came of each prompt, what was decided and why, with exact names, paths and figures, and what did not work. The prompts are kept beside it, long ones in part. Answer with that alone.

{stretch}"""
STANDS_FOR = "[Earlier work, in short: {summary}]"
PROMPTS = "What the user had asked for in it:"


def plan_digest(view: Sequence[Message], index: ViewIndex, notes: Iterable[CollapseNoted]) -> Stretch | None:
    """From the oldest prompt that still stands by itself to the last that is old; None where that is not worth it.

    What somebody took back is to be seen: it stays, and all before it.
    """
    *old, end = index.prompts[: max(0, len(index.prompts) - KEPT)] or [0]
    seen = {note.last for note in notes if note.state == CollapseState.UNDONE}
    begin = max((index.places[id_] for id_ in seen if id_ in index.places), default=-1)
    first = next((at for at in old if at > begin), None)
    if first is None:
        return None
    stretch = Stretch(view[first].id, view[end - 1].id, WHY)
    if any(note.state == CollapseState.STAGED and note.first == stretch.first for note in notes):
        return None
    return stretch if index.weigh(stretch.first, stretch.last) >= MIN_TOKENS else None


def render_digest(summary: str, originals: Iterable[Message], room: int) -> str:
    """`originals` are the messages that it stands for, `room` the tokens that their prompts may take: the latest ones."""
    said = [Said(id=message.id, text=_shorten(text)) for message in originals for text in _find_words(message)]
    prompts = [each.text for each in choose_prompts(said, room)]
    parts = [STANDS_FOR.format(summary=in_brackets(harmless(summary))), *((PROMPTS, *prompts) if prompts else ())]
    return "\n\n".join(parts)


def _find_words(message: Message) -> list[str]:
    """The user's, and nobody else's: what a command printed may stand beside them in the same message."""
    match message.kind:
        case Kind.PROMPT:
            return [message.text]
        case Kind.ATTACHMENT:
            texts = [block.view.text for block in message.blocks if isinstance(block.view, Text)]
            return [text for text in texts if text.removeprefix(REMINDER).startswith(SENT_MEANWHILE)]
        case _:
            return []


def _shorten(text: str) -> str:
    if len(text) <= MAX_PROMPT_LENGTH:
        return text
    half = MAX_PROMPT_LENGTH // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters …]\n{text[-half:]}"
