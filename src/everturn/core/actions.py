"""What the loop can do. Each action answers with exactly one outcome."""

import msgspec


class Action(msgspec.Struct, frozen=True):
    """The root of a closed set."""


class AdmitPrompt(Action, frozen=True):
    """The first of a query: the user's hooks may refuse the prompt, or add to it, before the model sees it."""


class CallModel(Action, frozen=True):
    """Prepare the context, send it, fold the stream. Retry and fallback happen inside."""


class RunTools(Action, frozen=True):
    """Run what the response asked for, or wait for what runs already."""


class DrainCollapses(Action, frozen=True):
    """Commit every staged collapse."""


class CompactNow(Action, frozen=True):
    """Make room because the API refused: by a summary, or by taking media out."""

    media: bool = False
    """Media is what was refused: the piece that the refusal names goes, or the newest where it names none."""
    every: bool = False
    """All media goes: taking out one piece did not help."""


class RunStopPhase(Action, frozen=True):
    """The model stopped by itself: hooks and the rest of the stop phase."""
