"""Performs whichever action the policy asked for. An abort, a limit and our own errors are outcomes too."""

from everturn.core.actions import Action, AdmitPrompt, CallModel, CompactNow, DrainCollapses, RunStopPhase, RunTools
from everturn.core.decide import AnyOutcome
from everturn.core.errors import ApproverError
from everturn.core.outcomes import Aborted, Failed, LimitReached, Problem
from everturn.core.state import AbortCause, Phase
from everturn.engine.actions import admit_prompt, call_model, compact, drain, run_tools, stop
from everturn.engine.turn import Turn
from everturn.ports.abort import AbortedError


async def perform(turn: Turn, action: Action) -> AnyOutcome:
    """Never raises."""
    phase = Phase.TOOLS if isinstance(action, RunTools) else Phase.STREAMING
    try:
        outcome = await _run(turn, action)
    except AbortedError:
        return _cut_short(turn, phase)
    except ApproverError as error:
        turn.fault = error
        return Failed(error=Problem(text=str(error), by_api=False))
    except Exception as error:  # noqa: BLE001 (the query ends with a reason, whatever happens)
        return Failed(error=Problem(text=f"Everturn failed: {type(error).__name__}: {error}", by_api=False))
    return _cut_short(turn, phase) if turn.parts.signal.raised else outcome


async def _run(turn: Turn, action: Action) -> AnyOutcome:
    guard = turn.parts.signal.guard
    match action:
        case AdmitPrompt():
            return await admit_prompt.perform(turn)
        case CallModel():
            return await guard(call_model.perform(turn))
        case RunTools():
            return await run_tools.perform(turn)
        case DrainCollapses():
            return drain.perform(turn)
        case CompactNow(media=True, every=every):
            return compact.drop_media(turn, every=every)
        case CompactNow():
            return await guard(compact.perform(turn))
        case RunStopPhase():
            return await guard(stop.perform(turn))
        case _:
            raise TypeError(f"no module performs {action!r}")


def _cut_short(turn: Turn, phase: Phase) -> AnyOutcome:
    signal = turn.parts.signal
    if signal.limit is not None:
        which, error = signal.limit
        return LimitReached(which=which, error=error)
    return Aborted(cause=signal.cause or AbortCause.USER, phase=phase)
