"""A window that overflows again and again: the four defences come in their order, and each is told."""

import pytest

from everturn.core.state import Reason
from everturn.modelserver import call, error, say, text, too_long

WINDOW = 20_000
SMALL = [{"id": "claude-sonnet-5", "window": WINDOW, "max_output": 2_000}]
TINY = [{"id": "claude-sonnet-5", "window": 600, "max_output": 100}]


def filling(tokens, *parts):
    """An answer after which the API counts so many tokens in the window."""
    counts = {"input_tokens": tokens, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    return say(*(parts or ("Some words. " * 40,)), usage={**counts, "cache_creation": None})


def told(run):
    """Stages and transitions, in their order."""
    names = {"context": lambda event: (event.stage, event.cause), "transition": lambda event: event.transition}
    return [names[kind](event) for kind, event in zip(run.kinds, run.events, strict=True) if kind in names]


@pytest.mark.parametrize("refusal", [too_long(), error(413)], ids=["400", "413"])
async def test_all_defences_appear_in_their_order(bench, refusal):
    (bench.folder / "a.txt").write_text("A long line of text to be read.\n" * 100)
    look = call("Read", {"file_path": str(bench.folder / "a.txt")})
    bench.model(
        *(filling(17_000, "Some words. " * 80), look, text("Found it. " * 40)),
        *(refusal, look, refusal, text("Went on. " * 40)),
        bench.summary(),
    )
    engine = bench.engine(models=SMALL)
    await bench.go_on(engine, "Begin.")

    ahead = await bench.go_on(engine, "Look at it.")
    assert told(ahead) == [("compact", "auto"), "next_turn"]

    [prompt] = [message.id for message in engine.transcript if message.text == "Look at it."]
    engine.collapses.stage(prompt, engine.transcript[-1].id, "Looked, and found it.")
    refused = await bench.go_on(engine, "Go on.")
    assert told(refused) == [
        ("collapse", "too_long"),
        "collapse_drain_retry",
        "next_turn",
        ("compact", "too_long"),
        "reactive_compact_retry",
    ]
    assert {run.reason for run in bench.runs} == {Reason.COMPLETED}
    await engine.aclose()

    asked = len(bench.requests)
    last = await bench.run(
        "And now?", resume=engine.session_id, models=TINY, auto_compact=False, reactive_compact=False
    )
    assert (last.reason, last.result.is_error, len(bench.requests)) == (Reason.BLOCKING_LIMIT, True, asked)


async def test_a_window_that_shrinks_with_another_model_is_compacted_into_it(bench):
    large = {"id": "claude-opus-5", "window": 200_000, "max_output": 2_000}
    bench.model(text("I have read it."), text("Went on."), bench.summary())
    engine = bench.engine(models=[*SMALL, large], model="claude-opus-5")
    await bench.go_on(engine, "Read this. " + "A long report. " * 6_000)
    await engine.aclose()

    run = await bench.run("Go on.", models=[*SMALL, large], model="claude-sonnet-5", resume=engine.session_id)

    assert told(run) == [("compact", "auto")]
    assert run.result.text == "Went on."


async def test_a_prompt_larger_than_the_window_fails_clearly_and_the_next_one_works(bench):
    bench.model(too_long(), too_long(), text("Better."), bench.summary(too_long()))
    engine = bench.engine(models=SMALL)

    first = await bench.go_on(engine, "Look at this: " + "x y " * 50_000)
    second = await bench.go_on(engine, "Shorter.")

    assert (first.reason, first.result.is_error) == (Reason.PROMPT_TOO_LONG, True)
    assert (second.reason, second.result.text) == (Reason.COMPLETED, "Better.")
    assert told(second) == [("snip", "no_summary"), "reactive_compact_retry"]
    assert "x y x y" not in str(bench.sent[-1])


async def test_six_hundred_pictures_are_sent_as_far_as_the_model_takes_them(bench):
    picture = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
        },
    }
    bench.model(text("Nice. " * 30), text("I see."), bench.summary())
    engine = bench.engine(model="claude-haiku-4-5")
    await bench.go_on(engine, "Hello.")

    run = await bench.go_on(engine, [{"type": "text", "text": "Look."}, *[picture] * 600])

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "I see.")
    assert str(bench.sent[-1]).count("'type': 'image'") == 100
    assert [usage.purpose for usage in run.of("usage")] == ["main"]
