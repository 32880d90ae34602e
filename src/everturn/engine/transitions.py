"""From one turn to the next: what each transition tells the model, and what is carried over."""

from typing import assert_never

import msgspec

from everturn.core.decide import Continue
from everturn.core.events import Continued, RetractionCause
from everturn.core.records import TransitionTaken
from everturn.core.state import Guards, Transition
from everturn.engine import wording
from everturn.engine.query_parts import QueryParts
from everturn.engine.resumed_session import ask_for_rest
from everturn.engine.state import State
from everturn.engine.turn import Turn


def next_state(turn: Turn, decision: Continue) -> State:
    guards, transition = decision.guards, decision.transition
    record_transition(turn.parts, transition, guards)
    match transition:
        case Transition.NEXT_TURN if guards.pauses and (words := ask_for_rest(turn.messages)):
            turn.say(words)
        case Transition.MAX_OUTPUT_TOKENS_ESCALATE:
            turn.retract(RetractionCause.ESCALATION)
        case Transition.MAX_OUTPUT_TOKENS_RECOVERY:
            turn.commit_truncated()
            turn.say(wording.RESUME)
        case Transition.STOP_HOOK_BLOCKING | Transition.GOAL_RETRY:
            turn.say(*turn.stop_errors)
        case Transition.TOKEN_BUDGET_CONTINUATION:
            turn.say(wording.budget_nudge(guards.work.total * 100 // turn.parts.config.limits.work_budget))
        case Transition.NEXT_TURN | Transition.COLLAPSE_DRAIN_RETRY | Transition.REACTIVE_COMPACT_RETRY:
            # Nothing to tell: the model finds its results, or gets the same request made smaller.
            pass
        case _:
            assert_never(transition)
    turn.recorder.emit(Continued(transition=transition, turn=guards.turn))
    turns_since = turn.tracking.turns_since + (transition is Transition.NEXT_TURN)
    return State(
        messages=turn.messages,
        tool_context=turn.agent,
        guards=guards,
        compaction=msgspec.structs.replace(turn.tracking, turns_since=turns_since),
        meter=turn.meter,
        pending_summary=turn.summaries,
    )


def record_transition(parts: QueryParts, transition: Transition, guards: Guards) -> None:
    parts.recorder.record(
        TransitionTaken(query_id=parts.query_id, transition=transition, turn=guards.turn, guards=guards)
    )
