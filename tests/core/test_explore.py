"""The exhaustive walk of the policy: it holds, it notices what does not, and the manual says what it found."""

import functools
import itertools
from pathlib import Path

import msgspec
import pytest
from development.loop_page import render_docs
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.actions import AdmitPrompt, CallModel, CompactNow, DrainCollapses, RunStopPhase, RunTools
from everturn.core.budget import WorkBudget
from everturn.core.decide import Continue, Do, Terminal, decide, members
from everturn.core.limits import Limits
from everturn.core.outcomes import EVERY_ACTION, GoalFailed, Outcome, Problem
from everturn.core.state import Guards, Phase, Reason, Transition
from everturn.testing.explore import (
    PROFILES,
    Exploration,
    Longest,
    explore,
    find_longest,
    project,
    render_exploration,
    walk,
)
from everturn.testing.samples import WithGoal, actions_before, sample_kind, sample_outcomes

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "explanation"
SMALL_COUNTERS = {"output_recoveries": 1, "stop_hook_blocks": 1, "pauses": 1, "media_drops": 1}
SMALL = Limits(**SMALL_COUNTERS)


@functools.cache
def walk_profiles():
    """It takes seconds, so it is done once."""
    return {name: explore(limits) for name, limits in PROFILES.items()}


def test_the_policy_holds_under_every_profile():
    assert {name: walk.faults for name, walk in walk_profiles().items()} == dict.fromkeys(PROFILES, ())


def test_the_page_of_the_loop_is_not_stale():
    written = {name: (DOCS / name).read_text("utf-8") for name in ("loop.md", "loop.svg")}

    assert written == render_docs(walk_profiles()), "run: make pages"


def test_the_readme_and_the_tutorial_say_how_many_transitions_and_reasons_there_are():
    words = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    names = [*words.split(), "eighteen", "nineteen", "twenty", "twenty-one", "twenty-two"]
    transitions, reasons = names[len(Transition)], names[len(Reason)]

    assert f"one of {transitions} reasons to continue or one of {reasons} to stop" in (ROOT / "README.md").read_text()
    assert f"one of [{reasons} reasons](" in (ROOT / "docs" / "tutorial.md").read_text()


def test_a_finding_reads_in_three_lines_and_one_for_each_fault():
    sound = walk_profiles()["at most 2 turns"]
    told = render_exploration("short", msgspec.structs.replace(sound, faults=("it goes back",))).splitlines()

    assert (
        told[0]
        == f"short: {sound.states:,} states, {sound.edges:,} decisions, {len(sound.transitions)} transitions, {len(sound.reasons)} reasons"
    )
    assert told[-1] == "  FAULT: it goes back"
    assert len(told) == 4


def test_a_walk_of_small_limits_finds_what_can_be_counted_by_hand():
    """Without drains, compaction, hooks and pauses: a call, one escalation, one resume, and it ends."""
    limits = Limits(output_recoveries=1, stop_hook_blocks=0, pauses=0, reactive_compact=False)

    found = explore(limits, without_drains)

    assert found.k == 3
    assert found.longest == (
        ("Truncated(can_grow=False)", "go on: max_output_tokens_recovery"),
        ("Truncated(can_grow=True)", "go on: max_output_tokens_escalate"),
        ("Answered", "do RunStopPhase"),
    )
    assert found.faults == ("collapse_drain_retry is never reached",)


def without_drains(guards, outcome, limits):
    decision = decide(guards, outcome, limits)
    if decision == Do(DrainCollapses()):
        return Terminal(reason=Reason.PROMPT_TOO_LONG)
    return decision


def test_with_a_turn_limit_the_calls_of_a_whole_query_are_bounded():
    """Eight calls without a drain between two of them, twice that with; each further turn allows five, so ten."""
    totals = [explore(msgspec.structs.replace(SMALL, max_turns=turns)).total for turns in (1, 2, 3, 4)]

    assert totals == [16, 26, 36, 46]


def test_each_further_attempt_at_a_goal_adds_as_many_calls():
    """A failure forgets what concerned the answer before it, and nothing else: so the bound grows evenly, and ends."""
    bounds = [explore(WithGoal(goal_attempts=attempts, **SMALL_COUNTERS)).k for attempts in (1, 2, 3, 4)]

    assert bounds[0] == explore(SMALL).k
    assert len({after - before for before, after in itertools.pairwise(bounds)}) == 1


def test_a_goal_that_is_verified_for_ever_is_found_to_be_endless():
    def stubborn(guards, outcome, limits):
        decision = decide(guards, outcome, limits)
        if decision == Terminal(reason=Reason.GOAL_NOT_MET, release=Problem(text="What went wrong.")):
            return Continue(Transition.GOAL_RETRY, guards)
        return decision

    found = explore(WithGoal(goal_attempts=2, **SMALL_COUNTERS), stubborn)

    assert found.k is None
    assert "goal_not_met is never reached" in found.faults


def test_the_bound_grows_with_the_work_budget_and_with_nothing_but_the_limits():
    budgets = [msgspec.structs.replace(SMALL, work_budget=size, work_min_gain=1) for size in (0, 1, 2, 3)]

    bounds = [explore(limits).k for limits in budgets]

    assert bounds == sorted(set(bounds))


def test_a_least_gain_of_nothing_is_found_to_be_endless():
    found = explore(msgspec.structs.replace(SMALL, work_budget=2, work_min_gain=0))

    assert found.k is None
    assert any("token_budget_continuation" in decision for _, decision in found.cycles[0])
    assert found.faults[0].startswith("a way round without an end: ")


