"""The context pipeline: the stages through which the conversation goes before each request, in their order."""

import math
from collections.abc import Sequence

import msgspec

from everturn.context.accounting import estimate_messages, estimate_request, usable_window
from everturn.context.collapse import CollapseStore, View
from everturn.context.compact import (
    TOO_LONG,
    NoSummaryError,
    ask_for_summary,
    can_compact,
    judge_summary,
    plan_compaction,
    render_boundary,
    render_summary,
)
from everturn.context.media import plan_without_media
from everturn.core.messages import Message
from everturn.core.records import CollapseNoted
from everturn.core.transcript import view_of
from everturn.core.view import View as Growing
from everturn.ports.ask import Ask
from everturn.ports.clock import Ids
from everturn.ports.context import Change, Prepared, Situation, Tracking


class ContextPipeline:
    """The cheap and local stages come first, so that the dear one is seldom needed.

    1. boundary: only what follows the last compaction, led by its summary
    2. collapse: committed stretches are replaced; above the soft limit staged ones are committed, one at a time
    3. autocompact: above the threshold, one model call summarises

    A meter is of the view it was read with: whoever gets `changes` back forgets the meter.
    """

    def __init__(self, *, ids: Ids, collapses: CollapseStore | None = None) -> None:
        self._ids = ids
        self.collapses = collapses or CollapseStore(ids)

    async def prepare(self, messages: Sequence[Message], situation: Situation, ask: Ask) -> Prepared:
        view = self.collapses.project(slice_view(messages))
        prepared = self._collapse(view, situation)
        if not is_compaction_due(prepared.tokens, situation) or not can_compact(tuple(prepared.messages)):
            return prepared
        try:
            compacted = await self._compact(prepared.messages, prepared.tokens, situation, ask, cause="auto")
        except BaseException:
            # Cut short: nobody learns what was prepared, so the next preparation has to tell it.
            self.collapses.take_back(prepared.collapses)
            raise
        return msgspec.structs.replace(
            compacted, collapses=prepared.collapses, changes=prepared.changes + compacted.changes
        )

    async def compact(
        self, messages: Sequence[Message], situation: Situation, ask: Ask, *, cause: str, instructions: str = ""
    ) -> Prepared:
        view = self.collapses.project(slice_view(messages))
        tokens = estimate_request(view, situation)
        if not view or (cause != TOO_LONG and not can_compact(tuple(view))):
            # Nobody was asked, so nothing failed: the breaker does not count this.
            return Prepared(
                messages=view, tracking=situation.tracking, tokens=tokens, problem="There is nothing to compact yet."
            )
        return await self._compact(view, tokens, situation, ask, cause=cause, instructions=instructions)

    def drop_media(self, messages: Sequence[Message]) -> Prepared:
        return plan_without_media(messages, self._ids)

    def drain(self, messages: Sequence[Message]) -> Prepared:
        view = self.collapses.project(slice_view(messages))
        return self._commit(view, estimate_messages(view), above=-math.inf, cause=TOO_LONG)

    @property
    def staged(self) -> int:
        return len(self.collapses.staged)

    def restore(self, collapses: tuple[CollapseNoted, ...]) -> None:
        self.collapses.restore(collapses)

    def project(self, messages: Sequence[Message]) -> Sequence[Message]:
        return self.collapses.project(slice_view(messages))

    def _collapse(self, view: View, situation: Situation) -> Prepared:
        news, tokens = self.collapses.take_news(), estimate_request(view, situation)
        undone: tuple[Change, ...] = ()
        if any(map(self.collapses.is_back, news)):
            # The meter counted a summary where the messages stand again.
            whole = situation.fixed_tokens + estimate_messages(view)
            undone = (Change(stage="collapse", cause="undone", tokens_before=tokens, tokens_after=whole),)
            tokens = whole
        soft_limit = situation.limits.collapse_share * usable_window(situation) if situation.collapse else math.inf
        prepared = self._commit(view, tokens, above=soft_limit, cause="soft_limit")
        # A record says the whole state: what was committed at once need not be told as staged first.
        committed = {note.id for note in prepared.collapses}
        return msgspec.structs.replace(
            prepared,
            collapses=(*(note for note in news if note.id not in committed), *prepared.collapses),
            changes=undone + prepared.changes,
            tracking=situation.tracking,
        )

    def _commit(self, view: View, tokens: int, *, above: float, cause: str) -> Prepared:
        """Commits staged collapses, oldest first, while the estimate is above a limit."""
        now, committed = tokens, []
        while now > above and (step := self.collapses.commit_oldest(view)) is not None:
            smaller, note = step
            now -= estimate_messages(view) - estimate_messages(smaller)
            view = smaller
            committed.append(note)
        change = Change(stage="collapse", cause=cause, tokens_before=tokens, tokens_after=now)
        return Prepared(messages=view, collapses=tuple(committed), changes=(change,) if committed else (), tokens=now)

    async def _compact(
        self, view: View, tokens: int, situation: Situation, ask: Ask, *, cause: str, instructions: str = ""
    ) -> Prepared:
        tracking = situation.tracking
        try:
            text = await ask_for_summary(tuple(view), situation, ask, self._ids, instructions=instructions)
            summary = render_summary(text, self._ids)
            plan = plan_compaction(tuple(view), summary, situation)
            problem = judge_summary(summary, plan, cause)
        except NoSummaryError as error:
            problem = str(error)
        if problem is not None:
            failed = msgspec.structs.replace(tracking, failures=tracking.failures + 1)
            return Prepared(messages=view, tracking=failed, tokens=tokens, problem=problem)
        keeps = tuple(source for message in plan.kept for source in self.collapses.sources(message.id))
        compacted = (summary, *plan.kept)
        after = situation.fixed_tokens + estimate_messages(compacted)
        return Prepared(
            messages=compacted,
            added=(render_boundary(keeps, self._ids), summary),
            changes=(Change(stage="compact", cause=cause, tokens_before=tokens, tokens_after=after),),
            tracking=Tracking(count=tracking.count + 1),
            tokens=after,
            compacted=True,
        )


def slice_view(messages: Sequence[Message]) -> View:
    """The first stage: only what follows the last boundary."""
    return messages if isinstance(messages, Growing) and not messages.has_boundary else view_of(messages)


def is_compaction_due(tokens: int, situation: Situation) -> bool:
    limits = situation.limits
    if situation.is_compaction or not limits.auto_compact or situation.tracking.failures >= limits.compact_failures:
        return False
    return tokens > limits.compact_share * usable_window(situation)
