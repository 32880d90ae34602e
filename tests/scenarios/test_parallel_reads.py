"""Rounds of large parallel reads, with the limits as they come: whatever gives way, it is nothing that the model has not read."""

import asyncio
import re
from pathlib import Path

import pytest

from everturn.core.state import Reason
from everturn.modelserver import Model, call, say, text

FIRST, THEN = 9, 7
MODEL = "claude-haiku-4-5"
"""A window of 200k."""
STALE = "[Stale, cleared: "


def write_files(bench, count, size):
    paths = [bench.folder / f"module_{number}.py" for number in range(count)]
    for number, path in enumerate(paths):
        line = f"value_{number} = compute(value_{number}, 'a word of file {number}')\n"
        path.write_text(line * (size // len(line)))
    return paths


def read_all(paths):
    return say("I read them.", *(call("Read", {"file_path": str(path)}) for path in paths))


def results_of(messages):
    """The text of each result, in order."""
    blocks = (block for message in messages for block in message["content"] if block["type"] == "tool_result")
    return [
        block["content"] if isinstance(block["content"], str) else "".join(part["text"] for part in block["content"])
        for block in blocks
    ]


def is_whole(result, size):
    """As it is, or in the file that it names."""
    named = re.findall(r"The whole result is in (\S+);", result)
    return len(Path(named[0]).read_text() if named else result) >= size


@pytest.mark.parametrize("size", [19_000, 26_000], ids=["118k tokens", "more than a round may bring"])
async def test_nine_large_reads_and_then_seven_all_reach_the_model(bench, size):
    paths = write_files(bench, FIRST + THEN, size)
    rounds = [
        read_all(paths[:FIRST]),
        read_all(paths[FIRST:]),
        *(call("Glob", {"pattern": f"*{n}*"}) for n in range(4)),
    ]
    bench.model(*rounds, text("Done."), bench.summary())

    run = await bench.run("Read all of it.", model=MODEL)

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "Done.")
    first, then = results_of(bench.sent[1]), results_of(bench.sent[2])
    assert (len(first), len(then)) == (FIRST, FIRST + THEN)
    whole = [f"value_{number} = compute" for number in range(FIRST + THEN)]
    assert [word for word, result in zip(whole, first + then[FIRST:], strict=True) if word not in result] == []
    assert not any(STALE in result for result in first + then[FIRST:])
    assert all(is_whole(result, size) for result in first + then[FIRST:])


async def test_what_gives_way_is_the_oldest_and_no_more_than_needed(bench):
    """Six rounds of seven reads are more than the window holds."""
    paths = write_files(bench, 42, 19_000)
    bench.model(*(read_all(paths[at : at + 7]) for at in range(0, 42, 7)), text("Done."), bench.summary())

    run = await bench.run("Read all of it.", model=MODEL)

    assert run.reason is Reason.COMPLETED
    assert {event.stage for event in run.of("context")} == {"microcompact"}
    for number, messages in enumerate(bench.sent[1:], start=1):
        told = [STALE in result for result in results_of(messages)]
        assert told == sorted(told, reverse=True), "an older result stands where a newer one was cleared"
        assert not any(told[7 * (number - 1) :]), "a result was cleared before the model had read it"
    for change in run.of("context"):
        assert change.tokens_after > 40_000


async def test_a_model_with_a_small_window_that_takes_over_finds_unread_results_in_files(bench):
    """The round was made for a window twenty times as large; the session ended before the model had read it."""
    large = {"id": "claude-opus-5", "window": 400_000, "max_output": 8_000}
    small = {"id": "claude-sonnet-5", "window": 20_000, "max_output": 2_000}
    served = [Model(id="claude-sonnet-5", window=20_000), Model(id="claude-opus-5", window=400_000)]
    paths = write_files(bench, 4, 30_000)
    bench.model(read_all(paths), models=served)
    engine = bench.engine(models=[small, large], model="claude-opus-5", max_turns=1)
    assert (await bench.go_on(engine, "Read all of it.")).reason is Reason.MAX_TURNS
    await engine.aclose()
    bench.model(text("Went on."), bench.summary(), models=served)

    options = {"models": [small, large], "model": "claude-sonnet-5", "resume": engine.session_id}
    engine = bench.engine(**options)
    run = await bench.go_on(engine, "Go on.")
    await engine.aclose()

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "Went on.")
    assert [(event.stage, event.cause) for event in run.of("context")] == [("tool_results", "no_room")]
    results = results_of(bench.sent[-1])
    files = [re.findall(r"The whole result is in (\S+);", result) for result in results]
    assert len(results) == len(paths)
    for number, (named, result) in enumerate(zip(files, results, strict=True)):
        whole = await asyncio.to_thread(Path(named[0]).read_text) if named else result
        assert whole.count(f"value_{number} = compute") == len(paths[number].read_text().splitlines())
    assert any(files)

    again = bench.engine(**options)
    bench.model(
        call("Read", {"file_path": next(named[0] for named in files if named), "limit": 5}),
        text("Read it."),
        models=served,
    )
    later = await bench.go_on(again, "Look at it.")

    assert (later.reason, later.result.denials) == (Reason.COMPLETED, ())
    assert results_of(bench.sent[-1])[: len(results)] == results
