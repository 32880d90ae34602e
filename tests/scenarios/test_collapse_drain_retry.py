"""Too long, and finished stretches are staged: they are committed all at once, and the request is made again."""

from everturn.core.state import Reason
from everturn.modelserver import calls, text, too_long

WORK = "A long report on what was found. " * 40


async def work_and_stage(bench, engine, summary="Searched and found it."):
    """One finished prompt with a tool round, staged as a whole."""
    (bench.folder / "a.txt").write_text(WORK)
    bench.model(calls(("Read", {"file_path": str(bench.folder / "a.txt")})), text("Found it."))
    await bench.go_on(engine, "Search.")
    first, *_, last = engine.transcript
    engine.collapses.stage(first.id, last.id, summary)


async def test_staged_collapses_are_committed_and_the_request_is_made_again(bench):
    engine = bench.engine()
    await work_and_stage(bench, engine)
    whole = engine.transcript
    bench.model(too_long(), text("Went on."))

    run = await bench.go_on(engine, "Go on.")

    assert run.transitions == ["collapse_drain_retry"]
    assert run.reason is Reason.COMPLETED
    assert len(bench.sent[-2]) == 5
    assert bench.sent[-1] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Searched and found it."}, {"type": "text", "text": "Go on."}],
        }
    ]
    assert engine.transcript[: len(whole)] == whole
    [change] = run.of("context")
    assert (change.stage, change.cause) == ("collapse", "too_long")
    assert change.tokens_after < change.tokens_before
    states = [record["state"] for record in bench.records(engine.session_id) if record["type"] == "collapse"]
    assert states[-1] == "committed"


async def test_a_committed_collapse_lasts_into_the_next_prompt_and_can_be_undone(bench):
    engine = bench.engine()
    await work_and_stage(bench, engine)
    bench.model(too_long(), text("Went on."))
    await bench.go_on(engine)
    await bench.go_on(engine)
    assert WORK[:50] not in str(bench.sent[-1])

    [collapse] = engine.collapses.committed
    engine.collapses.undo(collapse.id)
    await bench.go_on(engine)

    assert WORK[:50] in str(bench.sent[-1])


async def test_a_collapse_that_cannot_be_committed_falls_through_to_compaction(bench):
    engine = bench.engine()
    await work_and_stage(bench, engine, summary="Longer than what it stands for. " * 100)
    bench.model(too_long(), text("Went on."), bench.summary())

    run = await bench.go_on(engine)

    assert run.transitions == ["reactive_compact_retry"]


async def test_a_second_refusal_right_after_a_drain_is_not_drained_again(bench):
    engine = bench.engine()
    await work_and_stage(bench, engine)
    engine.collapses.stage("nowhere", "nowhere", "Staged, but never to be committed.")
    bench.model(too_long(), too_long(), text("Went on."), bench.summary())

    run = await bench.go_on(engine)

    assert run.transitions == ["collapse_drain_retry", "reactive_compact_retry"]
    assert run.reason is Reason.COMPLETED


async def test_switched_off_collapses_are_left_alone(bench):
    engine = bench.engine(collapse=False)
    await work_and_stage(bench, engine)
    bench.model(too_long(), text("Went on."), bench.summary())

    run = await bench.go_on(engine)

    assert run.transitions == ["reactive_compact_retry"]
    assert len(engine.collapses.staged) == 1
