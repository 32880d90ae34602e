"""What the policy promises, of each single decision and of all together; the exploration holds it to these."""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

from everturn.core.actions import Action, CallModel, CompactNow, DrainCollapses, RunStopPhase, RunTools
from everturn.core.decide import AnyOutcome, Continue, Decision, Do
from everturn.core.limits import Limits
from everturn.core.outcomes import (
    Answered,
    CallsFinished,
    CallsRequested,
    Compacted,
    Drained,
    GoalFailed,
    MediaTooLarge,
    Paused,
    PromptAdmitted,
    StopBlocked,
    StopPassed,
    TooLong,
    Truncated,
)
from everturn.core.state import Guards, Reason, Transition
from everturn.testing.samples import WithGoal

ANSWER = frozenset({"output_recoveries", "max_output_override", "pauses"})
"""What concerns one answer of the model."""
FORGOTTEN: dict[Transition, frozenset[str]] = {
    Transition.NEXT_TURN: ANSWER | {"reactive_compact_tried", "media_drops"},
    Transition.STOP_HOOK_BLOCKING: ANSWER,
    Transition.GOAL_RETRY: ANSWER,
    Transition.TOKEN_BUDGET_CONTINUATION: ANSWER,
}
"""The guards that a transition takes back to their beginning. No other transition takes any guard back."""
PROGRESS: dict[str, Callable[[Guards], int]] = {
    "turn": lambda guards: guards.turn,
    "output_recoveries": lambda guards: guards.output_recoveries,
    "reactive_compact_tried": lambda guards: guards.reactive_compact_tried,
    "media_drops": lambda guards: guards.media_drops,
    "max_output_override": lambda guards: guards.max_output_override or 0,
    "stop_hook_active": lambda guards: guards.stop_hook_active,
    "stop_hook_blocks": lambda guards: guards.stop_hook_blocks,
    "goal_failures": lambda guards: guards.goal_failures,
    "pauses": lambda guards: guards.pauses,
    "work": lambda guards: guards.work.total,
}
"""How far each guard has come."""
START = {name: measure(Guards()) for name, measure in PROGRESS.items()}


def judge_edge(guards: Guards, outcome: AnyOutcome, decision: Decision, limits: Limits) -> Iterator[str]:
    """What is wrong with going on like this."""
    if not has_cause(guards, outcome, decision, limits):
        yield "it has no cause"
    if isinstance(decision, Continue):
        forgotten = FORGOTTEN.get(decision.transition, frozenset())
        if isinstance(outcome, Paused):
            forgotten -= {"pauses"}
        for name, measure in PROGRESS.items():
            before, after = measure(guards), measure(decision.guards)
            if name in forgotten and after != START[name]:
                yield f"{name} is not forgotten"
            if name not in forgotten and after < before:
                yield f"{name} goes back"


def has_cause(guards: Guards, outcome: AnyOutcome, decision: Decision, limits: Limits) -> bool:
    """Going on needs a cause in what just happened; counters are none of this function's business."""
    match decision:
        case Do(action):
            return may_do(action, outcome, limits)
        case Continue(transition):
            return may_continue(transition, guards, outcome, limits)
        case _:
            return True


def may_do(action: Action, outcome: AnyOutcome, limits: Limits) -> bool:
    match action, outcome:
        case (
            (CallModel(), PromptAdmitted(deferred=False))
            | (RunTools(), CallsRequested() | PromptAdmitted(deferred=True))
            | (DrainCollapses(), TooLong(staged=1))
            # The only way into the stop phase: a hook never judges an error.
            | (RunStopPhase(), Answered())
        ):
            return True
        case (CompactNow(media=False), TooLong() | Drained(committed=0)) | (CompactNow(media=True), MediaTooLarge()):
            return limits.reactive_compact
        case _:
            return False


def may_continue(transition: Transition, guards: Guards, outcome: AnyOutcome, limits: Limits) -> bool:
    match transition, outcome:
        case Transition.MAX_OUTPUT_TOKENS_ESCALATE, Truncated(can_grow=True):
            return limits.escalate
        case Transition.TOKEN_BUDGET_CONTINUATION, StopPassed(may_continue=True):
            return limits.work_budget > 0 and not (limits.max_turns and guards.turn >= limits.max_turns)
        case (
            (Transition.NEXT_TURN, CallsFinished(stopped_by_hook=False, deferred=False) | Paused())
            | (Transition.MAX_OUTPUT_TOKENS_RECOVERY, Truncated())
            | (Transition.COLLAPSE_DRAIN_RETRY, Drained(committed=1))
            | (Transition.REACTIVE_COMPACT_RETRY, Compacted(worked=True))
            | (Transition.STOP_HOOK_BLOCKING, StopBlocked())
            | (Transition.GOAL_RETRY, GoalFailed(stuck=False))
        ):
            return True
        case _:
            return False


def expected_transitions(limits: Limits) -> set[Transition]:
    """Under these limits exactly these ways to go on exist."""
    possible = {
        Transition.NEXT_TURN: limits.max_turns != 1,
        Transition.MAX_OUTPUT_TOKENS_ESCALATE: limits.escalate,
        Transition.MAX_OUTPUT_TOKENS_RECOVERY: limits.output_recoveries > 0,
        Transition.REACTIVE_COMPACT_RETRY: limits.reactive_compact,
        Transition.STOP_HOOK_BLOCKING: limits.stop_hook_blocks > 0,
        Transition.GOAL_RETRY: isinstance(limits, WithGoal) and limits.goal_attempts > 1,
        Transition.TOKEN_BUDGET_CONTINUATION: limits.work_budget > 0 and limits.max_turns != 1,
    }
    return {transition for transition in Transition if possible.get(transition, True)}


def expected_reasons(limits: Limits) -> set[Reason]:
    possible = {Reason.MAX_TURNS: limits.max_turns > 0, Reason.GOAL_NOT_MET: isinstance(limits, WithGoal)}
    return {reason for reason in Reason if possible.get(reason, True)}


def allowances(limits: Limits) -> dict[str, int]:
    """How far each counter goes: this far and no further."""
    turns = {"turn": limits.max_turns} if limits.max_turns else {}
    return turns | {
        "output_recoveries": limits.output_recoveries,
        "media_drops": limits.media_drops if limits.reactive_compact else 0,
        "stop_hook_blocks": limits.stop_hook_blocks,
        "goal_failures": limits.goal_attempts - 1 if isinstance(limits, WithGoal) else 0,
        "pauses": min(limits.pauses, limits.max_turns - 1) if limits.max_turns else limits.pauses,
    }


def judge_reach(
    transitions: AbstractSet[Transition], reasons: AbstractSet[Reason], furthest: dict[str, int], limits: Limits
) -> Iterator[str]:
    """Every way to go on and to stop that the limits leave open is reached, and no other."""
    for found, expected in ((transitions, expected_transitions(limits)), (reasons, expected_reasons(limits))):
        yield from (f"{name} is never reached" for name in sorted(expected - found))
        yield from (f"{name} is reached, though the limits rule it out" for name in sorted(found - expected))
    for counter, most in allowances(limits).items():
        if furthest[counter] > most:
            yield f"{counter} passes its limit of {most}"
        if furthest[counter] < most:
            yield f"{counter} stops at {furthest[counter]}, its limit is {most}"
