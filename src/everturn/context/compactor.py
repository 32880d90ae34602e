"""Stage six at work: hooks, the call for a summary, what is put back beside it, and whether the result is worth having."""

import msgspec

from everturn.context.accounting import estimate_messages
from everturn.context.collapse import CollapseStore
from everturn.context.compact import (
    NoSummaryError,
    Plan,
    ask_for_summary,
    judge_summary,
    plan_compaction,
    render_boundary,
    render_summary,
)
from everturn.context.following import Known
from everturn.context.reshowing import Reshown, load_recent
from everturn.context.retention import recall
from everturn.core.messages import Block, Kind, Message
from everturn.core.view import View
from everturn.ports.ask import Ask
from everturn.ports.clock import Ids
from everturn.ports.context import Change, Prepared, Situation, Tracking
from everturn.ports.files import Files
from everturn.ports.hooks import CompactInput, Hooks

STAGE = "compact"


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction that may still be judged too large."""

    summary: Message
    plan: Plan
    reshown: Reshown


class Compactor:
    def __init__(
        self, *, ids: Ids, known: Known, collapses: CollapseStore, files: Files | None, hooks: Hooks | None
    ) -> None:
        self._ids = ids
        self._known = known
        self._collapses = collapses
        self._files = files
        self._hooks = hooks

    async def run(
        self, view: View, tokens: int, situation: Situation, ask: Ask, *, cause: str, instructions: str
    ) -> Prepared:
        """Never raises but what `ask` does when the query is aborted. `problem` says why it did not work."""
        tracking = situation.tracking
        compaction = CompactInput(session_id=situation.session_id, cause=cause, instructions=instructions)
        if self._hooks is not None:
            verdict = await self._hooks.pre_compact(compaction)
            if verdict.block is not None:
                return Prepared(
                    messages=view, tracking=tracking, tokens=tokens, problem=f"A hook said: {verdict.block}"
                )
            instructions = "\n".join(filter(None, (instructions, verdict.instructions)))
        try:
            text = await ask_for_summary(tuple(view), situation, ask, self._ids, instructions=instructions)
            draft = self._draft(tuple(view), text, situation, cause)
        except NoSummaryError as error:
            failed = msgspec.structs.replace(tracking, failures=tracking.failures + 1)
            return Prepared(messages=view, tracking=failed, tokens=tokens, problem=str(error))
        if self._hooks is not None:
            await self._hooks.post_compact(msgspec.structs.replace(compaction, summary=text))
        return self._take(draft, tokens, situation, cause)

    def _draft(self, view: tuple[Message, ...], text: str, situation: Situation, cause: str) -> Draft:
        """With all that is good to have; where that is too much, with what must be. Raises `NoSummaryError`."""
        room = situation.limits.recalled_tokens
        for with_files, prompts_room in ((True, room), (False, room), (False, 0)):
            draft = self._compose(view, text, situation, with_files=with_files, prompts_room=prompts_room)
            written = sum(block.tokens for block in draft.summary.blocks[:1])
            problem = judge_summary(written, draft.summary, draft.plan, cause)
            if problem is None:
                return draft
        raise NoSummaryError(problem)

    def _compose(
        self, view: tuple[Message, ...], text: str, situation: Situation, *, with_files: bool, prompts_room: int
    ) -> Draft:
        """What stays in sight decides what must be put back, and what is put back decides how much may stay.

        So it is put back as if nothing stayed, which is the most; then what is in sight is taken out of it again.
        """
        blocks, _ = self._render(text, (), situation, with_files=with_files, prompts_room=prompts_room)
        plan = plan_compaction(view, sum(block.tokens for block in blocks), situation)
        blocks, reshown = self._render(text, plan.kept, situation, with_files=with_files, prompts_room=prompts_room)
        summary = Message(id=self._ids.new(), role="user", kind=Kind.SUMMARY, blocks=blocks)
        return Draft(summary=summary, plan=plan, reshown=reshown)

    def _render(
        self, text: str, kept: tuple[Message, ...], situation: Situation, *, with_files: bool, prompts_room: int
    ) -> tuple[tuple[Block, ...], Reshown]:
        facts = recall(self._known.facts, situation.notes, kept, prompts_room=prompts_room)
        reshown = self._load_files(kept, situation) if with_files else Reshown()
        return render_summary(text, facts, reshown.text), reshown

    def _load_files(self, kept: tuple[Message, ...], situation: Situation) -> Reshown:
        return load_recent(
            situation.recent_files, kept, self._files, limits=situation.limits, window=situation.card.window
        )

    def _take(self, draft: Draft, tokens: int, situation: Situation, cause: str) -> Prepared:
        plan, summary = draft.plan, draft.summary
        keeps = tuple(source for message in plan.kept for source in self._collapses.sources(message.id))
        compacted = (summary, *plan.kept)
        after = situation.fixed_tokens + estimate_messages(compacted)
        return Prepared(
            messages=compacted,
            added=(render_boundary(keeps, self._ids), summary),
            facts=self._known.keep(),
            restored=draft.reshown.states,
            changes=(Change(stage=STAGE, cause=cause, tokens_before=tokens, tokens_after=after),),
            tracking=Tracking(count=situation.tracking.count + 1),
            tokens=after,
            compacted=True,
        )
