"""The context pipeline: the stages through which the conversation goes before each request, in their order."""

import math
from collections.abc import Collection, Coroutine, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.context import clearing, results
from everturn.context.accounting import (
    estimate_messages,
    estimate_request,
    is_compaction_due,
    is_guess,
    run_count,
    threshold,
    usable_window,
)
from everturn.context.carried import count_carried, note_unread, plan_fitting, preview_in_file
from everturn.context.collapse import STAGE as COLLAPSE
from everturn.context.collapse import CollapseStore, View
from everturn.context.following import Known
from everturn.context.retention import Aside
from everturn.context.sight import Sight
from everturn.core.limits import Limits
from everturn.core.messages import Block, Message
from everturn.core.notes import Notes
from everturn.core.records import CollapseNoted, FactsKept, ResultsCleared
from everturn.core.refused_media import is_refused, list_pieces
from everturn.core.tokens import Scale, estimate_bytes
from everturn.core.transcript import view_of
from everturn.core.view import View as Growing
from everturn.ports.ask import Ask
from everturn.ports.clock import Ids
from everturn.ports.context import Change, Fitted, Prepared, Situation
from everturn.ports.files import Files
from everturn.ports.hooks import Hooks
from everturn.ports.model import Clearing
from everturn.ports.shelf import Shelf

if TYPE_CHECKING:
    from everturn.context.background import Background
    from everturn.context.compactor import Compactor

AUTO, TOO_LONG = "auto", "too_long"
STUCK = "no_summary"
IN_PASSING = "in_passing"
UNDONE = "undone"
NO_ROOM = "no_room"
CLEARED_INSTEAD = "Old tool results were cleared instead."
FILED_INSTEAD = "The largest of the latest tool results went into files instead."
SNIPPED_INSTEAD = "The oldest rounds were left out instead."
FACTS_INSTEAD = "What must not be lost was kept, and nothing else."
MEDIA_INSTEAD = "Images and documents were left out instead."


