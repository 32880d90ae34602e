"""Runs a compaction: hooks, the call for a summary, what is added to it, and whether the result is worth having."""

from collections.abc import Callable

import msgspec

from everturn.context.accounting import estimate_messages, threshold
from everturn.context.carried import note_unread
from everturn.context.collapse import CollapseStore
from everturn.context.compact import (
    LAST_PROMPT_HEAD,
    MANUAL,
    NOT_SHORTER,
    PROMPT_HEAD,
    TOO_LONG,
    WORTHWHILE,
    NoSummaryError,
    Plan,
    TooLargeError,
    ask_for_summary,
    judge_summary,
    plan_compaction,
    plan_prompt_alone,
    plan_shown,
    render_boundary,
    render_summary,
)
from everturn.context.fact_tracker import FactTracker
from everturn.context.reshown_files import Reshown, load_recent
from everturn.context.retention import recall, shorten_part
from everturn.core.messages import UNSENT, Block, Kind, Message, text_block
from everturn.core.tokens import BYTES_PER_TOKEN
from everturn.core.view import View
from everturn.ports.ask import Ask
from everturn.ports.clock import Ids
from everturn.ports.context import Change, Prepared, Situation, Tracking
from everturn.ports.files import Files
from everturn.ports.hooks import CompactInput, Hooks
from everturn.ports.outputs import Shelf

STAGE = "compact"
NO_WORDS = "(There is none: what was said and done last was too long to be summed up.)"
PART_SHARE = 32
"""Share of the window that one kind of fact may take at least, however many kinds there are."""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction before it is checked for its size."""

    summary: Message
    plan: Plan
    reshown: Reshown

    @property
    def tokens(self) -> int:
        return estimate_messages((self.summary, *self.plan.kept))


class Extras(msgspec.Struct, frozen=True, kw_only=True):
    """What a summary holds besides the model's text and the facts, and how long a part of it may be."""

    files: bool = False
    refused: bool = False
    """The API has refused the conversation as it is."""
    alone: bool = False
    """Only the prompt is kept as it is."""
    prompts_room: int = 0
    prompt_head: str = PROMPT_HEAD
    shorten: Callable[[str], str] | None = None


