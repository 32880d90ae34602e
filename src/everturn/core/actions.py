"""What the loop can do. Each action answers with exactly one outcome."""

import msgspec


class Action(msgspec.Struct, frozen=True):
    """The root of a closed set."""


class CallModel(Action, frozen=True):
    """Prepare the context, send it, fold the stream. Retry and fallback happen inside."""


class RunTools(Action, frozen=True):
    """Run what the response asked for, or wait for what runs already."""


class DrainCollapses(Action, frozen=True):
    """Commit every staged collapse."""


class CompactNow(Action, frozen=True):
    """Summarise because the API refused; `media` = take media out instead of text."""

    media: bool = False


class RunStopPhase(Action, frozen=True):
    """The model stopped by itself: hooks and the rest of the stop phase."""
