"""A caller that closes the iterator early gets no terminal; nothing is left behind, and the next prompt works."""

import asyncio
from contextlib import aclosing

import pytest

from everturn.core.errors import BusyError, ClosedError
from everturn.core.state import Reason
from everturn.modelserver import call, hold, rate_limited, say, text


async def leave_at(engine, kind):
    """The events up to the first of a kind, where the caller leaves."""
    events = []
    async with asyncio.timeout(60), aclosing(engine.submit("Go.")) as stream:
        async for event in stream:
            events.append(event)
            if event.__struct_config__.tag == kind:
                break
    return events


def tasks_of_ours():
    return [
        task for task in asyncio.all_tasks() if "everturn.engine" in str(task.get_coro().cr_frame.f_globals["__name__"])
    ]


async def assert_clean(bench, engine):
    assert tasks_of_ours() == []
    assert "terminal" not in [record["type"] for record in bench.records(engine.session_id)]
    bench.model(text("Fine."))
    run = await bench.go_on(engine)
    assert run.reason is Reason.COMPLETED
    bench.assert_settled(engine)


@pytest.mark.parametrize("kind", ["user", "request_start", "block_start", "text_delta"])
async def test_while_the_model_streams(bench, kind):
    bench.model(hold(text("Hello there, how are you?")))
    engine = bench.engine()

    events = await leave_at(engine, kind)

    assert "terminal" not in [event.__struct_config__.tag for event in events]
    await assert_clean(bench, engine)


async def test_the_connection_is_let_go(bench):
    bench.model(hold(text("Hello there, how are you?")))

    await leave_at(bench.engine(), "text_delta")

    await bench.server.wait_for_hangups(1)


@pytest.mark.parametrize("streaming", [True, False])
async def test_while_a_command_sleeps_its_processes_are_ended(bench, lifeline, streaming):
    bench.model(say("Running.", call("Bash", {"command": lifeline.command})))
    engine = bench.engine(permission_mode="bypassPermissions", streaming_tools=streaming)

    await leave_at(engine, "tool_progress")

    assert lifeline.is_cut()
    await assert_clean(bench, engine)


@pytest.mark.parametrize("kind", ["tool_start", "tool_end"])
async def test_a_call_with_effects_whose_answer_was_left_is_told_of_in_the_next_prompt(bench, kind):
    path = bench.folder / "a.txt"
    write = call("Write", {"file_path": str(path), "content": "x"})
    bench.model(hold(say(write, "More."), after=6), text("Fine."), chunk=1_000)
    engine = bench.engine(permission_mode="bypassPermissions")
    await leave_at(engine, kind)

    for _ in range(2):
        await bench.go_on(engine)

    assert str(bench.sent[-1]).count(str(path)) == 1
    assert bench.sent[-1][: len(bench.sent[-2])] == bench.sent[-2]


async def test_a_command_that_was_left_and_answered_is_no_riddle_after_a_resume(bench, lifeline):
    bench.model(say("Running.", call("Bash", {"command": lifeline.command})), text("Fine."))
    engine = bench.engine(permission_mode="bypassPermissions", streaming_tools=False)
    await leave_at(engine, "tool_progress")
    await bench.go_on(engine)
    await engine.aclose()

    resumed = bench.engine(resume=engine.session_id)

    assert resumed.transcript == engine.transcript


async def test_while_it_waits_for_a_retry(bench):
    bench.env["EVERTURN_RETRY_SCALE"] = "1"
    bench.model(rate_limited(retry_after=30))
    engine = bench.engine()

    await leave_at(engine, "api_retry")

    await assert_clean(bench, engine)


async def test_before_the_first_event(bench):
    bench.model(text("Hello."))
    engine = bench.engine()

    async with aclosing(engine.submit("Go.")):
        pass

    await assert_clean(bench, engine)


async def test_a_second_prompt_beside_the_first_is_refused(bench):
    bench.model(hold(text("Hello there, how are you?")), text("Fine."))
    engine = bench.engine()
    async with aclosing(engine.submit("Go.")) as stream:
        async for event in stream:
            if event.__struct_config__.tag == "text_delta":
                with pytest.raises(BusyError):
                    await anext(engine.submit("Me too."))
                bench.server.release()
    assert event.reason is Reason.COMPLETED


async def test_a_closed_engine_takes_no_prompt(bench):
    engine = bench.engine()
    await engine.aclose()

    with pytest.raises(ClosedError, match="The engine is closed"):
        await anext(engine.submit("Go."))
