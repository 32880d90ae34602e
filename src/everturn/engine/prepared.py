"""Applies the result of the context pipeline to the transcript, the journal and the turn."""

from contextlib import suppress

import msgspec

from everturn.core.messages import Kind
from everturn.core.records import CompactionTried
from everturn.core.view import View
from everturn.engine.hook_calls import SESSION_START, list_told
from everturn.engine.turn import Turn
from everturn.ports.abort import AbortedError
from everturn.ports.context import Prepared, Tracking
from everturn.ports.hooks import Occasion


def apply_prepared(turn: Turn, prepared: Prepared) -> None:
    recorder = turn.recorder
    if prepared.changes:
        forget_files(turn, prepared)
    if prepared.facts is not None:
        recorder.record(prepared.facts)
    for message in prepared.added:
        recorder.add(message)
    for collapse in prepared.collapses:
        recorder.record(collapse)
    for spilled in prepared.spilled:
        recorder.record(spilled)
    if prepared.cleared is not None:
        recorder.record(prepared.cleared)
    for change in prepared.changes:
        recorder.note_change(change)
    if prepared.changes:
        turn.meter = None
    if any(message.kind is Kind.BOUNDARY for message in prepared.added):
        carry_task_budget(turn)
    turn.messages = View.of(prepared.messages)


def forget_files(turn: Turn, prepared: Prepared) -> None:
    """Forgets which files the model has seen, where their text may have left the context: it must read them again."""
    files = turn.parts.files
    if prepared.only_cleared:
        files.hide()
    else:
        files.clear()
    for path, state in prepared.restored:
        files.remember(path, state)
    if files.has_news:
        # Restored files count as read only if a summary shows them.
        turn.recorder.keep_files(prepared.added[-1].id if prepared.added else "")


def track_compaction(turn: Turn, tracking: Tracking) -> None:
    """Records the state of compactions, so that a resumed session does not retry what failed too often."""
    before, turn.tracking = turn.tracking, tracking
    if (before.failures, before.count) != (tracking.failures, tracking.count):
        turn.recorder.record(CompactionTried(failures=tracking.failures, count=tracking.count, id=tracking.id))


async def hear_compaction(turn: Turn, prepared: Prepared) -> None:
    """Asks SessionStart hooks again after a compaction: they tell the model what it must know.

    After an abort they are not asked: the query ends with its next step.
    """
    hooks = turn.parts.deps.hooks
    if not hooks.hears(SESSION_START) or not any(message.kind is Kind.BOUNDARY for message in prepared.added):
        return
    occasion = Occasion(event=SESSION_START, fields={"source": "compact", "model": turn.agent.model})
    with suppress(AbortedError):
        said = await turn.parts.signal.guard(hooks.ask(occasion))
        for message in turn.parts.attachments.attach_said(list_told(SESSION_START, said)):
            turn.carry(message)


def carry_task_budget(turn: Turn) -> None:
    """Puts what is left of the task budget into later requests: after a compaction the API cannot see what was spent."""
    if (budget := turn.agent.task_budget) is not None:
        left = max(budget.total - turn.parts.deps.ledger.query_output, 0)
        carried = msgspec.structs.replace(budget, remaining=left)
        turn.agent = msgspec.structs.replace(turn.agent, task_budget=carried)
