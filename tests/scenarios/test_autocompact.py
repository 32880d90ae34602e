"""The window fills: staged collapses are committed one at a time, then a summary is made ahead of time."""

from everturn.core.messages import Kind
from everturn.core.state import Reason
from everturn.modelserver import call, cut, error, say, text

WINDOW = 20_000
SMALL = [{"id": "claude-sonnet-5", "window": WINDOW, "max_output": 2_000}]


def filling(tokens, *parts):
    """An answer after which the API counts so many tokens in the window."""
    counts = {"input_tokens": tokens, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    return say(*(parts or ("Some words. " * 40,)), usage={**counts, "cache_creation": None})


async def test_above_the_threshold_a_summary_is_made_before_the_call(bench):
    bench.model(filling(17_000), text("Went on."), bench.summary())
    engine = bench.engine(models=SMALL)
    await bench.go_on(engine, "Begin.")

    run = await bench.go_on(engine, "Go on.")

    assert run.transitions == []
    assert run.reason is Reason.COMPLETED
    [change] = run.of("context")
    assert (change.stage, change.cause) == ("compact", "auto")
    assert change.tokens_after < change.tokens_before
    assert [usage.purpose for usage in run.of("usage")] == ["summary", "main"]
    assert "What happened, in short." in str(bench.sent[-1])
    assert "Some words." not in str(bench.sent[-1])
    assert Kind.BOUNDARY in [message.kind for message in engine.transcript]


async def test_below_the_threshold_nothing_happens(bench):
    bench.model(filling(15_000), text("Went on."), bench.summary())
    engine = bench.engine(models=SMALL)
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.of("context") == []


async def test_switched_off_nothing_happens(bench):
    bench.model(filling(17_000), text("Went on."), bench.summary())
    engine = bench.engine(models=SMALL, auto_compact=False)
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.of("context") == []
    assert run.reason is Reason.COMPLETED


async def test_a_staged_collapse_that_makes_enough_room_comes_first(bench):
    (bench.folder / "a.txt").write_text("A long line of text to be read.\n" * 400)
    read = call("Read", {"file_path": str(bench.folder / "a.txt")})
    bench.model(read, filling(15_500), text("Went on."), bench.summary())
    engine = bench.engine(models=SMALL)
    await bench.go_on(engine)
    engine.collapses.stage(engine.transcript[0].id, engine.transcript[-2].id, "Read a file.")

    run = await bench.go_on(engine)

    assert [(change.stage, change.cause) for change in run.of("context")] == [("collapse", "soft_limit")]
    assert [usage.purpose for usage in run.of("usage")] == ["main"]


async def test_after_three_failures_in_a_row_it_stops_trying_and_said_so(bench):
    bench.model(filling(17_000), *[filling(17_000)] * 5, bench.summary(error(400)))
    engine = bench.engine(models=SMALL)

    runs = [await bench.go_on(engine) for _ in range(6)]

    assert [len(run.of("notice")) for run in runs] == [0, 1, 1, 1, 0, 0]
    assert ["not tried again" in str(run.of("notice")) for run in runs] == [False, False, False, True, False, False]
    assert {run.reason for run in runs} == {Reason.COMPLETED}
    asked = [body for body in bench.bodies if "Write a summary" in str(body["messages"][-1])]
    assert len(asked) == 3


async def test_it_happens_in_the_middle_of_a_tool_loop_without_parting_a_pair(bench):
    (bench.folder / "a.txt").write_text("A long line of text to be read.\n" * 400)
    read = call("Read", {"file_path": str(bench.folder / "a.txt")})
    bench.model(text("I see."), filling(15_000, read), text("Done."), bench.summary())
    engine = bench.engine(models=SMALL)
    await bench.go_on(engine, "Some words about it. " * 700)

    run = await bench.go_on(engine, "Find out.")

    assert run.transitions == ["next_turn"]
    assert run.reason is Reason.COMPLETED
    assert [change.cause for change in run.of("context")] == ["auto"]
    assert "Find out." in str(bench.sent[-1])
    assert str(bench.sent[-1]).count("A long line of text to be read.") == 400
    bench.assert_settled(engine)


async def test_a_call_for_a_summary_is_retried_and_announced_like_any_other(bench):
    bench.model(filling(17_000), text("Went on."), bench.summary(error(500), text("In short.")))
    engine = bench.engine(models=SMALL)
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    assert [(retry.attempt, retry.max_tries, retry.status) for retry in run.of("api_retry")] == [(1, 10, 500)]
    assert "In short." in str(bench.sent[-1])


async def test_a_summary_that_is_cut_after_its_stop_reason_is_whole_and_paid_once(bench):
    bench.model(filling(17_000), text("Went on."), bench.summary(cut("In short.", after=6)))
    engine = bench.engine(models=SMALL)
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert "In short." in str(bench.sent[-1])
    assert [usage.purpose for usage in run.of("usage")] == ["summary", "main"]


async def test_a_count_by_the_api_is_worth_more_than_an_estimate_and_spares_a_summary(bench):
    bench.model(text("Went on."), text("Fine."), bench.summary())
    engine = bench.engine(models=SMALL, builtin_tools=False)
    await bench.go_on(engine, "Begin.")

    run = await bench.go_on(engine, "." * 60_000)

    assert run.of("context") == []
    assert [request.path for request in bench.server.requests].count("/v1/messages/count_tokens") == 1
