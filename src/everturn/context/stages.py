"""The cheap stages of the context pipeline. Each takes what the one before prepared, and gives it on; what they share is one value.

What is decided in a stage is planned by the pure functions of the file with its name.
"""

import math
from typing import Protocol

import msgspec

from everturn.context import clear, results
from everturn.context.accounting import (
    estimate_messages,
    threshold,
    usable_window,
)
from everturn.context.carried import count_carried, note_unread, plan_fitting, preview_in_file
from everturn.context.collapse import STAGE as COLLAPSE
from everturn.context.collapse import View
from everturn.context.context_state import ContextState
from everturn.core.records import CollapseNoted, ResultsCleared
from everturn.core.view import View as Growing
from everturn.ports.ask import Ask
from everturn.ports.context import Change, Prepared, Situation

AUTO, TOO_LONG = "auto", "too_long"
STUCK = "no_summary"
IN_PASSING = "in_passing"
UNDONE = "undone"
NO_ROOM = "no_room"


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """What the stages are asked to do."""

    situation: Situation
    ask: Ask
    cause: str = AUTO
    """Cause of the compaction."""
    instructions: str = ""
    """Instructions of the user for the summary."""


class Stage(Protocol):
    async def prepare(self, before: Prepared, demand: Demand) -> Prepared:
        """Prepares the view before a model call. Returns `before` itself where there is nothing to do."""
        ...


class Boundary:
    """Stage one: the view after the last compaction, with earlier decisions applied and undone ones taken back."""

    def __init__(self, state: ContextState) -> None:
        self._state = state

    async def prepare(self, before: Prepared, demand: Demand) -> Prepared:
        state, situation = self._state, demand.situation
        view = state.see(before.messages)
        news, tokens = state.collapses.take_news(), state.estimate(view, situation)
        changes: tuple[Change, ...] = ()
        if any(map(state.collapses.is_back, news)):
            # The last count was of a summary; its messages are sent again now.
            whole = state.scale(situation).apply(situation.fixed_tokens + state.view_index.tokens)
            changes = (Change(stage=COLLAPSE, cause=UNDONE, tokens_before=tokens, tokens_after=whole),)
            tokens = whole
        return msgspec.structs.replace(before, messages=view, tokens=tokens, collapses=news, changes=changes)


class ToolResults:
    """Stage two: results are fitted when they come in (`results.fit_results`), so nothing is left to do ahead of a call."""

    def __init__(self, state: ContextState) -> None:
        self._state = state

    async def prepare(self, before: Prepared, demand: Demand) -> Prepared:  # noqa: ARG002 (as every stage)
        return before

    def fit_unseen(self, before: Prepared, situation: Situation, *, refused: bool) -> Prepared:
        """Puts the largest of the latest results into files, because the window cannot hold them."""
        lines: dict[str, str] = {}
        for block in plan_fitting(before.messages, before.tokens, situation, refused=refused):
            lines |= preview_in_file(block, situation.limits.result_preview, self._state.aside)
        if not lines:
            return before
        self._state.cleared |= lines
        after = shrunk(before, clear.clear_results(before.messages, lines), results.STAGE, NO_ROOM)
        earlier = before.cleared.lines if before.cleared else {}
        return msgspec.structs.replace(after, cleared=ResultsCleared(lines=earlier | lines))


