"""What the engine wrote, told and asked before it was rebuilt, byte for byte. EVERTURN_GOLDENS=1 records anew."""

import shutil

import pytest
from tests.goldens.catalogue import SCENARIOS, Scenario
from tests.goldens.recording import RECORDED, RECORDS, settle
from tests.goldens.stage import Stage
from tests.goldens.stories import ALL  # noqa: F401 (its modules add the scenarios)

from everturn.modelserver import ModelServer


async def play(scenario: Scenario) -> dict[str, bytes]:
    async with ModelServer(clock=lambda: 0.0) as server:
        stage = Stage(server)
        try:
            await scenario.story(stage)
            await stage.close()
            return stage.collect()
        finally:
            await stage.close()
            stage.remove()


@pytest.mark.parametrize(
    "scenario",
    [pytest.param(each, id=each.name, marks=pytest.mark.needs(*each.needs)) for each in SCENARIOS.values()],
)
async def test_the_bytes_are_those_that_were_recorded(scenario):
    settle(RECORDED / scenario.name, await play(scenario))


def test_every_recorded_golden_has_its_scenario():
    if RECORDS:
        for stray in {path.name for path in RECORDED.iterdir()} - SCENARIOS.keys():
            shutil.rmtree(RECORDED / stray)
    assert sorted(path.name for path in RECORDED.iterdir()) == sorted(SCENARIOS)
