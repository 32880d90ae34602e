"""The window is full and nothing could make the request smaller: no call is made, the error says so."""

from everturn.core.state import Reason
from everturn.modelserver import text, too_long

SMALL = [{"id": "claude-sonnet-5", "window": 10_000, "max_output": 1_000}]
BIG = "word " * 20_000
OFF = {"auto_compact": False, "reactive_compact": False, "models": SMALL}


async def test_no_call_is_made(bench):
    bench.model(text("never"))

    run = await bench.run(BIG, **OFF)

    assert run.reason is Reason.BLOCKING_LIMIT
    assert bench.requests == []
    assert run.kinds[-3:] == ["error", "terminal", "result"]


async def test_a_request_that_fits_is_made(bench):
    bench.model(text("Hello."))

    run = await bench.run("Hi.", **OFF)

    assert run.reason is Reason.COMPLETED


async def test_reactive_compaction_that_could_help_lets_the_call_be_made(bench):
    bench.model(too_long(), text("Hello."), bench.summary())

    run = await bench.run(BIG, auto_compact=False, models=SMALL)

    assert run.transitions == ["reactive_compact_retry"]
    assert len(bench.requests) == 2


async def test_a_staged_collapse_that_could_help_lets_the_call_be_made(bench):
    bench.model(text("Hello."))
    engine = bench.engine(**OFF)
    engine.collapses.stage("nowhere", "nowhere", "It stands for nothing.")

    run = await bench.go_on(engine, BIG)

    assert len(bench.requests) == 1
    assert run.reason is Reason.COMPLETED


async def test_an_open_breaker_counts_as_auto_compaction_switched_off(bench):
    bench.model(text(BIG), text("never"), bench.summary(text("")))
    engine = bench.engine(reactive_compact=False, models=SMALL, limits={"compact_failures": 1})
    await bench.go_on(engine, "Begin.")

    run = await bench.go_on(engine, BIG)

    assert run.reason is Reason.BLOCKING_LIMIT
    assert len(bench.requests) == 2


async def test_no_summary_is_asked_for_that_could_not_help(bench):
    bench.model(text("Earlier."), text("never"), bench.summary(text("never")))
    engine = bench.engine(reactive_compact=False, models=SMALL)
    await bench.go_on(engine, "Begin.")

    run = await bench.go_on(engine, BIG)

    assert run.reason is Reason.BLOCKING_LIMIT
    assert len(bench.requests) == 1
