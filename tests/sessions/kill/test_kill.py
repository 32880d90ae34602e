"""The real process is killed at its system calls: nothing acknowledged is lost, no line is torn, no tool runs twice."""

import asyncio
import random
from itertools import count

import pytest
from tests.sessions.kill.killing import KINDS, Prepared, draw_any, draw_around, kill_at, list_points

from everturn.modelserver import ModelServer

EACH = 10
"""Kills around each kind of record."""
SLICES, SLICE = 6, 10
"""And at any call: so many times so many."""
PROMISED = 300
PATIENCE = 4
"""A call that starts while the answer streams may come before its neighbour or after, and a thread may fork later than it did:
so many draws for each kill that is wanted."""


def test_the_kills_that_the_tests_below_insist_on_are_as_many_as_promised():
    assert len(KINDS) * EACH + SLICES * SLICE >= PROMISED


async def kill_until(wanted, folder, points, counts):
    """Draws until so many kills counted; all that went wrong, and how many did."""
    counted, faults, number = 0, [], count()
    async with ModelServer() as server, Prepared() as prepared:
        while counted < wanted and (drawn := next(number)) < PATIENCE * wanted:
            point = next(points)
            verdict = await kill_at(folder / str(drawn), server, prepared, point)
            counted += counts(verdict)
            faults += [(point, fault) for fault in verdict.faults]
    return counted, faults


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The kinds of records of an undisturbed session, and its system calls."""

    async def look():
        async with ModelServer() as server, Prepared() as prepared:
            return await list_points(tmp_path_factory.mktemp("undisturbed") / "whole", server, prepared)

    return asyncio.run(look())


@pytest.mark.needs("strace")
@pytest.mark.parametrize("kind", KINDS)
async def test_a_process_that_dies_around_a_record_loses_nothing(tmp_path, whole, kind):
    points = draw_around(whole[0], kind, random.Random(kind))  # noqa: S311 (repeatable, not secret)
    hits, faults = await kill_until(EACH, tmp_path, points, lambda verdict: verdict.hit(kind))
    assert faults == []
    assert hits == EACH


@pytest.mark.needs("strace")
@pytest.mark.parametrize("slice_", range(SLICES))
async def test_a_process_that_dies_at_any_call_loses_nothing(tmp_path, whole, slice_):
    points = draw_any(whole[1], random.Random(slice_))  # noqa: S311 (repeatable, not secret)
    kills, faults = await kill_until(SLICE, tmp_path, points, lambda verdict: verdict.killed)
    assert faults == []
    assert kills == SLICE
