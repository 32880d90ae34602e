"""The policy as a table of (guards, outcome) → decision, and the proof that the walk and this table miss nothing."""

from collections.abc import Callable
from typing import NamedTuple, get_args

import msgspec
import pytest
from development.mutants import generate_mutants

from everturn.core.actions import CallModel, CompactNow, DrainCollapses, RunStopPhase, RunTools
from everturn.core.budget import WorkBudget, WorkVerdict
from everturn.core.decide import AnyOutcome, Continue, Decision, Do, Terminal, decide, members
from everturn.core.limits import Limits
from everturn.core.outcomes import (
    LEDGER_REASONS,
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
from everturn.core.state import AbortCause, Guards, Phase, Reason, Transition
from everturn.testing.explore import explore
from everturn.testing.samples import WithGoal

change = msgspec.structs.replace
ERROR = Problem(text="It went wrong.", kind="some_kind", status=400)
START = Guards()
FAR = Guards(
    turn=5,
    output_recoveries=2,
    reactive_compact_tried=True,
    media_drops=1,
    max_output_override=32_000,
    stop_hook_active=True,
    stop_hook_blocks=3,
    goal_failures=5,
    pauses=4,
    work=WorkBudget(continuations=2, last_gain=700, total=1_000),
    transition=Transition.MAX_OUTPUT_TOKENS_RECOVERY,
)
"""A query that has been through everything: what a transition resets or keeps shows in it."""
DRAINED = Guards(transition=Transition.COLLAPSE_DRAIN_RETRY)
TRIED = Guards(reactive_compact_tried=True)
USUAL = Limits()
WORK = Limits(work_budget=10_000)
THREE_TURNS = Limits(max_turns=3)


class Case(NamedTuple):
    says: str
    guards: Guards
    outcome: AnyOutcome
    decision: Decision
    limits: Limits = USUAL


def stop(reason: Reason, *, release: Problem | None = ERROR, overridden: bool = False) -> Terminal:
    return Terminal(reason=reason, release=release, overridden=overridden)


def end(reason: Reason) -> Terminal:
    return Terminal(reason=reason)


def go(transition: Transition, guards: Guards) -> Continue:
    return Continue(transition, change(guards, transition=transition))


def work_end(*, diminishing: bool, percent: int, continuations: int, last_gain: int, total: int) -> Terminal:
    work = WorkBudget(continuations=continuations, last_gain=last_gain, total=total)
    return Terminal(
        reason=Reason.COMPLETED, work=WorkVerdict(go_on=False, diminishing=diminishing, percent=percent, work=work)
    )


TURNS_USED = stop(
    Reason.MAX_TURNS,
    release=Problem(text="Reached the limit of turns (3).", kind="max_turns", by_api=False),
)
BUSY = WorkBudget(continuations=3, last_gain=499, total=2_000)

CASES = [
    Case(
        "an abort while streaming",
        FAR,
        Aborted(cause=AbortCause.USER, phase=Phase.STREAMING),
        end(Reason.ABORTED_STREAMING),
    ),
    Case("an abort while tools run", FAR, Aborted(cause=AbortCause.USER, phase=Phase.TOOLS), end(Reason.ABORTED_TOOLS)),
    *(
        Case(f"the ledger's {which}", FAR, LimitReached(which=which, error=ERROR), stop(which))
        for which in LEDGER_REASONS
    ),
    Case("calls are run", FAR, CallsRequested(), Do(RunTools())),
    Case("a prompt that no hook refused", START, PromptAdmitted(), Do(CallModel())),
    Case("a call that was put off runs now", START, PromptAdmitted(deferred=True), Do(RunTools())),
    Case("a prompt that a hook refused", START, PromptBlocked(error=ERROR), stop(Reason.PROMPT_BLOCKED)),
    Case("a call that a hook deferred", FAR, CallsFinished(deferred=True), end(Reason.TOOL_DEFERRED)),
    Case(
        "a hook's stop beside a call that was put off",
        FAR,
        CallsFinished(stopped_by_hook=True, deferred=True),
        end(Reason.HOOK_STOPPED),
    ),
    Case("a post-tool hook's stop", FAR, CallsFinished(stopped_by_hook=True), end(Reason.HOOK_STOPPED)),
    Case(
        "a hook's stop beats the turn limit",
        Guards(turn=3),
        CallsFinished(stopped_by_hook=True),
        end(Reason.HOOK_STOPPED),
        THREE_TURNS,
    ),
    Case("no turn limit", Guards(turn=1_000), CallsFinished(), go(Transition.NEXT_TURN, Guards(turn=1_001))),
    Case(
        "a turn below the limit", Guards(turn=2), CallsFinished(), go(Transition.NEXT_TURN, Guards(turn=3)), THREE_TURNS
    ),
    Case("the last turn's calls", Guards(turn=3), CallsFinished(), TURNS_USED, THREE_TURNS),
    Case("a pause in the last turn", Guards(turn=3), Paused(error=ERROR), TURNS_USED, THREE_TURNS),
    Case("the tenth pause", Guards(pauses=9), Paused(error=ERROR), go(Transition.NEXT_TURN, Guards(pauses=10, turn=2))),
    Case("the eleventh pause", Guards(pauses=10), Paused(error=ERROR), stop(Reason.MODEL_ERROR)),
    Case(
        "too many pauses beat the turn limit",
        Guards(pauses=10, turn=3),
        Paused(error=ERROR),
        stop(Reason.MODEL_ERROR),
        THREE_TURNS,
    ),
    Case(
        "truncated, with room above",
        START,
        Truncated(can_grow=True, error=ERROR),
        go(Transition.MAX_OUTPUT_TOKENS_ESCALATE, Guards(max_output_override=64_000)),
    ),
    Case(
        "truncated, no room above",
        START,
        Truncated(can_grow=False, error=ERROR),
        go(Transition.MAX_OUTPUT_TOKENS_RECOVERY, Guards(output_recoveries=1)),
    ),
    Case(
        "truncated under an override",
        Guards(max_output_override=64_000),
        Truncated(can_grow=True, error=ERROR),
        go(Transition.MAX_OUTPUT_TOKENS_RECOVERY, Guards(max_output_override=64_000, output_recoveries=1)),
    ),
    Case(
        "truncated, escalation off",
        START,
        Truncated(can_grow=True, error=ERROR),
        go(Transition.MAX_OUTPUT_TOKENS_RECOVERY, Guards(output_recoveries=1)),
        Limits(escalate=False),
    ),
    Case(
        "truncated for the last resume",
        Guards(output_recoveries=2),
        Truncated(can_grow=False, error=ERROR),
        go(Transition.MAX_OUTPUT_TOKENS_RECOVERY, Guards(output_recoveries=3)),
    ),
    Case(
        "truncated, all resumes used",
        Guards(output_recoveries=3),
        Truncated(can_grow=False, error=ERROR),
        stop(Reason.COMPLETED),
    ),
    Case("too long, collapses staged", START, TooLong(staged=2, error=ERROR), Do(DrainCollapses())),
    Case("too long, collapses staged, compaction tried", TRIED, TooLong(staged=2, error=ERROR), Do(DrainCollapses())),
    Case("too long again after a drain", DRAINED, TooLong(staged=2, error=ERROR), Do(CompactNow())),
    Case("too long, nothing staged", START, TooLong(staged=0, error=ERROR), Do(CompactNow())),
    Case("too long after compaction", TRIED, TooLong(staged=0, error=ERROR), stop(Reason.PROMPT_TOO_LONG)),
    Case(
        "too long after drain and compaction",
        change(TRIED, transition=Transition.COLLAPSE_DRAIN_RETRY),
        TooLong(staged=2, error=ERROR),
        stop(Reason.PROMPT_TOO_LONG),
    ),
    Case(
        "too long, compaction off",
        START,
        TooLong(staged=0, error=ERROR),
        stop(Reason.PROMPT_TOO_LONG),
        Limits(reactive_compact=False),
    ),
    Case("drained", START, Drained(committed=3, error=ERROR), go(Transition.COLLAPSE_DRAIN_RETRY, START)),
    Case("drained nothing", START, Drained(committed=0, error=ERROR), Do(CompactNow())),
    Case("drained nothing, compaction tried", TRIED, Drained(committed=0, error=ERROR), stop(Reason.PROMPT_TOO_LONG)),
    Case(
        "drained nothing, compaction off",
        START,
        Drained(committed=0, error=ERROR),
        stop(Reason.PROMPT_TOO_LONG),
        Limits(reactive_compact=False),
    ),
    Case("media too large", START, MediaTooLarge(error=ERROR), Do(CompactNow(media=True))),
    Case("media too large again", Guards(media_drops=1), MediaTooLarge(error=ERROR), Do(CompactNow(media=True))),
    Case(
        "media too large for the third time",
        Guards(media_drops=2),
        MediaTooLarge(error=ERROR),
        Do(CompactNow(media=True, every=True)),
    ),
    Case(
        "media too large although all is gone",
        Guards(media_drops=3),
        MediaTooLarge(error=ERROR),
        stop(Reason.IMAGE_ERROR),
    ),
    Case("media too large after compaction", TRIED, MediaTooLarge(error=ERROR), Do(CompactNow(media=True))),
    Case(
        "media too large, compaction off",
        START,
        MediaTooLarge(error=ERROR),
        stop(Reason.IMAGE_ERROR),
        Limits(reactive_compact=False),
    ),
    Case(
        "media taken out",
        START,
        Compacted(worked=True, media=True, error=ERROR),
        go(Transition.REACTIVE_COMPACT_RETRY, Guards(media_drops=1)),
    ),
    Case("media stayed", START, Compacted(worked=False, media=True, error=ERROR), stop(Reason.IMAGE_ERROR)),
    Case("compaction failed", START, Compacted(worked=False, media=False, error=ERROR), stop(Reason.PROMPT_TOO_LONG)),
    Case("no room", FAR, NoRoom(error=ERROR), stop(Reason.BLOCKING_LIMIT)),
    Case("the call failed", FAR, Failed(error=ERROR), stop(Reason.MODEL_ERROR)),
    Case("the model refused", FAR, Refused(error=ERROR), stop(Reason.MODEL_ERROR)),
    Case("an answer goes to the stop phase", FAR, Answered(), Do(RunStopPhase())),
    Case("a stop hook forbade going on", FAR, StopPrevented(), end(Reason.STOP_HOOK_PREVENTED)),
    Case(
        "the eighth block",
        Guards(stop_hook_blocks=7, stop_hook_active=True),
        StopBlocked(),
        go(Transition.STOP_HOOK_BLOCKING, Guards(stop_hook_blocks=8, stop_hook_active=True)),
    ),
    Case(
        "the ninth block is overridden",
        Guards(stop_hook_blocks=8, stop_hook_active=True),
        StopBlocked(),
        stop(Reason.COMPLETED, release=None, overridden=True),
    ),
    Case(
        "an answer that does not fit is never overridden into a success",
        Guards(stop_hook_blocks=8, stop_hook_active=True),
        StopBlocked(unfit=ERROR),
        stop(Reason.STRUCTURED_OUTPUT_RETRIES, release=ERROR),
    ),
    Case(
        "a goal whose command failed",
        START,
        GoalFailed(stuck=False, error=ERROR),
        go(Transition.GOAL_RETRY, Guards(goal_failures=1)),
    ),
    Case("a goal that is stuck", START, GoalFailed(stuck=True, error=ERROR), stop(Reason.GOAL_NOT_MET)),
    Case(
        "the nineteenth failure",
        Guards(goal_failures=18),
        GoalFailed(stuck=False, error=ERROR),
        go(Transition.GOAL_RETRY, Guards(goal_failures=19)),
    ),
    Case(
        "the twentieth failure",
        Guards(goal_failures=19),
        GoalFailed(stuck=False, error=ERROR),
        stop(Reason.GOAL_NOT_MET),
    ),
    Case("the stop phase passed", FAR, StopPassed(spent=5, may_continue=True), end(Reason.COMPLETED)),
    Case(
        "a negative work budget is off",
        START,
        StopPassed(may_continue=True),
        end(Reason.COMPLETED),
        Limits(work_budget=-1),
    ),
    Case("a budget does not drive subagents", START, StopPassed(spent=5), end(Reason.COMPLETED), WORK),
    Case(
        "work goes on",
        START,
        StopPassed(spent=5, may_continue=True),
        go(Transition.TOKEN_BUDGET_CONTINUATION, Guards(work=WorkBudget(continuations=1, last_gain=5, total=5))),
        WORK,
    ),
    Case(
        "just under the threshold",
        START,
        StopPassed(spent=8_999, may_continue=True),
        go(
            Transition.TOKEN_BUDGET_CONTINUATION, Guards(work=WorkBudget(continuations=1, last_gain=8_999, total=8_999))
        ),
        WORK,
    ),
    Case(
        "at the threshold",
        START,
        StopPassed(spent=9_000, may_continue=True),
        work_end(diminishing=False, percent=90, continuations=0, last_gain=9_000, total=9_000),
        WORK,
    ),
    Case(
        "two small gains after three continuations",
        Guards(work=BUSY),
        StopPassed(spent=2_499, may_continue=True),
        work_end(diminishing=True, percent=24, continuations=3, last_gain=499, total=2_499),
        WORK,
    ),
    Case(
        "two small gains after two continuations",
        Guards(work=change(BUSY, continuations=2)),
        StopPassed(spent=2_499, may_continue=True),
        go(Transition.TOKEN_BUDGET_CONTINUATION, Guards(work=WorkBudget(continuations=3, last_gain=499, total=2_499))),
        WORK,
    ),
    Case(
        "a small gain and one that is just work",
        Guards(work=BUSY),
        StopPassed(spent=2_500, may_continue=True),
        go(Transition.TOKEN_BUDGET_CONTINUATION, Guards(work=WorkBudget(continuations=4, last_gain=500, total=2_500))),
        WORK,
    ),
    Case(
        "just work and a small gain",
        Guards(work=change(BUSY, last_gain=500)),
        StopPassed(spent=2_000, may_continue=True),
        go(Transition.TOKEN_BUDGET_CONTINUATION, Guards(work=WorkBudget(continuations=4, last_gain=0, total=2_000))),
        WORK,
    ),
    Case(
        "the turn limit ends the work",
        Guards(turn=3),
        StopPassed(spent=5, may_continue=True),
        Terminal(
            reason=Reason.COMPLETED,
            work=WorkVerdict(
                go_on=False, diminishing=False, percent=0, work=WorkBudget(continuations=0, last_gain=5, total=5)
            ),
        ),
        Limits(work_budget=10_000, max_turns=3),
    ),
]

FORGET = {"output_recoveries": 0, "max_output_override": None, "pauses": 0}
RESETS = [
    Case(
        "next_turn",
        FAR,
        CallsFinished(),
        go(Transition.NEXT_TURN, change(FAR, **FORGET, reactive_compact_tried=False, media_drops=0, turn=6)),
    ),
    Case(
        "next_turn after a pause",
        FAR,
        Paused(error=ERROR),
        go(
            Transition.NEXT_TURN,
            change(FAR, **FORGET | {"pauses": 5}, reactive_compact_tried=False, media_drops=0, turn=6),
        ),
    ),
    Case(
        "escalate",
        change(FAR, max_output_override=None),
        Truncated(can_grow=True, error=ERROR),
        go(Transition.MAX_OUTPUT_TOKENS_ESCALATE, change(FAR, max_output_override=64_000)),
    ),
    Case(
        "recovery",
        FAR,
        Truncated(can_grow=True, error=ERROR),
        go(Transition.MAX_OUTPUT_TOKENS_RECOVERY, change(FAR, output_recoveries=3)),
    ),
    Case("drain", FAR, Drained(committed=1, error=ERROR), go(Transition.COLLAPSE_DRAIN_RETRY, FAR)),
    Case(
        "reactive",
        change(FAR, reactive_compact_tried=False),
        Compacted(worked=True, media=False, error=ERROR),
        go(Transition.REACTIVE_COMPACT_RETRY, FAR),
    ),
    Case(
        "reactive, of media",
        FAR,
        Compacted(worked=True, media=True, error=ERROR),
        go(Transition.REACTIVE_COMPACT_RETRY, change(FAR, media_drops=2)),
    ),
    Case(
        "stop_hook_blocking",
        FAR,
        StopBlocked(),
        go(Transition.STOP_HOOK_BLOCKING, change(FAR, **FORGET, stop_hook_blocks=4)),
    ),
    Case(
        "goal_retry",
        FAR,
        GoalFailed(stuck=False, error=ERROR),
        go(Transition.GOAL_RETRY, change(FAR, **FORGET, goal_failures=6)),
    ),
    Case(
        "budget",
        FAR,
        StopPassed(spent=1_800, may_continue=True),
        go(
            Transition.TOKEN_BUDGET_CONTINUATION,
            change(FAR, **FORGET, work=WorkBudget(continuations=3, last_gain=800, total=1_800)),
        ),
        WORK,
    ),
    Case(
        "the first block switches the flag on",
        START,
        StopBlocked(),
        go(Transition.STOP_HOOK_BLOCKING, Guards(stop_hook_active=True, stop_hook_blocks=1)),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_each_outcome_is_decided_as_the_contract_says(case: Case):
    assert decide(case.guards, case.outcome, case.limits) == case.decision


@pytest.mark.parametrize("case", RESETS, ids=lambda case: case.says)
def test_each_transition_resets_and_keeps_what_the_contract_says(case: Case):
    assert decide(case.guards, case.outcome, case.limits) == case.decision


def test_every_outcome_has_a_case():
    assert {type(case.outcome) for case in CASES} == set(members(Outcome)) == set(get_args(AnyOutcome))


def test_every_reason_and_every_transition_has_a_case():
    decisions = [case.decision for case in CASES + RESETS]

    assert {decision.reason for decision in decisions if isinstance(decision, Terminal)} == set(Reason)
    assert {decision.transition for decision in decisions if isinstance(decision, Continue)} == set(Transition)


@pytest.mark.parametrize("cause", AbortCause)
@pytest.mark.parametrize("guards", [START, FAR, DRAINED])
def test_an_abort_ends_the_query_whatever_its_cause_and_whatever_came_before(cause: AbortCause, guards: Guards):
    assert decide(guards, Aborted(cause=cause, phase=Phase.TOOLS), USUAL) == end(Reason.ABORTED_TOOLS)


MIN_COUNT = Limits(output_recoveries=1, stop_hook_blocks=1, pauses=1, media_drops=1)
LITTLE_WORK = change(MIN_COUNT, pauses=0, work_budget=2, work_min_gain=1, work_min_continuations=1)
WALKED = (
    MIN_COUNT,
    change(MIN_COUNT, max_turns=2),
    change(MIN_COUNT, escalate=False),
    change(MIN_COUNT, reactive_compact=False),
    LITTLE_WORK,
    change(LITTLE_WORK, max_turns=3, output_recoveries=0, stop_hook_blocks=0),
    WithGoal(goal_attempts=2, output_recoveries=1, stop_hook_blocks=1, pauses=1, media_drops=1),
    WithGoal(
        goal_attempts=2,
        max_turns=2,
        work_budget=2,
        work_min_gain=1,
        work_min_continuations=1,
        output_recoveries=0,
        stop_hook_blocks=0,
        pauses=0,
        media_drops=1,
    ),
)
"""Every switch of the policy in both positions, with the smallest counters that still count."""

TOO_STRICT = "ends sooner than it should: no way round can come of it"
SAME_WALK = "changes what is told, not where the loop goes"
BEYOND_THE_WALK = {
    "decide: always False: `case TooLong() | Drained() if limits.reactive_compact": TOO_STRICT,
    "decide: `guards.media_drops + 1 >= limits.media_drops` moved by one": SAME_WALK,
    "judge_work: `work.continuations >= min_continuations` dropped": TOO_STRICT,
    "judge_work: `gain < min_gain` dropped": TOO_STRICT,
    "judge_work: `work.last_gain < min_gain` dropped": TOO_STRICT,
    "judge_work: `gain < min_gain` moved by one": TOO_STRICT,
    "judge_work: `work.last_gain < min_gain` moved by one": TOO_STRICT,
    "judge_work: `last_gain=gain` left out": TOO_STRICT,
    "judge_work: `spent < budget * threshold` moved by one": "one token more or less on a budget that is spent",
    "judge_query_work: `continuations=guards.work.continuations` left out": SAME_WALK,
    "judge_query_work: `work=work` left out": SAME_WALK,
    "decide: `media` ignored": SAME_WALK,
    "decide: `phase is Phase.TOOLS` moved by one": SAME_WALK,
    "decide: `stop_hook_active=True` left out": SAME_WALK,
}
"""Mutants that the walk has no reason to reject. The table rejects every one of them."""


def is_rejected(check: Callable[[], bool]) -> bool:
    """A policy that breaks down is rejected too."""
    try:
        return not check()
    except (ArithmeticError, NameError, TypeError):
        return True


def test_the_walk_fails_as_soon_as_one_guard_is_missing():
    outside = set()
    lines, missed = [], []
    for name, policy in generate_mutants():
        by_walk = any(
            is_rejected(lambda limits=limits, policy=policy: not explore(limits, policy).faults) for limits in WALKED
        )
        by_table = is_rejected(
            lambda policy=policy: all(
                policy(case.guards, case.outcome, case.limits) == case.decision for case in CASES + RESETS
            )
        )
        excused = {start for start in BEYOND_THE_WALK if name.startswith(start)}
        outside |= excused if not by_walk else set()
        lines.append(f"{'walk' if by_walk else '    '} {'table' if by_table else '     '} {name}")
        if not by_walk and not (excused and by_table):
            missed.append(name)
    print("\n".join(lines))  # noqa: T201 (the list of mutants is what a reader of a failure needs)

    assert missed == []
    assert len(lines) > 100
    assert outside == set(BEYOND_THE_WALK), "an excuse that nobody needs"


def test_the_real_policy_passes_every_walk_that_the_mutants_fail():
    assert [explore(limits).faults for limits in WALKED] == [()] * len(WALKED)
