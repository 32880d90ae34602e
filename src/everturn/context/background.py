"""Finished stretches are summarised by the small model while the main one works: staged, and committed when room is needed."""

from collections.abc import Sequence

from everturn.context import digest
from everturn.context.accounting import usable_window
from everturn.context.collapse import CollapseState, CollapseStore, find_span
from everturn.context.finished import Stretch
from everturn.context.view_index import ViewIndex
from everturn.core.errors import ModelFault
from everturn.core.marks import harmless, in_brackets, join_harmless, quote
from everturn.core.messages import UNSENT, Kind, Message, Text, ToolResult, ToolUse, result_text, text_block
from everturn.core.patterns import compile_late
from everturn.ports.ask import Ask, Question
from everturn.ports.clock import Ids
from everturn.ports.context import Situation

PURPOSE = "collapse"
OUTPUT = 1_024
MIN_TOKENS = 1_000
"""Tokens of a stretch that is worth summarising; fewer where the window is small."""
MIN_SHARE = 50
MAX_PART_LENGTH = 2_000
"""Characters of one text, call or result that the small model gets."""
MAX_COUNT = 120_000
"""Characters of the whole stretch that the small model gets."""
INSTRUCTION = """\
Below is a finished stretch of an agent's work ({why}). Write at most 150 words that can stand in its place: what was wanted, what was found or changed, with exact names, paths and figures, and what did not work. Answer with that alone.

{stretch}"""
STANDS_FOR = "[A finished stretch of work, a {why}, in short: {summary}]"

_NEXT_PART = compile_late(r"(?<=\n\n)(?=(?:user|assistant|result(?: \(failed\))?): |call \w)")
"""Matches text that looks as if another part of the stretch began."""


class Background:
    """Summarises one stretch at a time. A stretch that failed is not tried again."""

    def __init__(self, ids: Ids, store: CollapseStore) -> None:
        self._ids = ids
        self._store = store
        self._tried: set[Stretch] = set()
        self._busy = False
        self._nothing_at: tuple[int, str] | None = None
        """Number of finished stretches and id of the last prompt when there was nothing to choose: until they change, nothing is searched."""

    def choose(
        self, view: Sequence[Message], index: ViewIndex, tokens: int, situation: Situation
    ) -> tuple[Stretch, Sequence[Message]] | None:
        """The oldest stretch that is worth a summary and has none, with its messages; if there is none, several small ones together."""
        room = usable_window(situation)
        if self._busy or not index.finished or not situation.collapse or not situation.small_model:
            return None
        if tokens <= situation.limits.collapse_from * room or self._nothing_at == (
            now := (len(index.finished), index.prompt)
        ):
            return None
        least = min(MIN_TOKENS, room // MIN_SHARE)
        for stretch in [each for each in index.finished if each not in self._tried]:
            span = find_span(view, stretch.first, stretch.last)
            if span is None:
                continue
            messages = view[slice(*span)]
            if sum(message.tokens for message in messages) < least or self._is_barred(messages):
                self._tried.add(stretch)
                continue
            return stretch, messages
        old = digest.plan_digest(view, index, self._store.all)
        if old is not None and old not in self._tried and (span := find_span(view, old.first, old.last)) is not None:
            return old, view[slice(*span)]
        self._nothing_at = now
        return None

    async def run(self, stretch: Stretch, messages: Sequence[Message], situation: Situation, ask: Ask) -> None:
        self._busy = True
        try:
            instruction = digest.INSTRUCTION if stretch.why == digest.WHY else INSTRUCTION
            words = instruction.format(why=stretch.why, stretch=render_stretch(messages))
            request = Message(id=self._ids.new(), role="user", kind=Kind.HIDDEN, blocks=(text_block(words),))
            question = Question(
                purpose=PURPOSE,
                messages=(request,),
                model=situation.small_model,
                max_tokens=OUTPUT,
                within_s=situation.limits.summary_s,
            )
            reply = await ask.ask(question)
        except ModelFault:
            self._tried.add(stretch)
            return
        finally:
            self._busy = False
        self._tried.add(stretch)
        summary = reply.text.strip()
        if summary and reply.stop_reason != "refusal":
            self._store.stage(stretch.first, stretch.last, self._render(stretch, messages, summary, situation))

    def _render(self, stretch: Stretch, messages: Sequence[Message], summary: str, situation: Situation) -> str:
        if stretch.why == digest.WHY:
            return digest.render_digest(summary, self._store.originals(messages), situation.limits.recalled_tokens)
        return STANDS_FOR.format(why=stretch.why, summary=in_brackets(harmless(summary)))

    def _is_barred(self, messages: Sequence[Message]) -> bool:
        """Whether it, or a part of it, has a summary. A summary that is only staged gives way to a stretch that contains all of it."""
        ids, whole = {message.id for message in messages}, (messages[0].id, messages[-1].id)
        for note in self._store.all:
            begins, ends = note.first in ids, note.last in ids
            if begins != ends or (note.first, note.last) == whole:
                return True
            if begins and note.state != CollapseState.STAGED:
                return True
        return False


def render_stretch(messages: Sequence[Message]) -> str:
    """The stretch as text for the small model; long parts lose their middle. Text of tools and models cannot pass for the user's words."""
    parts = []
    for message in messages:
        if message.kind in UNSENT:
            continue
        for block in message.blocks:
            match block.view:
                case Text(text=text):
                    text = _cut(text, MAX_PART_LENGTH)
                    parts.append(f"{message.role}: {text if message.role == 'user' else _keep_apart((text,))}")
                case ToolUse(name=name, input=input_):
                    input_text = _cut(bytes(input_).decode("utf-8", "replace"), MAX_PART_LENGTH)
                    parts.append(f"call {_keep_apart((f'{name} {input_text}',))}")
                case ToolResult() as result:
                    text = _cut(result_text(result), MAX_PART_LENGTH)
                    failed = " (failed)" if result.is_error else ""
                    parts.append(f"result{failed}: {_keep_apart(quote(text) if result.is_error else (text,))}")
    return _cut("\n\n".join(parts), MAX_COUNT)


def _keep_apart(pieces: tuple[str, ...]) -> str:
    return _NEXT_PART.sub(r"\\", join_harmless(pieces))


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters …]\n{text[-half:]}"
