"""The promises of clocks and ids."""

import re

from everturn.ports.clock import Clock, Ids
from everturn.testing import CountingIds, FakeClock


async def test_sleeping_moves_both_faces_of_the_clock_and_takes_no_time():
    clock: Clock = FakeClock(now=100.0)
    assert (clock.now(), clock.elapsed()) == (100.0, 0.0)

    await clock.sleep(90.5)

    assert (clock.now(), clock.elapsed()) == (190.5, 90.5)


async def test_a_negative_sleep_does_not_turn_time_back():
    clock = FakeClock(now=100.0)
    await clock.sleep(-5.0)
    assert (clock.now(), clock.slept) == (100.0, [-5.0])


def test_jitter_is_a_fraction_that_the_test_chose():
    assert (FakeClock().jitter(), FakeClock(jitter=0.5).jitter()) == (0.0, 0.5)


def test_ids_are_unique_and_plain():
    ids: Ids = CountingIds("m")
    made = [ids.new() for _ in range(100)]
    assert len(set(made)) == 100
    assert made[0] == "m-1"
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", id_) for id_ in made)