class ContextPipeline:
    """The cheap and local stages come first, so that the dear one is seldom needed.

    1. boundary: only what follows the last compaction, led by its summary
    2. tool results: what is too large goes into a file, already when it comes in (`fit_results`)
    3. snip: above the user's budget the oldest finished rounds are left out
    4. microcompact: stale results of tools that can be run again give way to a line
    5. collapse: finished stretches are summarised beside the work, and replaced where the cache is broken anyway, or
       above the soft limit, one at a time
    6. autocompact: above the threshold, one model call summarises

    What a first request never needs is imported when it is needed. A meter is of the view it was read with: whoever gets
    `changes` back forgets the meter.
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
        self._aside = Aside(shelf) if shelf is not None else None
        """For what is put aside after it came in."""
        self.collapses = collapses or CollapseStore(ids)
        self._files = files
        self._hooks = hooks
        self._cleared: dict[str, str] = {}
        self._known = Known()
        self._sight = Sight()
        self._notes = Notes()
        self._changed: Mapping[str, str] = {}
        self._folder = ""
        self._settled = Growing()
        """The last view that was given out: what has grown from it is projected already."""
        self._settled_at = 0
        """Version of the collapses in it."""

    async def prepare(self, messages: Sequence[Message], situation: Situation, ask: Ask) -> Prepared:
        self._take_surroundings(situation)
        view = self._see(messages)
        undone, tokens, news = self._take_undone(view, situation)
        prepared = self._shrink(view, tokens, situation)
        committed = {note.id for note in prepared.collapses}
        # A record says the whole state: what was committed at once need not be told as staged first.
        prepared = msgspec.structs.replace(
            prepared,
            collapses=(*(note for note in news if note.id not in committed), *prepared.collapses),
            changes=undone + prepared.changes,
            tracking=situation.tracking,
        )
        if is_compaction_due(prepared.tokens, situation):
            prepared = await self._compact_ahead(prepared, situation, ask)
        return self._settle(msgspec.structs.replace(prepared, clearing=self._plan_by_api(prepared, situation)))

    async def compact(
        self, messages: Sequence[Message], situation: Situation, ask: Ask, *, cause: str, instructions: str = ""
    ) -> Prepared:
        self._take_surroundings(situation)
        view = self._see(messages)
        tokens = self._estimate(view, situation)
        if not view or (cause != TOO_LONG and not self._can_compact(view)):
            # Nobody was asked, so nothing failed: the breaker does not count this.
            return Prepared(
                messages=view, tracking=situation.tracking, tokens=tokens, problem="There is nothing to compact yet."
            )
        return self._settle(await self._compact(view, tokens, situation, ask, cause=cause, instructions=instructions))

    async def fit_results(
        self, results_: Sequence[Block], tool_limits: Mapping[str, int], *, limits: Limits, window: int
    ) -> Fitted:
        return await results.fit_results(results_, tool_limits, limits=limits, window=window, shelf=self._shelf)

    def plan_background(self, situation: Situation, ask: Ask) -> Coroutine[Any, Any, None] | None:
        if not self._sight.finished:
            return None
        tokens = self._estimate(self._settled, situation)
        chosen = self._background.choose(self._settled, self._sight, tokens, situation)
        return self._background.run(*chosen, situation, ask) if chosen else None

    @cached_property
    def _background(self) -> "Background":
        from everturn.context.background import Background

        return Background(self._ids, self.collapses)

    @cached_property
    def _compactor(self) -> "Compactor":
        from everturn.context.compactor import Compactor

        return Compactor(
            ids=self._ids,
            known=self._known,
            collapses=self.collapses,
            files=self._files,
            hooks=self._hooks,
            shelf=self._aside,
        )

    def _can_compact(self, view: View) -> bool:
        from everturn.context.compact import can_compact

        return can_compact(tuple(view))

    def _is_worth_asking(self, view: View) -> bool:
        from everturn.context.compact import is_worth_asking

        return is_worth_asking(tuple(view))

    def drop_media(self, messages: Sequence[Message], blamed: Collection[str], *, every: bool, said: str) -> Prepared:
        from everturn.context.media import plan_without_media

        cause = "media_too_large"
        return self._settle(plan_without_media(messages, self._ids, cause, blamed=blamed, every=every, said=said))

    def _without_media(self, messages: Sequence[Message], cause: str) -> Prepared:
        from everturn.context.media import plan_without_media

        return plan_without_media(messages, self._ids, cause)

    def drain(self, messages: Sequence[Message]) -> Prepared:
        view = self._see(messages)
        return self._settle(self._commit(view, self._sight.tokens, above=-math.inf, cause=TOO_LONG, refused=True))

    @property
    def staged(self) -> int:
        return len(self.collapses.staged)

    def take_news(self) -> tuple[tuple[CollapseNoted, ...], tuple[Change, ...]]:
        news, tokens = self.collapses.take_news(), self._sight.tokens
        if not any(map(self.collapses.is_back, news)):
            return news, ()
        whole = estimate_messages(self.project(self._settled))
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
        self._cleared = dict(cleared)
        self._known.restore(messages, facts)

    def project(self, messages: Sequence[Message]) -> Sequence[Message]:
        """A view that grew from one that was given out holds all decisions already, but for what was undone since."""
        if isinstance(messages, Growing) and messages.grew_from(self._settled):
            return messages if self._settled_at == self.collapses.version else self.collapses.project(messages)
        view = slice_view(messages)
        if self._cleared:
            view = clearing.clear_results(view, self._cleared)
        return self.collapses.project(view)

    def _see(self, messages: Sequence[Message]) -> Growing:
        """The view as it is sent, and all that there is to know of it."""
        self._known.take(messages[len(self._settled) :] if self._is_settled(messages) else messages)
        view = Growing.of(self.project(messages))
        self._sight.follow(view)
        return view

    def _is_settled(self, messages: Sequence[Message]) -> bool:
        return isinstance(messages, Growing) and messages.grew_from(self._settled)

    def _settle(self, prepared: Prepared) -> Prepared:
        view = Growing.of(prepared.messages)
        self._sight.follow(view)
        self._settled, self._settled_at = view, self.collapses.version
        spilled = self._aside.take_news() if self._aside is not None else ()
        return msgspec.structs.replace(prepared, messages=view, turning=self._list_turning(view), spilled=spilled)

    def _list_turning(self, view: Growing) -> tuple[Block, ...]:
        """The oldest result that may be cleared, the oldest stretch whose summary would save something, and the work in progress."""
        held, sight = self._known.facts.held_by, self._sight
        cleared = next((sight.places[each.message] for each in sight.shown if each.use.id not in held), None)
        waiting = [
            sight.places[note.first]
            for note in self.collapses.staged
            if sight.weigh(note.first, note.last) > estimate_bytes(len(note.summary))
        ]
        found = {at for at in (cleared, min(waiting, default=None), sight.work) if at is not None}
        return tuple(view[at].blocks[-1] for at in sorted(found) if view[at].blocks)

    def _estimate(self, view: Growing, situation: Situation) -> int:
        return estimate_request(view, situation, self._scale(situation), messages_tokens=self._sight.tokens)

    def _scale(self, situation: Situation) -> Scale:
        return self._known.scales.get(situation.card.id, Scale())

    def _take_undone(
        self, view: Growing, situation: Situation
    ) -> tuple[tuple[Change, ...], int, tuple[CollapseNoted, ...]]:
        news, tokens = self.collapses.take_news(), self._estimate(view, situation)
        if not any(map(self.collapses.is_back, news)):
            return (), tokens, news
        # The meter counted a summary where the messages stand again.
        whole = self._scale(situation).apply(situation.fixed_tokens + self._sight.tokens)
        return (Change(stage=COLLAPSE, cause=UNDONE, tokens_before=tokens, tokens_after=whole),), whole, news

    def _shrink(self, view: Growing, tokens: int, situation: Situation) -> Prepared:
        """Stages three to five."""
        self._sight.follow(view)
        prepared = self._snip(Prepared(messages=view, tokens=tokens), situation)
        prepared = self._clear(prepared, situation)
        if not situation.collapse:
            return prepared
        if prepared.changes or (situation.is_cold and clearing.is_crowded(prepared.tokens, situation)):
            prepared = join(prepared, self._commit_in_passing(prepared))
        soft_limit = situation.limits.collapse_share * usable_window(situation)
        return join(prepared, self._commit(prepared.messages, prepared.tokens, above=soft_limit, cause="soft_limit"))

    def _commit_in_passing(self, before: Prepared) -> Prepared:
        """The cache is broken anyway: all that waits is free, as far as it does not touch a result that clearing has left."""
        self._sight.follow(Growing.of(before.messages))
        held = self._known.facts.held_by
        first = next((each.message for each in self._sight.shown if each.use.id not in held), "")
        return self._commit(before.messages, before.tokens, above=-math.inf, cause=IN_PASSING, in_use=first)

    def _plan_by_api(self, prepared: Prepared, situation: Situation) -> Clearing | None:
        view = prepared.messages
        unseen = sum(len(message.results) for message in view[count_carried(view) :])
        return clearing.plan_by_api(situation, unseen)

    def _snip(self, before: Prepared, situation: Situation) -> Prepared:
        budget = situation.limits.snip_tokens
        return before if not budget or self._sight.tokens <= budget else self._snip_to(budget, before, "budget")

    def _has_lighter_means(self, view: Growing, situation: Situation) -> bool:
        """There is something to clear, to leave out, or to take out of it."""
        from everturn.context import snip

        self._sight.follow(view)
        return (
            any(not is_refused(piece, view.refused) for message in view for piece in list_pieces(message))
            or bool(clearing.plan_forced_clearing(self._sight, situation, held=self._known.facts.held_by))
            or snip.plan_snip(view, self._sight.tokens // 2, self._own_snips(), most=len(view)) is not None
        )

    def _own_snips(self) -> set[str]:
        from everturn.context import snip

        return {note.id for note in self.collapses.committed if note.stage == snip.STAGE}

    def _snip_to(self, budget: int, before: Prepared, cause: str, *, refused: bool = False) -> Prepared:
        from everturn.context import snip

        view, carried = Growing.of(before.messages), count_carried(before.messages, refused=refused)
        span = snip.plan_snip(view, budget, self._own_snips(), most=len(view) if refused else carried)
        if span is None:
            return before
        stretch = before.messages[slice(*span)]
        count = sum(len(self.collapses.sources(message.id)) for message in stretch)
        unread = note_unread(before.messages[max(carried, span[0]) : span[1]], self._aside)
        text = "\n\n".join(filter(None, (snip.NOTE.format(count=count), unread, self._recall_from(stretch))))
        step = self.collapses.leave_out(before.messages, span, text, stage=snip.STAGE)
        if step is None:
            return before
        smaller, note = step
        return msgspec.structs.replace(shrunk(before, smaller, snip.STAGE, cause), collapses=(*before.collapses, note))

    def _clear(self, before: Prepared, situation: Situation, *, forced: bool = False) -> Prepared:
        view = Growing.of(before.messages)
        self._sight.follow(view)
        held = self._known.facts.held_by
        if forced:
            lines = clearing.plan_forced_clearing(self._sight, situation, held=held)
        else:
            lines = clearing.plan_clearing(self._sight, before.tokens, situation, held=held)
        if not lines:
            return before
        self._cleared |= lines
        messages, cause = clearing.clear_results(view, lines), TOO_LONG if forced else "stale"
        after = shrunk(before, messages, clearing.STAGE, cause)
        return msgspec.structs.replace(after, cleared=ResultsCleared(lines=lines))

    def _commit(
        self, view: View, tokens: int, *, above: float, cause: str, in_use: str = "", refused: bool = False
    ) -> Prepared:
        """Commits staged collapses, oldest first, while the estimate is above a limit."""
        now, committed = tokens, []
        while now > above:
            most = count_carried(view, refused=refused)
            step = self.collapses.commit_oldest(view, self._recall_from, most=most, in_use=in_use)
            if step is None:
                break
            smaller, note = step
            now -= estimate_messages(view) - estimate_messages(smaller)
            view = smaller
            committed.append(note)
        change = Change(stage=COLLAPSE, cause=cause, tokens_before=tokens, tokens_after=now)
        return Prepared(messages=view, collapses=tuple(committed), changes=(change,) if committed else (), tokens=now)

    def _take_surroundings(self, situation: Situation) -> None:
        self._notes, self._changed, self._folder = situation.notes, situation.changed_files, situation.folder

    def _recall_from(self, stretch: View) -> str:
        """What an earlier stage had put back in it is put back again: it is found where it came from."""
        from everturn.context.retention import recall_from

        return recall_from(
            self.collapses.originals(stretch),
            self._known.facts,
            self._notes,
            self._known.calls,
            self._changed,
            folder=self._folder,
        )

    async def _compact_ahead(self, before: Prepared, situation: Situation, ask: Ask) -> Prepared:
        """Stage six, unless there is nothing to sum up, or a count shows that it is not due after all."""
        view = Growing.of(before.messages)
        if not self._can_compact(view) and not plan_fitting(view, before.tokens, situation, refused=False):
            return before
        try:
            counted = await run_count(view, situation) if is_guess(view, situation) else None
            if counted is not None and not is_compaction_due(counted, situation):
                return msgspec.structs.replace(before, tokens=counted)
            before = self._fit_unseen(before, situation, refused=False)
            view = Growing.of(before.messages)
            if not is_compaction_due(before.tokens, situation) or not self._can_compact(view):
                return before
            if not self._is_worth_asking(view):
                return msgspec.structs.replace(before, hopeless=True)
            after = await self._compact(view, before.tokens, situation, ask, cause=AUTO)
        except BaseException:
            # Cut short: nobody learns what was prepared, so the next preparation has to tell it.
            self.collapses.take_back(before.collapses)
            self._take_back_lines(before)
            raise
        return join(before, after)

    def _take_back_lines(self, prepared: Prepared) -> None:
        if prepared.cleared is not None:
            self._cleared = {id_: line for id_, line in self._cleared.items() if id_ not in prepared.cleared.lines}

    def _fit_unseen(self, before: Prepared, situation: Situation, *, refused: bool) -> Prepared:
        """Stage two once more: the window cannot hold what came in last, so its largest results go into files."""
        lines: dict[str, str] = {}
        for block in plan_fitting(before.messages, before.tokens, situation, refused=refused):
            lines |= preview_in_file(block, situation.limits.result_preview, self._aside)
        if not lines:
            return before
        self._cleared |= lines
        after = shrunk(before, clearing.clear_results(before.messages, lines), results.STAGE, NO_ROOM)
        earlier = before.cleared.lines if before.cleared else {}
        return msgspec.structs.replace(after, cleared=ResultsCleared(lines=earlier | lines))

    async def _compact(
        self, view: Growing, tokens: int, situation: Situation, ask: Ask, *, cause: str, instructions: str = ""
    ) -> Prepared:
        """What came in last is made to fit first: a compaction leaves it as it is."""
        fitted = Prepared(messages=view, tokens=tokens)
        if cause == TOO_LONG:
            fitted = self._fit_unseen(fitted, situation, refused=True)
        try:
            after = await self._sum_up(
                Growing.of(fitted.messages), fitted.tokens, situation, ask, cause=cause, instructions=instructions
            )
        except BaseException:
            self._take_back_lines(fitted)
            raise
        if fitted.changes and not after.compacted:
            after = msgspec.structs.replace(after, compacted=True, problem=f"{after.problem} {FILED_INSTEAD}")
        return join(fitted, after)

    async def _sum_up(
        self, view: Growing, tokens: int, situation: Situation, ask: Ask, *, cause: str, instructions: str
    ) -> Prepared:
        """Where there is no summary to be had, or none worth having, the next-lighter means is used."""
        is_last_resort = cause == TOO_LONG and not self._has_lighter_means(view, situation)
        prepared = await self._compactor.run(
            view, tokens, situation, ask, cause=cause, instructions=instructions, is_last_resort=is_last_resort
        )
        if prepared.compacted:
            # What stays word for word goes through the lighter stages, too.
            return join(prepared, self._shrink(Growing(prepared.messages), prepared.tokens, situation))
        lighter = self._clear(Prepared(messages=view, tokens=tokens), situation, forced=True)
        instead = CLEARED_INSTEAD
        if cause == TOO_LONG and (lighter.cleared is None or lighter.tokens > threshold(situation)):
            # Nothing else is left, and a session that cannot go on is worth less than its oldest rounds.
            snipped = self._snip_to(min(self._sight.tokens // 2, threshold(situation)), lighter, STUCK, refused=True)
            lighter, instead = (snipped, SNIPPED_INSTEAD) if snipped.changes != lighter.changes else (lighter, instead)
        if cause == TOO_LONG and not lighter.changes:
            lighter, instead = self._without_media(view, cause), MEDIA_INSTEAD
        if prepared.too_large and cause == TOO_LONG and lighter.tokens > threshold(situation):
            wordless = self._compactor.plan_wordless(Growing.of(lighter.messages), lighter.tokens, situation, cause)
            lighter, instead = (join(lighter, wordless), FACTS_INSTEAD) if wordless is not None else (lighter, instead)
        if not lighter.changes:
            return prepared
        return msgspec.structs.replace(
            lighter, tracking=prepared.tracking, compacted=True, problem=f"{prepared.problem} {instead}"
        )


def join(first: Prepared, then: Prepared) -> Prepared:
    """What two stages did, one after the other; the later one says where it led."""
    lines = {**(first.cleared.lines if first.cleared else {}), **(then.cleared.lines if then.cleared else {})}
    return msgspec.structs.replace(
        then,
        added=first.added + then.added,
        collapses=first.collapses + then.collapses,
        cleared=ResultsCleared(lines=lines) if lines else None,
        facts=then.facts or first.facts,
        restored=then.restored or first.restored,
        changes=first.changes + then.changes,
        tracking=then.tracking if then.compacted or then.problem else first.tracking,
        compacted=first.compacted or then.compacted,
        problem=first.problem or then.problem,
    )


def shrunk(before: Prepared, messages: View, stage: str, cause: str) -> Prepared:
    freed = estimate_messages(before.messages) - estimate_messages(messages)
    after = max(before.tokens - freed, 0)
    change = Change(stage=stage, cause=cause, tokens_before=before.tokens, tokens_after=after)
    return msgspec.structs.replace(before, messages=messages, tokens=after, changes=(*before.changes, change))


def slice_view(messages: Sequence[Message]) -> View:
    """The first stage: only what follows the last boundary."""
    return messages if isinstance(messages, Growing) and not messages.has_boundary else view_of(messages)
