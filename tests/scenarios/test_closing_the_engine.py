"""Closing an engine ends the query under way, and its ending is kept."""

import asyncio

from everturn.core.state import Reason
from everturn.modelserver import hold, text


async def test_closing_in_mid_answer_aborts_the_query_and_its_ending_is_on_disk(bench):
    bench.model(hold(text("Once upon a time"), after=3))
    engine = bench.engine()
    shown = asyncio.Event()
    running = asyncio.create_task(bench.go_on(engine, on_event=lambda _: shown.set()))
    await bench.server.wait_for(1)
    await shown.wait()

    await engine.aclose()

    assert bench.records(engine.session_id)[-1]["type"] == "terminal"
    run = await running
    assert run.reason is Reason.ABORTED_STREAMING
    assert run.result.exit == 143


async def test_clearing_starts_an_empty_conversation_in_a_new_session(bench):
    bench.model(text("One."), text("Two."))
    engine = bench.engine()
    await bench.go_on(engine, "first")
    before = engine.session_id

    engine = engine.clear()
    await bench.go_on(engine, "second")

    assert engine.session_id != before
    assert len(bench.sent[1]) == 1


async def test_compacting_by_hand_leaves_a_summary_and_the_prompt_after_it(bench):
    bench.model(text("A long story. " * 60), bench.summary(text("They told a story.")), text("Fine."))
    engine = bench.engine()
    await bench.go_on(engine, "tell me")

    notices = [event async for event in engine.compact("Keep the hero's name.")]
    await bench.go_on(engine, "and?")

    assert notices[-1].text.startswith("Compacted from about ")
    [message] = bench.sent[2]
    assert "They told a story." in message["content"][0]["text"]
    assert "Keep the hero's name." in bench.sent[1][-1]["content"][-1]["text"]


async def test_whoever_closes_it_a_second_time_waits_for_the_ending_too(bench):
    bench.model(hold(text("Once upon a time"), after=3))
    engine = bench.engine()
    shown = asyncio.Event()
    running = asyncio.create_task(bench.go_on(engine, on_event=lambda _: shown.set()))
    await bench.server.wait_for(1)
    await shown.wait()
    first = asyncio.create_task(engine.aclose())
    await asyncio.sleep(0)

    await engine.aclose()

    assert bench.records(engine.session_id)[-1]["type"] == "terminal"
    await asyncio.gather(first, running)
