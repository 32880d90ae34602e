"""DrainCollapses: commit every summary that waits, because the API refused the request as too long."""

from everturn.core.outcomes import Drained
from everturn.engine.prepared import apply_prepared
from everturn.engine.turn import Turn


def perform(turn: Turn) -> Drained:
    prepared = turn.parts.deps.pipeline.drain(turn.messages)
    apply_prepared(turn, prepared)
    return Drained(committed=len(prepared.collapses), error=turn.withheld)
