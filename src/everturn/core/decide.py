"""The policy: after each outcome, go on or stop. No I/O, no clock, no randomness."""

from typing import assert_never

import msgspec

from everturn.core.actions import Action, CallModel, CompactNow, DrainCollapses, RunStopPhase, RunTools
from everturn.core.budget import WorkBudget, WorkVerdict, judge_work
from everturn.core.limits import Limits
from everturn.core.outcomes import (
    Aborted,
    Answered,
    CallsFinished,
    CallsRequested,
    Compacted,
    Drained,
    Failed,
    GoalFailed,
    LimitReached,
    MediaTooLarge,
    NoRoom,
    Outcome,
    Paused,
    Problem,
    PromptAdmitted,
    PromptBlocked,
    Refused,
    StopBlocked,
    StopPassed,
    StopPrevented,
    TooLong,
    Truncated,
)
from everturn.core.state import Guards, Phase, Reason, Transition

AnyOutcome = (
    PromptAdmitted
    | PromptBlocked
    | CallsRequested
    | Answered
    | Truncated
    | TooLong
    | MediaTooLarge
    | Failed
    | Refused
    | Paused
    | NoRoom
    | CallsFinished
    | Drained
    | Compacted
    | StopPassed
    | StopBlocked
    | StopPrevented
    | GoalFailed
    | Aborted
    | LimitReached
)


class Do(msgspec.Struct, frozen=True):
    """Stay in the turn: the action's outcome is decided on again."""

    action: Action


class Continue(msgspec.Struct, frozen=True):
    """Begin the next turn, or the same one again, with these guards."""

    transition: Transition
    guards: Guards


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    reason: Reason
    release: Problem | None = None
    """The error that was withheld, to be shown now."""
    overridden: bool = False
    """Stop hooks wanted to go on, but had blocked as often as they may."""
    work: WorkVerdict | None = None
    """How the work budget ended, where one was set."""


Decision = Do | Continue | Terminal


def decide(guards: Guards, outcome: AnyOutcome, limits: Limits) -> Decision:
    match outcome:
        case Aborted(phase=phase):
            return Terminal(reason=Reason.ABORTED_TOOLS if phase is Phase.TOOLS else Reason.ABORTED_STREAMING)
        case LimitReached(which=which, error=error):
            return Terminal(reason=which, release=error)

        case PromptAdmitted(deferred=True):
            return Do(RunTools())
        case PromptAdmitted():
            return Do(CallModel())
        case PromptBlocked(error=error):
            return Terminal(reason=Reason.PROMPT_BLOCKED, release=error)

        case CallsRequested():
            return Do(RunTools())
        case CallsFinished(stopped_by_hook=True):
            return Terminal(reason=Reason.HOOK_STOPPED)
        case CallsFinished(deferred=True):
            return Terminal(reason=Reason.TOOL_DEFERRED)
        case CallsFinished():
            return next_turn(guards, limits, pauses=0)
        case Paused(error=error) if guards.pauses >= limits.pauses:
            return Terminal(reason=Reason.MODEL_ERROR, release=error)
        case Paused():
            return next_turn(guards, limits, pauses=guards.pauses + 1)

        case Truncated(can_grow=True) if limits.escalate and guards.max_output_override is None:
            return go_on(guards, Transition.MAX_OUTPUT_TOKENS_ESCALATE, max_output_override=limits.output_cap_escalated)
        case Truncated() if guards.output_recoveries < limits.output_recoveries:
            resumed = guards.output_recoveries + 1
            return go_on(guards, Transition.MAX_OUTPUT_TOKENS_RECOVERY, output_recoveries=resumed)
        case Truncated(error=error):
            return Terminal(reason=Reason.COMPLETED, release=error)

        case TooLong(staged=staged) if staged and guards.transition is not Transition.COLLAPSE_DRAIN_RETRY:
            return Do(DrainCollapses())
        case Drained(committed=committed) if committed:
            return go_on(guards, Transition.COLLAPSE_DRAIN_RETRY)
        case TooLong() | Drained() if limits.reactive_compact and not guards.reactive_compact_tried:
            return Do(CompactNow())
        case MediaTooLarge() if limits.reactive_compact and guards.media_drops < limits.media_drops:
            return Do(CompactNow(media=True, every=guards.media_drops + 1 >= limits.media_drops))
        case Compacted(worked=True, media=True):
            return go_on(guards, Transition.REACTIVE_COMPACT_RETRY, media_drops=guards.media_drops + 1)
        case Compacted(worked=True):
            return go_on(guards, Transition.REACTIVE_COMPACT_RETRY, reactive_compact_tried=True)
        case MediaTooLarge(error=error) | Compacted(media=True, error=error):
            return Terminal(reason=Reason.IMAGE_ERROR, release=error)
        case TooLong(error=error) | Drained(error=error) | Compacted(error=error):
            # No stop phase here: the model said nothing that a hook could judge, and a veto would bring us back.
            return Terminal(reason=Reason.PROMPT_TOO_LONG, release=error)
        case NoRoom(error=error):
            return Terminal(reason=Reason.BLOCKING_LIMIT, release=error)
        case Failed(error=error) | Refused(error=error):
            return Terminal(reason=Reason.MODEL_ERROR, release=error)

        case Answered():
            return Do(RunStopPhase())
        case StopPrevented():
            return Terminal(reason=Reason.STOP_HOOK_PREVENTED)
        case StopBlocked() if guards.stop_hook_blocks < limits.stop_hook_blocks:
            return fresh_start(
                guards,
                Transition.STOP_HOOK_BLOCKING,
                stop_hook_active=True,
                stop_hook_blocks=guards.stop_hook_blocks + 1,
            )
        case StopBlocked(unfit=Problem() as error):
            return Terminal(reason=Reason.STRUCTURED_OUTPUT_RETRIES, release=error)
        case StopBlocked():
            return Terminal(reason=Reason.COMPLETED, overridden=True)
        case GoalFailed(stuck=False) if guards.goal_failures + 1 < limits.goal_attempts:
            return fresh_start(guards, Transition.GOAL_RETRY, goal_failures=guards.goal_failures + 1)
        case GoalFailed(error=error):
            return Terminal(reason=Reason.GOAL_NOT_MET, release=error)
        case StopPassed(spent=spent, may_continue=True) if verdict := judge_query_work(guards, spent, limits):
            if verdict.go_on:
                return fresh_start(guards, Transition.TOKEN_BUDGET_CONTINUATION, work=verdict.work)
            return Terminal(reason=Reason.COMPLETED, work=verdict)
        case StopPassed():
            return Terminal(reason=Reason.COMPLETED)

        case _:
            assert_never(outcome)