class Compactor:
    def __init__(
        self,
        *,
        ids: Ids,
        tracker: FactTracker,
        collapses: CollapseStore,
        files: Files | None,
        hooks: Hooks | None,
        shelf: Shelf | None,
    ) -> None:
        self._ids = ids
        self._shelf = shelf
        self._tracker = tracker
        self._collapses = collapses
        self._files = files
        self._hooks = hooks

    async def run(
        self,
        view: View,
        tokens: int,
        situation: Situation,
        ask: Ask,
        *,
        cause: str,
        instructions: str,
        is_last_resort: bool,
    ) -> Prepared:
        """Compacts the view. `problem` of the result says why it did not work. Raises only what `ask` raises when the query is aborted."""
        tracking = situation.tracking
        if situation.on_compaction is not None:
            situation.on_compaction(cause)
        compaction = CompactInput(session_id=situation.session_id, cause=cause, instructions=instructions)
        if self._hooks is not None:
            verdict = await self._hooks.pre_compact(compaction)
            if verdict.block is not None:
                return Prepared(
                    messages=view, tracking=tracking, tokens=tokens, problem=f"A hook said: {verdict.block}"
                )
            instructions = "\n".join(filter(None, (instructions, verdict.instructions)))
        try:
            shown = plan_shown(tuple(view), tokens, situation)
            text = await ask_for_summary(shown, situation, ask, self._ids, instructions=instructions)
            draft = self._draft(tuple(view), text, situation, cause, is_last_resort=is_last_resort)
        except NoSummaryError as error:
            failed = msgspec.structs.replace(tracking, failures=tracking.failures + 1)
            too_large = isinstance(error, TooLargeError)
            return Prepared(messages=view, tracking=failed, tokens=tokens, problem=str(error), too_large=too_large)
        if self._hooks is not None:
            await self._hooks.post_compact(msgspec.structs.replace(compaction, summary=text))
        return self._take(draft, tokens, estimate_messages(view), situation, cause)

    def plan_wordless(self, view: View, tokens: int, situation: Situation, cause: str) -> Prepared | None:
        """A compaction without a model's summary, for a round larger than the window: it keeps only what must not be lost.

        None where even that is too much, because the prompt is.
        """
        estimated = estimate_messages(view)
        for alone in (False, True):
            extras = Extras(shorten=self._shorten(situation), refused=True, alone=alone)
            draft = self._compose(tuple(view), NO_WORDS, situation, extras)
            if draft.tokens <= min(self._room(situation), int(WORTHWHILE * estimated)):
                return self._take(draft, tokens, estimated, situation, cause)
        return None

    def _draft(
        self, view: tuple[Message, ...], text: str, situation: Situation, cause: str, *, is_last_resort: bool
    ) -> Draft:
        """The compaction with everything useful; if that is too large, with less, at last with shortened parts. Raises `NoSummaryError`."""
        room = situation.limits.recalled_tokens
        least = Extras(refused=cause == TOO_LONG, prompt_head=LAST_PROMPT_HEAD if cause == MANUAL else PROMPT_HEAD)
        for extras in (
            msgspec.structs.replace(least, files=True, prompts_room=room),
            msgspec.structs.replace(least, prompts_room=room),
            least,
            msgspec.structs.replace(least, shorten=self._shorten(situation)),
        ):
            draft = self._compose(view, text, situation, extras)
            written = sum(block.tokens for block in draft.summary.blocks[:1])
            problem = judge_summary(written, draft.summary, draft.plan, cause, is_last_resort=is_last_resort)
            if problem is None and (extras.shorten is not None or draft.tokens <= self._room(situation)):
                return draft
        raise NoSummaryError(problem or NOT_SHORTER)

    @staticmethod
    def _room(situation: Situation) -> int:
        return threshold(situation) - situation.fixed_tokens

    def _shorten(self, situation: Situation) -> Callable[[str], str]:
        """Returns what shortens facts that are larger than the window; the whole goes into a file."""
        most = situation.card.window * BYTES_PER_TOKEN // PART_SHARE
        return lambda part: shorten_part(part, most, self._shelf)

    def _compose(self, view: tuple[Message, ...], text: str, situation: Situation, extras: Extras) -> Draft:
        """What stays in sight decides what must be put back, and what is put back decides how much may stay.

        So it is put back as if nothing stayed, which is the most; then what is in sight is taken out of it again.
        """
        blocks, _ = self._render(text, (), situation, extras)
        room = sum(block.tokens for block in blocks)
        plan = (
            plan_prompt_alone(view) if extras.alone else plan_compaction(view, room, situation, refused=extras.refused)
        )
        blocks, reshown = self._render(text, plan.kept, situation, extras)
        if unread := note_unread(plan.unread, self._shelf):
            blocks = (*blocks, text_block(unread))
        first = next((message for message in plan.kept if message.kind not in UNSENT), None)
        if first is not None and first.kind is Kind.PROMPT:
            # It stands right behind the listings above.
            blocks = (*blocks, text_block(extras.prompt_head))
        summary = Message(id=self._ids.new(), role="user", kind=Kind.SUMMARY, blocks=blocks)
        return Draft(summary=summary, plan=plan, reshown=reshown)

    def _render(
        self, text: str, kept: tuple[Message, ...], situation: Situation, extras: Extras
    ) -> tuple[tuple[Block, ...], Reshown]:
        facts = recall(
            self._tracker.facts,
            situation.notes,
            kept,
            changed=situation.changed_files,
            calls=self._tracker.calls,
            folder=situation.folder,
            prompts_room=extras.prompts_room,
            shorten=extras.shorten,
        )
        reshown = self._load_files(kept, situation) if extras.files else Reshown()
        return render_summary(text, facts, reshown.text), reshown

    def _load_files(self, kept: tuple[Message, ...], situation: Situation) -> Reshown:
        return load_recent(
            situation.recent_files,
            kept,
            self._files,
            limits=situation.limits,
            window=situation.card.window,
            folder=situation.folder,
        )

    def _take(self, draft: Draft, tokens: int, estimated: int, situation: Situation, cause: str) -> Prepared:
        """`tokens` may be the API's count and `estimated` our own of the same: what is left is told in the API's measure."""
        plan, summary, fixed = draft.plan, draft.summary, situation.fixed_tokens
        keeps = tuple(source for message in plan.kept for source in self._collapses.sources(message.id))
        after = tokens * (fixed + draft.tokens) // max(fixed + estimated, 1)
        boundary = render_boundary(keeps, self._ids)
        return Prepared(
            messages=(summary, *plan.kept),
            added=(boundary, summary),
            facts=self._tracker.keep(),
            restored=draft.reshown.states,
            changes=(Change(stage=STAGE, cause=cause, tokens_before=tokens, tokens_after=after),),
            tracking=Tracking(count=situation.tracking.count + 1, id=boundary.id),
            tokens=after,
            compacted=True,
        )
