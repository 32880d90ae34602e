"""Every case of the fault corpus, over real HTTP, with real files and a real session on disk."""

import logging
from contextlib import AsyncExitStack

import pytest
from tests.faults.actions import ACTIONS
from tests.faults.corpus import Case, load_cases
from tests.faults.invariants import INVARIANTS
from tests.faults.musts import MUSTS
from tests.faults.played import Mode
from tests.faults.staging import STAGINGS, play
from tests.faults.world import World

CASES = load_cases()
ABORTED = frozenset({"fault-interrupt-mid-tool"})
"""An interrupted prompt ends as an error, by the contract of the loop; what succeeds is the session's next prompt."""


def modes_of(case: Case) -> dict[str, Mode]:
    """With a call in it, calls start while the answer streams or after it; where it is cut, the call may have effects."""
    if not case.has_calls:
        return {"plain": Mode()}
    modes = {"streaming": Mode(), "waiting": Mode(streaming_tools=False)}
    if case.cuts_a_call:
        modes["streaming-effects"] = Mode(effects=True)
        modes["waiting-effects"] = Mode(streaming_tools=False, effects=True)
    return modes


PLAYS = [pytest.param(case, mode, id=f"{case.id}-{name}") for case in CASES for name, mode in modes_of(case).items()]


@pytest.mark.parametrize(("case", "mode"), PLAYS)
async def test_a_fault_of_the_model_is_met_as_the_corpus_says(case: Case, mode: Mode, tmp_path, caplog) -> None:
    async with AsyncExitStack() as stack:
        played = await play(World(tmp_path, stack), case, mode)

    wanted = "error" if case.id in ABORTED else case.expect["final"]
    assert (wanted == "error") == played.run.result.is_error, played.error
    assert case.attempts is None or played.attempts in case.attempts
    assert any(ACTIONS[action](played) for action in (case.expect["action"], *case.expect.get("also_ok", ())))
    for check in INVARIANTS:
        check(played)
    for must in case.expect["must"]:
        MUSTS[must](played)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_the_corpus_is_whole() -> None:
    assert sum(case.id.startswith("fault-") for case in CASES) == 111
    assert len({case.id for case in CASES}) == len(CASES)


def test_every_promise_has_its_check_and_every_check_its_promise() -> None:
    assert {must for case in CASES for must in case.expect["must"]} == set(MUSTS)


def test_every_staging_is_of_a_case() -> None:
    assert set(STAGINGS) <= {case.id for case in CASES}
