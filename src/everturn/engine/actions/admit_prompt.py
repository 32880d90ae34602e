"""AdmitPrompt: the prompt enters the transcript, unless a hook refuses it."""

from everturn.core.outcomes import PromptAdmitted, PromptBlocked
from everturn.core.view import View
from everturn.engine.turn import Turn


async def perform(turn: Turn) -> PromptAdmitted | PromptBlocked:
    problem = await turn.parts.admit()
    if problem is not None:
        return PromptBlocked(error=problem)
    turn.messages = View(turn.recorder.view)
    return PromptAdmitted(deferred=turn.parts.deferred)
