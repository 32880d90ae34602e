"""A small model words each batch of calls in one line, beside the next call and never in its way."""

import asyncio

from everturn.core.state import Reason
from everturn.modelserver import call, error, hold, text, when

SMALL = "claude-haiku-4-5"
GLOB = call("Glob", {"pattern": "*"})


def release_after_summary(bench):
    def listen(event):
        if event.__struct_config__.tag == "usage" and event.purpose == "tool_summary":
            bench.server.release()

    return listen


async def test_it_is_asked_beside_the_next_call_shown_with_the_one_after_and_charged(bench):
    bench.model(GLOB, hold(GLOB), text("Done."), when("Listed the files.", model=SMALL))
    engine = bench.engine(tool_summaries=True)

    run = await bench.go_on(engine, on_event=release_after_summary(bench))

    summary, *_ = run.of("tool_summary")
    assert summary.text == "Listed the files."
    [first, _] = [use.id for message in engine.transcript for use in message.uses]
    assert summary.tool_use_ids == (first,)
    assert run.kinds[run.kinds.index("tool_summary") - 1] == "request_start"
    purposes = [usage.purpose for usage in run.of("usage")]
    assert purposes[:3] == ["main", "tool_summary", "main"]
    assert run.result.models[SMALL].usd > 0
    assert run.result.usage.output == sum(usage.usage.output for usage in run.of("usage") if usage.purpose == "main")


async def test_every_batch_gets_its_summary(bench):
    """Each is worded while the next call is under way, so that it is not ready when that begins."""
    bench.model(GLOB, *[hold(GLOB)] * 4, hold(text("Done.")), when("Listed the files.", model=SMALL))
    engine = bench.engine(tool_summaries=True)

    run = await bench.go_on(engine, on_event=release_after_summary(bench))

    uses = [use.id for message in engine.transcript for use in message.uses]
    assert len(uses) == 5
    assert [summary.tool_use_ids for summary in run.of("tool_summary")] == [(use,) for use in uses]


async def test_a_slow_summary_does_not_cost_the_next_batch_its_own(bench):
    slow = when(hold("Slow.", after=-1, gate="slow"), "Quick.", model=SMALL)
    bench.model(GLOB, GLOB, hold(text("Done."), gate="end"), slow)

    def listen(event):
        match event.__struct_config__.tag:
            case "usage" if event.purpose == "tool_summary" and not seen:
                seen.append(event)
                bench.server.release("slow")
            case "usage" if event.purpose == "tool_summary":
                bench.server.release("end")

    seen = []
    run = await bench.go_on(bench.engine(tool_summaries=True), on_event=listen)

    assert sorted(summary.text for summary in run.of("tool_summary")) == ["Quick.", "Slow."]


async def test_it_is_off_by_default(bench):
    bench.model(GLOB, text("Done."))

    run = await bench.run()

    assert len(bench.requests) == 2
    assert run.of("tool_summary") == []


async def test_one_that_is_not_ready_at_the_end_is_dropped(bench):
    bench.model(GLOB, text("Done."), when(hold("Too late.", after=-1), model=SMALL))

    async with asyncio.timeout(60):
        run = await bench.run(tool_summaries=True)

    assert run.reason is Reason.COMPLETED
    assert run.of("tool_summary") == []


async def test_one_that_fails_is_dropped_and_does_no_harm(bench):
    bench.model(GLOB, GLOB, text("Done."), when(error(400), model=SMALL))

    run = await bench.run(tool_summaries=True)

    assert run.reason is Reason.COMPLETED
    assert run.of("tool_summary", "error") == []


async def test_the_small_model_is_an_option(bench):
    bench.model(GLOB, hold(text("Done.")), when("Listed.", model="claude-opus-4-8"))

    run = await bench.go_on(
        bench.engine(tool_summaries=True, small_model="claude-opus-4-8"), on_event=release_after_summary(bench)
    )

    assert set(run.result.models) == {"claude-sonnet-5", "claude-opus-4-8"}
