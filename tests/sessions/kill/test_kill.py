"""The real process is killed at its system calls: nothing acknowledged is lost, no line is torn, no tool runs twice."""

import os
import random
import shutil

import pytest
from tests.sessions.kill.killing import KINDS, draw_any, draw_around, kill_at, list_points

from everturn.modelserver import ModelServer

EACH = 10
"""Kills around each kind of record; with the slices below, three hundred in all."""
SLICES, SLICE = 10, 15
STRACE = shutil.which("strace") is not None


def test_strace_is_installed_where_the_project_is_checked():
    if os.environ.get("EVERTURN_CI") == "1" and not STRACE:
        pytest.fail("strace is missing: the process cannot be killed at its system calls")


if STRACE:

    @pytest.mark.parametrize("kind", KINDS)
    async def test_a_process_that_dies_around_a_record_loses_nothing(tmp_path, kind):
        rng = random.Random(kind)  # noqa: S311 (repeatable, not secret)
        hits, faults = 0, []
        async with ModelServer() as server:
            kinds, _ = await list_points(tmp_path / "whole", server)
            # More than are wanted: a call that starts while the answer streams may come before its neighbour or after.
            for number, point in enumerate(draw_around(kinds, kind, 3 * EACH, rng)):
                verdict = await kill_at(tmp_path / str(number), server, point)
                hits += verdict.killed and kind in {verdict.last, kinds[point.nth - 1]}
                faults += [(point, fault) for fault in verdict.faults]
                if hits == EACH:
                    break
        assert faults == []
        assert hits == EACH

    @pytest.mark.parametrize("slice_", range(SLICES))
    async def test_a_process_that_dies_at_any_call_loses_nothing(tmp_path, slice_):
        rng = random.Random(slice_)  # noqa: S311 (repeatable, not secret)
        faults = []
        async with ModelServer() as server:
            _, points = await list_points(tmp_path / "whole", server)
            for number, point in enumerate(draw_any(points, SLICE, rng)):
                verdict = await kill_at(tmp_path / str(number), server, point)
                faults += [(point, fault) for fault in verdict.faults]
        assert faults == []