def test_a_policy_that_vetoes_an_error_is_found_to_go_on_without_a_cause():
    def eager(guards, outcome, limits):
        decision = decide(guards, outcome, limits)
        return (
            Do(RunStopPhase()) if decision == Terminal(reason=Reason.PROMPT_TOO_LONG, release=problem()) else decision
        )

    found = explore(SMALL, eager)

    assert "TooLong(staged=0), do RunStopPhase: it has no cause" in found.faults
    assert "prompt_too_long is never reached" in found.faults


def problem() -> Problem:
    (outcome,) = [outcome for outcome in sample_outcomes(CallModel(), 0, SMALL) if type(outcome).__name__ == "NoRoom"]
    return outcome.error


def test_no_action_is_done_twice_in_one_iteration():
    below = {edge.source: set() for edge in walk(SMALL)}
    for edge in walk(SMALL):
        if isinstance(edge.decision, Do):
            below[edge.source].add(edge.target)

    weights = [1] * len(below)

    assert find_longest([sorted(below[source]) for source in range(len(below))], weights)[::2] == (4, [])


def test_every_outcome_follows_some_action_and_every_action_has_an_outcome_of_its_own():
    actions = [AdmitPrompt(), CallModel(), RunTools(), DrainCollapses(), CompactNow(), RunStopPhase()]

    played = {type(outcome) for action in actions for outcome in sample_outcomes(action, 0, SMALL)}

    assert {type(action) for action in actions} == EVERY_ACTION
    assert played | {GoalFailed} == set(members(Outcome))
    assert GoalFailed not in played


class NewOutcome(msgspec.Struct, frozen=True, kw_only=True):
    sudden: bool
    phase: Phase
    weight: int


def test_a_field_without_sample_values_stops_the_walk():
    with pytest.raises(TypeError, match=r"NewOutcome\.weight has no sample values"):
        sample_kind(NewOutcome, 0, SMALL)


def test_an_outcome_that_no_action_answers_with_stops_the_walk():
    class Homeless:
        follows = frozenset()

    with pytest.raises(TypeError, match=r"Homeless\.follows names no action"):
        actions_before(Homeless)


def test_gains_are_sampled_from_the_last_check_on():
    limits = Limits(work_budget=1_000)
    outcomes = [
        outcome for outcome in sample_outcomes(RunStopPhase(), 70, limits) if type(outcome).__name__ == "StopPassed"
    ]

    assert sorted({outcome.spent for outcome in outcomes}) == [70, 569, 570, 1_070]


def test_the_longest_path_and_the_ways_round_of_a_graph():
    assert find_longest([[1, 2], [3], [3], []], [1, 5, 1, 1]) == Longest(7, [0, 1, 3], [])
    assert find_longest([[1], [2], [0]], [1, 1, 1]).cycles == [[0, 1, 2, 0]]
    assert find_longest([[0]], [1]).cycles == [[0, 0]]


def test_a_path_longer_than_pythons_stack_is_no_trouble():
    size = 5_000

    assert find_longest([[node + 1] for node in range(size)] + [[]], [1] * (size + 1)).weight == size + 1


ANY_GUARDS = st.builds(
    Guards,
    turn=st.integers(1, 6),
    output_recoveries=st.integers(0, 5),
    reactive_compact_tried=st.booleans(),
    max_output_override=st.none() | st.just(64_000),
    stop_hook_active=st.booleans(),
    stop_hook_blocks=st.integers(0, 5),
    goal_failures=st.integers(0, 5),
    pauses=st.integers(0, 5),
    work=st.builds(WorkBudget, continuations=st.integers(0, 6), last_gain=st.integers(0, 5), total=st.integers(0, 12)),
    transition=st.none() | st.sampled_from(Transition),
)
ANY_LIMITS = st.builds(
    WithGoal,
    goal_attempts=st.integers(1, 4),
    max_turns=st.sampled_from([0, 1, 3]),
    work_budget=st.sampled_from([0, 1, 8]),
    work_min_gain=st.just(2),
    work_threshold=st.sampled_from([0.5, 0.9, 1.5]),
    output_recoveries=st.integers(0, 3),
    stop_hook_blocks=st.integers(0, 3),
    pauses=st.integers(0, 3),
    escalate=st.booleans(),
    reactive_compact=st.booleans(),
)


@settings(max_examples=80, deadline=None)
@given(guards=ANY_GUARDS, limits=ANY_LIMITS)
def test_the_policy_cannot_tell_guards_from_their_projection(guards: Guards, limits: Limits):
    """Because of it, the walk of a few thousand states speaks for all of them."""
    image = project(guards, limits)
    for action in (CallModel(), RunTools(), DrainCollapses(), CompactNow(), RunStopPhase()):
        real = sample_outcomes(action, guards.work.total, limits)
        seen = sample_outcomes(action, image.work.total, limits)
        for mine, other in zip(real, seen, strict=True):
            assert essence(decide(guards, mine, limits), limits) == essence(decide(image, other, limits), limits)


def essence(decision, limits):
    match decision:
        case Continue(transition, guards):
            return transition, project(guards, limits)
        case Terminal(reason=reason):
            return reason
        case _:
            return decision


def test_an_exploration_is_a_plain_value():
    found = explore(SMALL)

    assert found == explore(SMALL)
    assert isinstance(found, Exploration)
    assert found.transitions == set(Transition) - {Transition.TOKEN_BUDGET_CONTINUATION, Transition.GOAL_RETRY}
    assert found.reasons == set(Reason) - {Reason.MAX_TURNS, Reason.GOAL_NOT_MET}
