"""The API refuses the conversation as too long: a summary takes its place, once, and the request is made again."""

import pytest

from everturn.core.messages import Kind
from everturn.core.state import Reason
from everturn.modelserver import calls, error, text, too_long

WINDOW_FULL = text("Half an ans", stop_reason="model_context_window_exceeded", verbatim=True)


@pytest.mark.parametrize(
    "refusal", [too_long(), error(413), WINDOW_FULL], ids=["too_long", "413", "model_context_window_exceeded"]
)
async def test_it_is_compacted_and_asked_again(bench, refusal):
    bench.model(text("An earlier answer. " * 50), refusal, text("Went on."), bench.summary())
    engine = bench.engine()
    await bench.go_on(engine, "An earlier prompt.")

    run = await bench.go_on(engine, "The last prompt.")

    assert run.transitions == ["reactive_compact_retry"]
    assert run.reason is Reason.COMPLETED
    assert run.result.text == "Went on."
    assert run.of("error") == []
    retried = str(bench.sent[-1])
    assert "What happened, in short." in retried
    assert "The last prompt." in retried
    assert "An earlier answer." not in retried
    assert "Half an ans" not in retried


async def test_the_transcript_stays_whole_and_gets_a_boundary_with_the_summary_after_it(bench):
    bench.model(text("An earlier answer. " * 50), too_long(), text("Went on."), bench.summary())
    engine = bench.engine()
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    kinds = [message.kind for message in engine.transcript]
    assert kinds == [Kind.PROMPT, Kind.ANSWER, Kind.PROMPT, Kind.BOUNDARY, Kind.SUMMARY, Kind.ANSWER]
    [change] = run.of("context")
    assert (change.stage, change.cause) == ("compact", "too_long")


async def test_what_was_before_the_boundary_is_never_sent_again(bench):
    bench.model(text("An earlier answer. " * 50), too_long(), text("Went on."), bench.summary())
    engine = bench.engine()
    for _ in range(3):
        await bench.go_on(engine)

    assert "An earlier answer." not in str(bench.sent[-1])
    assert bench.sent[-1][: len(bench.sent[-2])] == bench.sent[-2]


async def test_the_summary_is_charged_with_its_purpose(bench):
    bench.model(text("An earlier answer. " * 50), too_long(), text("Went on."), bench.summary())
    engine = bench.engine()
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert [usage.purpose for usage in run.of("usage")] == ["summary", "main"]
    charged = [record["purpose"] for record in bench.records(engine.session_id) if record["type"] == "usage"]
    assert charged == ["main", "summary", "main"]
    assert run.result.usage == run.of("usage")[1].usage


async def test_a_summary_that_is_itself_too_long_leaves_out_the_oldest_rounds(bench):
    refused_once = bench.summary(too_long(), at_end="pass")
    bench.model(
        *[text(f"Answer {n}. " * 50) for n in range(4)], too_long(), text("Went on."), refused_once, bench.summary()
    )
    engine = bench.engine()
    for n in range(4):
        await bench.go_on(engine, f"Prompt {n}.")

    run = await bench.go_on(engine, "The last prompt.")

    assert run.transitions == ["reactive_compact_retry"]
    asked, asked_again = bench.sent[-3], bench.sent[-2]
    assert "Answer 0." in str(asked)
    assert "Answer 0." not in str(asked_again)
    assert "Answer 3." in str(asked_again)


async def test_it_is_tried_once_and_again_after_a_tool_round(bench):
    (bench.folder / "a.txt").write_text("alpha\n")
    read = calls(("Read", {"file_path": str(bench.folder / "a.txt")}))
    bench.model(text("An earlier answer. " * 50), too_long(), read, too_long(), text("Done."), bench.summary())
    engine = bench.engine()
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.transitions == ["reactive_compact_retry", "next_turn", "reactive_compact_retry"]
    assert run.reason is Reason.COMPLETED
