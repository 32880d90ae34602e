"""Compactions that come at a bad moment, twice, or not at all: the session goes on, and nothing is left hanging."""

import asyncio
from contextlib import aclosing

import pytest

from everturn.core.messages import Kind
from everturn.core.state import Reason
from everturn.frontends.commands import COMMANDS, parse_command, run_command
from everturn.modelserver import call, error, hold, say, text, too_long, when

LIMITS = {"collapse_from": 0, "collapse_share": 0, "clear_share": 1}
LONG = "An earlier answer. " * 100
PICTURE = {
    "type": "image",
    "source": {
        "type": "base64",
        "media_type": "image/png",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
    },
}


async def command(engine, line):
    """What it says at last."""
    invoked = parse_command(line, COMMANDS)
    async with aclosing(run_command(invoked, engine, COMMANDS)) as replies:
        *_, last = [reply async for reply in replies]
    return last.text


def play_fix(bench, *answers, small):
    (bench.folder / "Makefile").write_text("test:\n\t@seq 700\n\t@test -e fixed\n")
    make = call("Bash", {"command": "make test"})
    bench.model(
        *(make, call("Bash", {"command": "touch fixed"}), make, call("Glob", {"pattern": "*"}), *answers),
        when(small, last_user_contains="finished stretch"),
    )
    return {"permission_mode": "bypassPermissions", "limits": LIMITS, "small_model": "claude-haiku-4-5"}


def release_at_summary(bench):
    def release(event):
        if getattr(event, "purpose", "") == "collapse":
            bench.server.release("go")

    return release


@pytest.mark.parametrize("refusal", [too_long(), error(413)], ids=["400", "413"])
async def test_right_after_many_calls_at_once(bench, refusal):
    (bench.folder / "a.txt").write_text("A line of text.\n" * 200)
    (bench.folder / "b.txt").write_text("Another line.\n" * 200)
    many = say(
        call("Read", {"file_path": str(bench.folder / "a.txt")}),
        call("Bash", {"command": "exit 3"}),
        call("Read", {"file_path": str(bench.folder / "none.txt")}),
        call("Read", {"file_path": str(bench.folder / "b.txt")}),
    )
    bench.model(text(LONG), many, refusal, many, refusal, text("Done."), bench.summary())
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine, "Begin.")

    run = await bench.go_on(engine, "Look at all of them.")

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "Done.")
    assert run.transitions == ["next_turn", "reactive_compact_retry"] * 2
    bench.assert_settled(engine)


async def test_a_refusal_one_round_after_a_compaction_and_again(bench):
    """The summary is as long as the one before it: nothing else is left to be made smaller, and it is smaller by a little."""
    rounds = [answer for number in range(4) for answer in (too_long(), call("Bash", {"command": f"echo {number}"}))]
    words = iter(range(2_000, 0, -300))
    bench.model(
        *(text(LONG * 12), *rounds, text("Done.")),
        bench.summary(lambda _: text("Some words about it. " * (next(words) // 4))),
    )
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine, "Begin.")

    run = await bench.go_on(engine, "Go on.")

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "Done.")
    assert run.transitions == ["reactive_compact_retry", "next_turn"] * 4


async def test_pictures_that_make_a_request_too_large_are_left_out_where_nothing_else_helps(bench):
    bench.model(error(413), text("I see none."), bench.summary(error(413)))
    engine = bench.engine()

    run = await bench.go_on(engine, [{"type": "text", "text": "Look."}, PICTURE, PICTURE])

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "I see none.")
    assert [(event.stage, event.cause) for event in run.of("context")] == [("media", "too_long")]
    assert run.transitions == ["reactive_compact_retry"]
    assert ("Look." in str(bench.sent[-1]), "'image'" in str(bench.sent[-1])) == (True, False)


