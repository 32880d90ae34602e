"""Stage six: above the threshold, or when it is asked for, one model call summarises; where that fails, the lighter means are used."""

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from everturn.context.accounting import (
    is_compaction_due,
    is_guess,
    run_count,
    threshold,
)
from everturn.context.carried import plan_fitting
from everturn.context.context_state import ContextState
from everturn.context.stages import TOO_LONG, Clear, Collapse, Demand, Snip, ToolResults, join
from everturn.core.refused_media import is_refused, list_pieces
from everturn.core.view import View as Growing
from everturn.ports.clock import Ids
from everturn.ports.context import Prepared, Situation
from everturn.ports.files import Files
from everturn.ports.hooks import Hooks

if TYPE_CHECKING:
    from everturn.context.compactor import Compactor

CLEARED_INSTEAD = "Old tool results were cleared instead."
FILED_INSTEAD = "The largest of the latest tool results went into files instead."
SNIPPED_INSTEAD = "The oldest rounds were left out instead."
FACTS_INSTEAD = "What must not be lost was kept, and nothing else."
MEDIA_INSTEAD = "Images and documents were left out instead."


class Autocompact:
    """Stage six: above the threshold, or when it is asked for, one model call summarises."""

    def __init__(
        self,
        state: ContextState,
        *,
        ids: Ids,
        files: Files | None,
        hooks: Hooks | None,
        results: ToolResults,
        lighter: tuple[Snip, Clear, Collapse],
    ) -> None:
        self._state = state
        self._ids = ids
        self._files = files
        self._hooks = hooks
        self._results = results
        self._lighter = lighter

    async def prepare(self, before: Prepared, demand: Demand) -> Prepared:
        """Compacts if it is due. Changes nothing where there is nothing to summarise, or where a count shows that it is not due."""
        if not is_compaction_due(before.tokens, demand.situation):
            return before
        from everturn.context.compact import can_compact, is_worth_asking

        situation, view = demand.situation, Growing.of(before.messages)
        if not can_compact(tuple(view)) and not plan_fitting(view, before.tokens, situation, refused=False):
            return before
        try:
            counted = await run_count(view, situation) if is_guess(view, situation) else None
            if counted is not None and not is_compaction_due(counted, situation):
                return msgspec.structs.replace(before, tokens=counted)
            before = self._results.fit_unseen(before, situation, refused=False)
            view = Growing.of(before.messages)
            if not is_compaction_due(before.tokens, situation) or not can_compact(tuple(view)):
                return before
            if not is_worth_asking(tuple(view)):
                return msgspec.structs.replace(before, hopeless=True)
            after = await self.compact(view, before.tokens, demand)
        except BaseException:
            self._state.take_back(before)
            raise
        return join(before, after)

    async def compact(self, view: Growing, tokens: int, demand: Demand) -> Prepared:
        """Summarises now. Results that came in last are put into files first, if they are too large, because a compaction keeps them."""
        fitted = Prepared(messages=view, tokens=tokens)
        if demand.cause == TOO_LONG:
            fitted = self._results.fit_unseen(fitted, demand.situation, refused=True)
        try:
            after = await self._sum_up(Growing.of(fitted.messages), fitted.tokens, demand)
        except BaseException:
            self._state.take_back_lines(fitted)
            raise
        if fitted.changes and not after.compacted:
            after = msgspec.structs.replace(after, compacted=True, problem=f"{after.problem} {FILED_INSTEAD}")
        return join(fitted, after)

    @cached_property
    def _compactor(self) -> "Compactor":
        from everturn.context.compactor import Compactor

        return Compactor(
            ids=self._ids,
            tracker=self._state.tracker,
            collapses=self._state.collapses,
            files=self._files,
            hooks=self._hooks,
            shelf=self._state.aside,
        )

    async def _sum_up(self, view: Growing, tokens: int, demand: Demand) -> Prepared:
        situation, cause = demand.situation, demand.cause
        is_last_resort = cause == TOO_LONG and not self._has_lighter_means(view, situation)
        prepared = await self._compactor.run(
            view,
            tokens,
            situation,
            demand.ask,
            cause=cause,
            instructions=demand.instructions,
            is_last_resort=is_last_resort,
        )
        if not prepared.compacted:
            return self._use_lighter_means(prepared, view, tokens, demand)
        # What is kept word for word goes through the lighter stages, too.
        rest = Prepared(messages=Growing(prepared.messages), tokens=prepared.tokens)
        for stage in self._lighter:
            rest = await stage.prepare(rest, demand)
        return join(prepared, rest)

    def _has_lighter_means(self, view: Growing, situation: Situation) -> bool:
        """Whether results can be cleared, rounds left out, or media taken out."""
        snip, clear, _ = self._lighter
        self._state.view_index.follow(view)
        return (
            any(not is_refused(piece, view.refused) for message in view for piece in list_pieces(message))
            or clear.could_force(view, situation)
            or snip.could_force(view)
        )

    def _use_lighter_means(self, failed: Prepared, view: Growing, tokens: int, demand: Demand) -> Prepared:
        """Clears, snips or removes media, because there is no summary, or none worth having."""
        situation, cause, (snip, clear, _) = demand.situation, demand.cause, self._lighter
        lighter, instead = clear.force(Prepared(messages=view, tokens=tokens), situation), CLEARED_INSTEAD
        if cause == TOO_LONG and (lighter.cleared is None or lighter.tokens > threshold(situation)):
            snipped = snip.force(lighter, situation)
            lighter, instead = (snipped, SNIPPED_INSTEAD) if snipped.changes != lighter.changes else (lighter, instead)
        if cause == TOO_LONG and not lighter.changes:
            from everturn.context.media import plan_without_media

            lighter, instead = plan_without_media(view, self._ids, cause), MEDIA_INSTEAD
        if failed.too_large and cause == TOO_LONG and lighter.tokens > threshold(situation):
            wordless = self._compactor.plan_wordless(Growing.of(lighter.messages), lighter.tokens, situation, cause)
            lighter, instead = (join(lighter, wordless), FACTS_INSTEAD) if wordless is not None else (lighter, instead)
        if not lighter.changes:
            return failed
        return msgspec.structs.replace(
            lighter, tracking=failed.tracking, compacted=True, problem=f"{failed.problem} {instead}"
        )
