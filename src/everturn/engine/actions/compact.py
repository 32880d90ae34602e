"""CompactNow: make room after a refusal, by a summary or by taking refused media out."""

from everturn.core.events import Level
from everturn.core.outcomes import Compacted
from everturn.engine.prepared import apply_prepared, hear_compaction, track_compaction
from everturn.engine.turn import Turn
from everturn.ports.context import Prepared


async def perform(turn: Turn) -> Compacted:
    prepared = await compact(turn, cause="too_long")
    await hear_compaction(turn, prepared)
    if prepared.compacted and prepared.problem:
        turn.notice(f"Compaction did not work: {prepared.problem}", Level.WARNING)
    return Compacted(worked=prepared.compacted, media=False, error=turn.withheld)


async def compact(turn: Turn, *, cause: str, instructions: str = "") -> Prepared:
    """Summarises the conversation; also used by `/compact` between two prompts."""
    try:
        prepared = await turn.parts.deps.pipeline.compact(
            turn.messages, turn.situation(), turn.asker(), cause=cause, instructions=instructions
        )
        track_compaction(turn, prepared.tracking)
        apply_prepared(turn, prepared)
    finally:
        turn.end_compaction()
    return prepared


def drop_media(turn: Turn, *, every: bool) -> Compacted:
    """Replaces the media that the refusal names, or the newest, by a text in the view."""
    drop = turn.parts.deps.pipeline.drop_media
    prepared = drop(turn.messages, turn.blamed, every=every, said=turn.withheld.text)
    apply_prepared(turn, prepared)
    return Compacted(worked=prepared.compacted, media=True, error=turn.withheld)
