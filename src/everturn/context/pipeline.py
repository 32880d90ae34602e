"""The context pipeline: the stages through which the conversation goes before each request, in their order."""

import math
from collections.abc import Collection, Coroutine, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.context import clear, results
from everturn.context.accounting import estimate_messages
from everturn.context.autocompact import Autocompact
from everturn.context.carried import count_carried
from everturn.context.collapse import STAGE as COLLAPSE
from everturn.context.collapse import CollapseStore
from everturn.context.context_state import ContextState
from everturn.context.stages import (
    TOO_LONG,
    UNDONE,
    Boundary,
    Clear,
    Collapse,
    Demand,
    Snip,
    Stage,
    ToolResults,
)
from everturn.core.limits import Limits
from everturn.core.messages import Block, Message
from everturn.core.records import CollapseNoted, FactsKept
from everturn.ports.ask import Ask
from everturn.ports.clock import Ids
from everturn.ports.context import Change, Fitted, Prepared, Situation
from everturn.ports.files import Files
from everturn.ports.hooks import Hooks
from everturn.ports.model import Clearing
from everturn.ports.outputs import Shelf

if TYPE_CHECKING:
    from everturn.context.background import Background


class ContextPipeline:
    """The cheap and local stages come first, so that the dear one is seldom needed.

    1. boundary: only what follows the last compaction, led by its summary
    2. tool results: what is too large goes into a file, already when it comes in (`fit_results`)
    3. snip: above the user's budget the oldest finished rounds are left out
    4. microcompact: stale results of tools that can be run again give way to a line
    5. collapse: finished stretches are summarised beside the work, and replaced where the cache is broken anyway, or
       above the soft limit, one at a time
    6. autocompact: above the threshold, one model call summarises

    What a first request never needs is imported when it is needed. A meter is of the view it was read with: a caller who
    gets `changes` back forgets the meter.
    """

    def __init__(
        self,
        *,
        ids: Ids,
        collapses: CollapseStore | None = None,
        shelf: Shelf | None = None,
        files: Files | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        self._ids = ids
        self._shelf = shelf
        self._state = state = ContextState(collapses or CollapseStore(ids), shelf)
        self._collapse, self._clear, self._snip, self._results = (
            Collapse(state),
            Clear(state),
            Snip(state),
            ToolResults(state),
        )
        self._autocompact = Autocompact(
            state,
            ids=ids,
            files=files,
            hooks=hooks,
            results=self._results,
            lighter=(self._snip, self._clear, self._collapse),
        )
        self.stages: tuple[Stage, ...] = (
            Boundary(state),
            self._results,
            self._snip,
            self._clear,
            self._collapse,
            self._autocompact,
        )

    @property
    def collapses(self) -> CollapseStore:
        return self._state.collapses

    async def prepare(self, messages: Sequence[Message], situation: Situation, ask: Ask) -> Prepared:
        self._state.take_situation(situation)
        demand, prepared = (
            Demand(situation=situation, ask=ask),
            Prepared(messages=messages, tracking=situation.tracking),
        )
        for stage in self.stages:
            prepared = await stage.prepare(prepared, demand)
        return self._state.settle(msgspec.structs.replace(prepared, clearing=plan_by_api(prepared, situation)))

    async def compact(
        self, messages: Sequence[Message], situation: Situation, ask: Ask, *, cause: str, instructions: str = ""
    ) -> Prepared:
        from everturn.context.compact import can_compact

        self._state.take_situation(situation)
        view = self._state.see(messages)
        tokens = self._state.estimate(view, situation)
        if not view or (cause != TOO_LONG and not can_compact(tuple(view))):
            # Nobody was asked, so nothing failed: the breaker does not count this.
            return Prepared(
                messages=view, tracking=situation.tracking, tokens=tokens, problem="There is nothing to compact yet."
            )
        demand = Demand(situation=situation, ask=ask, cause=cause, instructions=instructions)
        return self._state.settle(await self._autocompact.compact(view, tokens, demand))

    async def fit_results(
        self, results_: Sequence[Block], tool_limits: Mapping[str, int], *, limits: Limits, window: int
    ) -> Fitted:
        return await results.fit_results(results_, tool_limits, limits=limits, window=window, shelf=self._shelf)

    def plan_background(self, situation: Situation, ask: Ask) -> Coroutine[Any, Any, None] | None:
        state = self._state
        if not state.view_index.finished:
            return None
        tokens = state.estimate(state.settled, situation)
        chosen = self._background.choose(state.settled, state.view_index, tokens, situation)
        return self._background.run(*chosen, situation, ask) if chosen else None

    @cached_property
    def _background(self) -> "Background":
        from everturn.context.background import Background

        return Background(self._ids, self.collapses)

    def drop_media(self, messages: Sequence[Message], blamed: Collection[str], *, every: bool, said: str) -> Prepared:
        from everturn.context.media import plan_without_media

        cause = "media_too_large"
        return self._state.settle(plan_without_media(messages, self._ids, cause, blamed=blamed, every=every, said=said))

    def drain(self, messages: Sequence[Message]) -> Prepared:
        view = self._state.see(messages)
        tokens = self._state.view_index.tokens
        return self._state.settle(self._collapse.commit(view, tokens, above=-math.inf, cause=TOO_LONG, refused=True))

    @property
    def staged(self) -> int:
        return len(self.collapses.staged)

    def take_news(self) -> tuple[tuple[CollapseNoted, ...], tuple[Change, ...]]:
        news, tokens = self.collapses.take_news(), self._state.view_index.tokens
        if not any(map(self.collapses.is_back, news)):
            return news, ()
        whole = estimate_messages(self.project(self._state.settled))
        return news, (Change(stage=COLLAPSE, cause=UNDONE, tokens_before=tokens, tokens_after=whole),)

    def restore(
        self,
        collapses: tuple[CollapseNoted, ...],
        *,
        cleared: Mapping[str, str] = {},
        messages: Sequence[Message] = (),
        facts: FactsKept | None = None,
    ) -> None:
        self.collapses.restore(collapses)
        self._state.cleared = dict(cleared)
        self._state.tracker.restore(messages, facts)

    def project(self, messages: Sequence[Message]) -> Sequence[Message]:
        """A view that grew from one that was given out holds all decisions already, but for what was undone since."""
        return self._state.project(messages)


def plan_by_api(prepared: Prepared, situation: Situation) -> Clearing | None:
    """What the API is asked to clear by itself, where it does that in place of stage four."""
    if not situation.card.clears_results:
        return None
    view = prepared.messages
    unseen = sum(len(message.results) for message in view[count_carried(view) :])
    return clear.plan_by_api(situation, unseen)
