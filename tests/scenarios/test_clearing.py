"""The conversation starts over in the same engine: nothing of before is sent, and nothing of it is lost."""

import pytest

from everturn.core.errors import BusyError, ClosedError
from everturn.core.state import Reason
from everturn.modelserver import text


async def test_a_new_session_begins_and_the_old_one_can_be_resumed(bench):
    bench.model(text("Hello."))
    engine = bench.engine()
    await bench.go_on(engine, "The old prompt.")
    old, told = engine.session_id, engine.transcript

    engine = engine.clear()
    run = await bench.go_on(engine, "The new prompt.")

    assert run.reason is Reason.COMPLETED
    assert engine.session_id != old
    assert "The old prompt." not in str(bench.sent[-1])
    assert bench.engine(resume=old).transcript == told


async def test_it_is_refused_while_a_query_is_under_way(bench):
    bench.model(text("Hello."))
    engine = bench.engine()

    def listen(event):
        if event.__struct_config__.tag == "request_start":
            with pytest.raises(BusyError):
                engine.clear()

    assert (await bench.go_on(engine, on_event=listen)).reason is Reason.COMPLETED


async def test_the_permission_mode_in_force_stays_in_force(bench):
    engine = bench.engine(permission_mode="bypassPermissions")
    engine.policy.mode = "plan"

    engine = engine.clear()

    assert engine.permission_mode == "plan"


async def test_an_engine_that_is_closed_stays_closed(bench):
    engine = bench.engine()
    await engine.aclose()

    with pytest.raises(ClosedError):
        engine.clear()
