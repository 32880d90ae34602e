"""What follows a failed attempt: wait, mend, switch or give up."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import RETRYABLE, FaultKind
from everturn.core.limits import WATCHED_RETRY_AFTER, Limits
from everturn.core.schedule import (
    Attempts,
    GiveUp,
    MendWith,
    Repair,
    RetryAfter,
    SwitchModel,
    plan_delay,
    plan_recovery,
)

LIMITS = Limits()
FINAL = sorted(set(FaultKind) - RETRYABLE - {FaultKind.SIGNATURE, FaultKind.PAIRING})


def plan(kind: FaultKind, *, retry_after: float | None = None, **attempts):
    return plan_recovery(kind, Attempts(**attempts), LIMITS, retry_after=retry_after, jitter=0.0)


@pytest.mark.parametrize("kind", sorted(RETRYABLE))
def test_what_passes_by_itself_is_tried_again(kind: FaultKind):
    assert plan(kind) == RetryAfter(0.5)


@pytest.mark.parametrize("kind", FINAL)
def test_what_does_not_pass_is_not_tried_again(kind: FaultKind):
    assert plan(kind) == GiveUp()


@pytest.mark.parametrize("kind", sorted(RETRYABLE))
@pytest.mark.parametrize(("tried", "plans"), [(9, RetryAfter(32.0)), (10, GiveUp()), (11, GiveUp())])
def test_ten_tries_are_all(kind: FaultKind, tried: int, plans):
    assert plan(kind, tried=tried) == plans


@pytest.mark.parametrize("kind", sorted(RETRYABLE))
def test_when_the_tries_are_used_up_a_fallback_takes_over(kind: FaultKind):
    assert plan(kind, tried=10, fallbacks_left=1) == SwitchModel()


@pytest.mark.parametrize(
    ("overloads", "fallbacks_left", "plans"),
    [(2, 1, RetryAfter(0.5)), (3, 1, SwitchModel()), (4, 1, SwitchModel()), (3, 0, RetryAfter(0.5))],
)
def test_the_third_overload_in_a_row_switches_the_model_if_there_is_another(overloads: int, fallbacks_left: int, plans):
    assert plan(FaultKind.OVERLOADED, overloads=overloads, fallbacks_left=fallbacks_left) == plans


def test_overloads_do_not_make_other_faults_switch():
    assert plan(FaultKind.SERVER, overloads=5, fallbacks_left=1) == RetryAfter(0.5)


@pytest.mark.parametrize("kind", [FaultKind.FALLBACK, FaultKind.MODEL_NOT_FOUND])
@pytest.mark.parametrize(("fallbacks_left", "plans"), [(1, SwitchModel()), (0, GiveUp())])
def test_a_model_that_will_not_answer_is_left_at_once(kind: FaultKind, fallbacks_left: int, plans):
    assert plan(kind, fallbacks_left=fallbacks_left) == plans


@pytest.mark.parametrize(
    ("kind", "repair"), [(FaultKind.SIGNATURE, Repair.DROP_THINKING), (FaultKind.PAIRING, Repair.REPAIR_PAIRS)]
)
def test_a_fault_of_our_own_side_is_mended_once(kind: FaultKind, repair: Repair):
    assert plan(kind) == MendWith(repair)
    assert plan(kind, repairs=frozenset({repair})) == GiveUp()
    assert plan(kind, repairs=frozenset(Repair) - {repair}) == MendWith(repair)


def test_the_delay_doubles_from_half_a_second_to_thirty_two():
    delays = [plan_delay(tried, LIMITS, retry_after=None, jitter=0.0) for tried in range(1, 10)]

    assert delays == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0, 32.0]


@pytest.mark.parametrize(("asked", "waited"), [(7.0, 7.0), (60.0, 60.0), (0.0, 0.5), (-3.0, 0.5), (math.nan, 0.5)])
def test_the_servers_word_counts_up_to_a_minute(asked: float, waited: float):
    assert plan_delay(1, LIMITS, retry_after=asked, jitter=0.9) in {waited, waited * (1 - 0.9 / 4)}
    assert plan_delay(1, LIMITS, retry_after=asked, jitter=0.0) == waited
    assert plan(FaultKind.RATE_LIMITED, retry_after=asked) == RetryAfter(waited)


@pytest.mark.parametrize("kind", [FaultKind.RATE_LIMITED, FaultKind.OVERLOADED, FaultKind.SERVER])
@pytest.mark.parametrize("asked", [60.5, 7_200.0, math.inf])
def test_a_longer_wait_than_that_is_not_worth_a_single_try(kind: FaultKind, asked: float):
    assert plan(kind, retry_after=asked) == GiveUp(asked)
    assert plan(kind, retry_after=asked, fallbacks_left=1) == SwitchModel()


def test_where_a_person_watches_ten_minutes_are_waited():
    limits = Limits(max_retry_after=WATCHED_RETRY_AFTER)

    def plan_watched(asked: float):
        return plan_recovery(FaultKind.RATE_LIMITED, Attempts(), limits, retry_after=asked, jitter=0.0)

    assert (plan_watched(600.0), plan_watched(601.0)) == (RetryAfter(600.0), GiveUp(601.0))


def test_what_is_never_tried_again_says_nothing_of_a_wait():
    assert plan(FaultKind.INVALID, retry_after=7_200.0) == GiveUp()


@given(tried=st.integers(1, 100_000), jitter=st.floats(0, 1, exclude_max=True))
def test_jitter_takes_at_most_a_quarter_and_no_number_of_tries_is_too_many(tried: int, jitter: float):
    full = plan_delay(tried, LIMITS, retry_after=None, jitter=0.0)

    assert 0.75 * full <= plan_delay(tried, LIMITS, retry_after=None, jitter=jitter) <= full <= 32.0


@given(
    kind=st.sampled_from(FaultKind),
    overloads=st.integers(0, 12),
    repairs=st.frozensets(st.sampled_from(Repair)),
    fallbacks_left=st.integers(0, 3),
)
def test_after_the_last_try_nothing_is_ever_tried_again_on_this_model(kind, overloads, repairs, fallbacks_left):
    planned = plan(kind, tried=LIMITS.tries, overloads=overloads, repairs=repairs, fallbacks_left=fallbacks_left)

    assert not isinstance(planned, RetryAfter)


@pytest.mark.parametrize(("tried", "plans"), [(4, RetryAfter(4.0)), (5, GiveUp()), (6, GiveUp())])
@pytest.mark.parametrize("fallbacks_left", [0, 2])
def test_where_nobody_ever_answered_and_nobody_is_there_five_tries_are_all(tried: int, plans, fallbacks_left: int):
    assert plan(FaultKind.CONNECTION, tried=tried, unreached=True, fallbacks_left=fallbacks_left) == plans


@pytest.mark.parametrize(
    ("elapsed_s", "plans"), [(90.0, RetryAfter(1.0)), (179.0, RetryAfter(1.0)), (180.0, GiveUp()), (400.0, GiveUp())]
)
def test_where_nobody_ever_answered_no_try_begins_after_three_minutes(elapsed_s: float, plans):
    assert plan(FaultKind.STALLED, tried=2, unanswered=True, elapsed_s=elapsed_s) == plans


def test_a_silent_model_of_a_new_session_makes_room_for_a_fallback():
    assert plan(FaultKind.STALLED, tried=2, unanswered=True, elapsed_s=200.0, fallbacks_left=1) == SwitchModel()


def test_a_session_that_has_an_answer_has_all_the_time():
    assert plan(FaultKind.STALLED, tried=2, elapsed_s=2_000.0) == RetryAfter(1.0)


def test_fewer_tries_count_there_too():
    limits = Limits(tries=2)
    attempts = Attempts(tried=2, unreached=True)

    assert attempts.most(limits) == 2
    assert plan_recovery(FaultKind.CONNECTION, attempts, limits, retry_after=None, jitter=0.0) == GiveUp()