def judge_query_work(guards: Guards, spent: int, limits: Limits) -> WorkVerdict | None:
    """None where no work budget is set."""
    if limits.work_budget <= 0:
        return None
    verdict = judge_work(
        guards.work,
        spent=spent,
        budget=limits.work_budget,
        threshold=limits.work_threshold,
        min_gain=limits.work_min_gain,
        min_continuations=limits.work_min_continuations,
    )
    if limits.max_turns and guards.turn >= limits.max_turns:
        work = msgspec.structs.replace(verdict.work, continuations=guards.work.continuations)
        return msgspec.structs.replace(verdict, go_on=False, work=work)
    return verdict


def next_turn(guards: Guards, limits: Limits, *, pauses: int) -> Decision:
    if limits.max_turns and guards.turn >= limits.max_turns:
        error = Problem(text=f"Reached the limit of turns ({limits.max_turns}).", kind="max_turns", by_api=False)
        return Terminal(reason=Reason.MAX_TURNS, release=error)
    return go_on(
        guards,
        Transition.NEXT_TURN,
        output_recoveries=0,
        reactive_compact_tried=False,
        media_drops=0,
        max_output_override=None,
        pauses=pauses,
        turn=guards.turn + 1,
    )


def fresh_start(guards: Guards, transition: Transition, **changes: bool | int | WorkBudget) -> Continue:
    """The model stopped and is sent on: counters about the answer before are reset, the compaction guard is not."""
    return go_on(guards, transition, output_recoveries=0, max_output_override=None, pauses=0, **changes)


def go_on(guards: Guards, transition: Transition, **changes: bool | int | WorkBudget | None) -> Continue:
    return Continue(transition, msgspec.structs.replace(guards, transition=transition, **changes))


def members(root: type[Outcome] | type[Action]) -> tuple[type, ...]:
    """Every class of a closed set, found by reflection; the exploration walks all of them."""
    return tuple(sorted(root.__subclasses__(), key=lambda member: member.__name__))