class Snip:
    """Stage three: above the user's budget the oldest finished rounds are left out."""

    def __init__(self, state: ContextState) -> None:
        self._state = state

    async def prepare(self, before: Prepared, demand: Demand) -> Prepared:
        budget = demand.situation.limits.snip_tokens
        if not budget:
            return before
        self._state.view_index.follow(Growing.of(before.messages))
        return before if self._state.view_index.tokens <= budget else self._snip_to(budget, before, "budget")

    def force(self, before: Prepared, situation: Situation) -> Prepared:
        """Snips without a budget, when nothing else helps."""
        return self._snip_to(min(self._state.view_index.tokens // 2, threshold(situation)), before, STUCK, refused=True)

    def could_force(self, view: Growing) -> bool:
        from everturn.context import snip

        return snip.plan_snip(view, self._state.view_index.tokens // 2, self._own(), most=len(view)) is not None

    def _own(self) -> set[str]:
        from everturn.context import snip

        return {note.id for note in self._state.collapses.committed if note.stage == snip.STAGE}

    def _snip_to(self, budget: int, before: Prepared, cause: str, *, refused: bool = False) -> Prepared:
        from everturn.context import snip

        state, view, carried = self._state, Growing.of(before.messages), count_carried(before.messages, refused=refused)
        span = snip.plan_snip(view, budget, self._own(), most=len(view) if refused else carried)
        if span is None:
            return before
        stretch = before.messages[slice(*span)]
        count = sum(len(state.collapses.sources(message.id)) for message in stretch)
        unread = note_unread(before.messages[max(carried, span[0]) : span[1]], state.aside)
        text = "\n\n".join(filter(None, (snip.NOTE.format(count=count), unread, state.recall_from(stretch))))
        step = state.collapses.leave_out(before.messages, span, text, stage=snip.STAGE)
        if step is None:
            return before
        smaller, note = step
        return msgspec.structs.replace(shrunk(before, smaller, snip.STAGE, cause), collapses=(*before.collapses, note))


class Clear:
    """Stage four, microcompact: stale results of tools that can be run again give way to a line."""

    def __init__(self, state: ContextState) -> None:
        self._state = state

    async def prepare(self, before: Prepared, demand: Demand) -> Prepared:
        state, view = self._state, Growing.of(before.messages)
        state.view_index.follow(view)
        held = state.tracker.facts.held_by
        lines = clear.plan_clearing(state.view_index, before.tokens, demand.situation, held=held)
        return self._replace(before, view, lines, "stale")

    def force(self, before: Prepared, situation: Situation) -> Prepared:
        view = Growing.of(before.messages)
        return self._replace(before, view, self._plan_forced(view, situation), TOO_LONG)

    def could_force(self, view: Growing, situation: Situation) -> bool:
        return bool(self._plan_forced(view, situation))

    def _plan_forced(self, view: Growing, situation: Situation) -> dict[str, str]:
        self._state.view_index.follow(view)
        return clear.plan_forced_clearing(self._state.view_index, situation, held=self._state.tracker.facts.held_by)

    def _replace(self, before: Prepared, view: Growing, lines: dict[str, str], cause: str) -> Prepared:
        if not lines:
            return before
        self._state.cleared |= lines
        after = shrunk(before, clear.clear_results(view, lines), clear.STAGE, cause)
        return msgspec.structs.replace(after, cleared=ResultsCleared(lines=lines))


class Collapse:
    """Stage five: summaries that wait stand in for their stretches, where the cache is broken anyway or above the soft limit."""

    def __init__(self, state: ContextState) -> None:
        self._state = state

    async def prepare(self, before: Prepared, demand: Demand) -> Prepared:
        situation, prepared = demand.situation, before
        if situation.collapse:
            # What a person undid was not done by the stages before.
            changed = any(change.cause != UNDONE for change in before.changes)
            if changed or (situation.is_cold and clear.is_crowded(before.tokens, situation)):
                prepared = join(prepared, self._commit_in_passing(prepared))
            soft_limit = situation.limits.collapse_share * usable_window(situation)
            if prepared.tokens > soft_limit and self._state.collapses.staged:
                now = self.commit(prepared.messages, prepared.tokens, above=soft_limit, cause="soft_limit")
                prepared = join(prepared, now)
        return msgspec.structs.replace(prepared, collapses=keep_latest(prepared.collapses))

    def _commit_in_passing(self, before: Prepared) -> Prepared:
        """Commits staged summaries, because the cache breaks anyway, up to the first result that clearing has left."""
        state = self._state
        state.view_index.follow(Growing.of(before.messages))
        held = state.tracker.facts.held_by
        first = next((each.message for each in state.view_index.shown if each.use.id not in held), "")
        return self.commit(before.messages, before.tokens, above=-math.inf, cause=IN_PASSING, in_use=first)

    def commit(
        self, view: View, tokens: int, *, above: float, cause: str, in_use: str = "", refused: bool = False
    ) -> Prepared:
        """Commits staged collapses, oldest first, while the estimate is above a limit."""
        state, now, committed = self._state, tokens, []
        while now > above:
            most = count_carried(view, refused=refused)
            step = state.collapses.commit_oldest(view, state.recall_from, most=most, in_use=in_use)
            if step is None:
                break
            smaller, note = step
            now -= estimate_messages(view) - estimate_messages(smaller)
            view = smaller
            committed.append(note)
        change = Change(stage=COLLAPSE, cause=cause, tokens_before=tokens, tokens_after=now)
        return Prepared(messages=view, collapses=tuple(committed), changes=(change,) if committed else (), tokens=now)


def keep_latest(notes: tuple[CollapseNoted, ...]) -> tuple[CollapseNoted, ...]:
    """The last record of each collapse: a record holds the whole state."""
    if len(notes) < 2:  # noqa: PLR2004 (nothing can be there twice)
        return notes
    last = {note.id: place for place, note in enumerate(notes)}
    return tuple(note for place, note in enumerate(notes) if last[note.id] == place)


def join(first: Prepared, then: Prepared) -> Prepared:
    """The changes of two stages, one after the other; view and size are those of the later one."""
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
