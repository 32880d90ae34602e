"""The user asks for a summary: the conversation is compacted now, with their instructions, and goes on from there."""

import asyncio
from contextlib import aclosing

import pytest

from everturn.core.errors import BusyError
from everturn.core.messages import Kind
from everturn.core.state import Reason
from everturn.core.window import LastCompaction
from everturn.frontends.context_grid import encode_window, render_plain
from everturn.modelserver import call, error, hold, text


async def compact(engine, instructions=""):
    async with aclosing(engine.compact(instructions)) as stream:
        return [event async for event in stream]


def tags(events):
    return [event.__struct_config__.tag for event in events]


async def test_the_next_request_starts_with_the_summary(bench):
    bench.model(text("An earlier answer. " * 50), text("Went on."), bench.summary())
    engine = bench.engine()
    await bench.go_on(engine, "An earlier prompt.")

    events = await compact(engine)
    run = await bench.go_on(engine, "Go on.")

    assert tags(events)[-1] == "notice"
    assert [(event.stage, event.cause) for event in events if event.__struct_config__.tag == "context"] == [
        ("compact", "manual")
    ]
    assert [event.purpose for event in events if event.__struct_config__.tag == "usage"] == ["summary"]
    assert Kind.BOUNDARY in [message.kind for message in engine.transcript]
    assert run.reason is Reason.COMPLETED
    assert "What happened, in short." in str(bench.sent[-1])
    assert "An earlier answer." not in str(bench.sent[-1])


async def test_instructions_are_part_of_the_request(bench):
    bench.model(text("An earlier answer. " * 50), bench.summary())
    engine = bench.engine()
    await bench.go_on(engine)

    await compact(engine, "Keep the names of all files.")

    assert "Keep the names of all files." in str(bench.sent[-1][-1])


async def test_a_summary_that_fails_changes_nothing(bench):
    bench.model(text("An earlier answer. " * 50), bench.summary(error(400)))
    engine = bench.engine()
    await bench.go_on(engine)
    before = engine.transcript

    events = await compact(engine)

    assert tags(events)[-1] == "notice"
    assert engine.transcript == before


async def test_it_can_be_aborted(bench):
    bench.model(text("An earlier answer. " * 50), bench.summary(hold(text("A sum"), after=-1)), text("Fine."))
    engine = bench.engine()
    await bench.go_on(engine)
    before = engine.transcript

    compacting = asyncio.create_task(compact(engine))
    await bench.server.wait_for(2)
    engine.abort()

    assert tags(await compacting) == ["compaction_start", "compaction_end", "notice"]
    assert engine.transcript == before
    assert (await bench.go_on(engine)).reason is Reason.COMPLETED


async def test_it_is_refused_while_a_query_is_under_way(bench):
    bench.model(hold(text("Hello there, how are you?"), after=-1))
    engine = bench.engine()
    working = asyncio.create_task(bench.go_on(engine))
    await bench.server.wait_for(1)

    with pytest.raises(BusyError):
        await compact(engine)

    bench.server.release()
    assert (await working).reason is Reason.COMPLETED


async def test_its_id_and_the_turns_since_are_kept_with_the_session_and_shown(bench):
    look = call("Glob", {"pattern": "*"})
    bench.model(text("An earlier answer. " * 50), bench.summary(), look, look, text("Looked."), look, text("Again."))
    engine = bench.engine()
    await bench.go_on(engine)
    assert engine.window().compaction is None

    events = await compact(engine)
    boundary = next(message.id for message in engine.transcript if message.kind is Kind.BOUNDARY)
    await bench.go_on(engine, "Look twice.")
    await engine.aclose()
    resumed = bench.engine(resume=engine.session_id)
    await bench.go_on(resumed, "Look once more.")

    [ended] = [event for event in events if event.__struct_config__.tag == "compaction_end"]
    assert ended.id == boundary
    assert engine.window().compaction == LastCompaction(id=boundary, count=1, turns_since=2)
    assert resumed.window().compaction == LastCompaction(id=boundary, count=1, turns_since=3)
    assert f"Compacted once 3 turns ago ({boundary})" in render_plain(resumed.window())
    assert encode_window(resumed.window())["compaction"] == {"id": boundary, "count": 1, "turns_since": 3}
