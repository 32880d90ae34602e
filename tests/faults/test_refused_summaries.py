"""A conversation that is too long, and a summary that cannot be had: the query ends, and soon."""

from contextlib import AsyncExitStack

from tests.faults.corpus import load_cases
from tests.faults.invariants import INVARIANTS
from tests.faults.played import Mode
from tests.faults.staging import play_after_a_long_talk
from tests.faults.world import World

from everturn.core.state import Reason

[CASE] = [case for case in load_cases() if case.id == "fault-http-400-prompt-long-twice"]


async def test_a_server_that_refuses_the_summary_too_is_asked_once_more_without_the_oldest_rounds(tmp_path) -> None:
    async with AsyncExitStack() as stack:
        played = await play_after_a_long_talk(World(tmp_path, stack), CASE, Mode())

    assert played.run.reason is Reason.PROMPT_TOO_LONG
    assert (len(played.main), 1 <= len(played.summaries) <= 5) == (2, True)
    assert "prompt is too long" in played.error
    for check in INVARIANTS:
        check(played)
