"""The API's word counts more than our estimate: it may refuse what looks short to us."""

from everturn.modelserver import text, too_long


async def test_two_short_messages_that_are_refused_are_compacted_and_the_turn_goes_on(bench):
    bench.model(text("hello"), too_long(), bench.summary(text("They greeted.")), text("Fine."))
    engine = bench.engine()
    await bench.go_on(engine, "hi")

    run = await bench.go_on(engine, "and now?")

    assert run.transitions == ["reactive_compact_retry"]
    assert run.result.text == "Fine."