async def test_an_interrupt_while_finished_work_is_summarised_leaves_nothing_behind(bench):
    options = play_fix(
        bench, hold(text("Fixed."), after=-1, gate="main"), small=hold("Too late.", after=-1, gate="never")
    )
    engine = bench.engine(**options)
    working = asyncio.create_task(bench.go_on(engine, "Fix it."))
    await bench.server.wait_for(6)
    engine.abort()
    run = await working
    assert (run.reason, engine.collapses.all) == (Reason.ABORTED_STREAMING, ())
    bench.assert_settled(engine)

    bench.model(hold(text("Went on.")), when("Fixed at last.", last_user_contains="finished stretch"))
    run = await bench.go_on(engine, "Go on.", on_event=release_at_summary(bench))

    assert run.reason is Reason.COMPLETED
    assert ["Fixed at last." in note.summary for note in engine.collapses.all] == [True]


async def test_an_interrupt_in_mid_summary_changes_nothing_and_the_next_query_compacts(bench):
    small = [{"id": "claude-sonnet-5", "window": 20_000, "max_output": 2_000}]
    counts = {"input_tokens": 17_000, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    full = say(LONG, usage={**counts, "cache_creation": None})
    bench.model(full, bench.summary(hold(text("A sum"), after=-1, gate="never")))
    engine = bench.engine(models=small)
    await bench.go_on(engine, "Begin.")
    before = engine.transcript
    working = asyncio.create_task(bench.go_on(engine, "Go on."))
    await bench.server.wait_for(2)
    engine.abort()
    run = await working
    assert (run.reason, run.of("context")) == (Reason.ABORTED_STREAMING, [])
    assert engine.transcript[: len(before)] == before
    assert Kind.BOUNDARY not in [message.kind for message in engine.transcript]

    bench.model(text("Went on."), bench.summary())
    run = await bench.go_on(engine, "Go on then.")

    assert [(event.stage, event.cause) for event in run.of("context")] == [("compact", "auto")]
    assert run.result.text == "Went on."


async def test_by_hand_before_anything_was_said_and_twice_in_a_row(bench):
    bench.model(text(LONG), text("Went on."), bench.summary())
    engine = bench.engine()
    assert await command(engine, "/compact") == "Nothing was compacted: There is nothing to compact yet."
    await bench.go_on(engine, "Hello.")

    assert (await command(engine, "/compact keep the names")).startswith("Compacted from about ")
    assert await command(engine, "/compact") == "Nothing was compacted: There is nothing to compact yet."

    assert (await bench.go_on(engine, "Go on.")).result.text == "Went on."
    assert len(bench.requests) == 3


async def test_what_is_told_of_a_compaction_is_in_one_measure(bench):
    """The API counts fewer tokens than we estimate: what is left must not look like more than there was."""
    bench.model(text(LONG), text("Went on."), bench.summary())
    engine = bench.engine()
    await bench.go_on(engine, "Hello.")
    async with aclosing(engine.compact()) as events:
        [told] = [event async for event in events if event.__struct_config__.tag == "context"]

    run = await bench.go_on(engine, "Go on.")

    [counted] = [event.usage.context for event in run.of("usage")]
    assert told.tokens_after < told.tokens_before
    assert told.tokens_after == pytest.approx(counted, rel=0.05)


async def test_a_collapse_is_undone_after_a_resume_and_stays_undone_after_another(bench):
    options = play_fix(bench, hold(text("Fixed.")), *[text("Went on.")] * 4, small="It was broken, and was fixed.")
    engine = bench.engine(**options)
    await bench.go_on(engine, "Fix it.", on_event=release_at_summary(bench))
    await bench.go_on(engine, "Go on.")
    assert "make test" not in str(bench.sent[-1])
    await engine.aclose()
    second = bench.engine(**options, resume=engine.session_id)
    assert (await command(second, "/collapses")).startswith(
        "1. (sent instead of the messages that it summarises) [A finished"
    )

    assert (await command(second, "/collapses undo 1")).startswith("Undone: ")
    run = await bench.go_on(second, "And now?")
    assert [(event.stage, event.cause) for event in run.of("context")] == [("collapse", "undone")]
    assert "make test" in str(bench.sent[-1])
    await second.aclose()

    third = bench.engine(**options, resume=engine.session_id)
    await bench.go_on(third, "Still?")
    assert "make test" in str(bench.sent[-1])
    assert await command(third, "/collapses") == "Nothing is collapsed: all of the conversation is sent."
