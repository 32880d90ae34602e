"""Still too long after all that could help: the withheld error is released, and no stop hook can send us back."""

import asyncio

from everturn.core.state import Reason
from everturn.modelserver import error, text, too_long


async def test_a_second_refusal_after_compaction_ends_the_query(bench):
    engine = bench.engine()
    bench.model(text("An earlier answer. " * 50), too_long(), bench.summary())
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.transitions == ["reactive_compact_retry"]
    assert run.reason is Reason.PROMPT_TOO_LONG
    [released] = run.of("error")
    assert released.problem.kind == "too_long"
    assert run.kinds[-3:] == ["error", "terminal", "result"]


async def test_a_summary_that_fails_where_there_is_nothing_else_to_leave_out_ends_the_query(bench):
    bench.model(too_long(), bench.summary(error(400)))

    run = await bench.run()

    assert run.transitions == []
    assert run.reason is Reason.PROMPT_TOO_LONG


async def test_without_reactive_compaction_the_first_refusal_ends_it(bench):
    bench.model(too_long())

    run = await bench.run(reactive_compact=False)

    assert run.reason is Reason.PROMPT_TOO_LONG
    assert len(bench.requests) == 1


async def test_stop_hooks_do_not_run_but_failure_hooks_start(bench):
    stopped, failures, told = [], [], asyncio.Event()

    async def on_failure(failure):
        failures.append(failure.reason)
        told.set()

    async def on_stop(turn):
        stopped.append(turn)

    bench.model(too_long())
    await bench.run(reactive_compact=False, hooks={"stop": on_stop, "stop_failure": on_failure})

    async with asyncio.timeout(60):
        await told.wait()
    assert failures == ["prompt_too_long"]
    assert stopped == []


async def test_the_next_prompt_is_asked_all_the_same(bench):
    bench.model(too_long(), text("It fits now."))
    engine = bench.engine(reactive_compact=False)
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
