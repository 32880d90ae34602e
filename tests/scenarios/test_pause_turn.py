"""The API pauses a long turn: it is sent back as it is, counts as a turn, and cannot pause for ever."""

import pytest

from everturn.core.state import Reason
from everturn.modelserver import call, pause, server_call, text

SEARCH = server_call("web_search", {"query": "news"}, [])


async def test_the_paused_answer_goes_back_unchanged_as_the_last_message(bench):
    bench.model(pause(), text("Found it."))

    run = await bench.run()

    assert run.transitions == ["next_turn"]
    assert [event.turn for event in run.of("request_start")] == [1, 2]
    assert run.result.num_turns == 1
    assert bench.sent[1][:-1] == bench.sent[0]
    assert bench.sent[1][-1]["role"] == "assistant"
    assert [block["type"] for block in bench.sent[1][-1]["content"]] == ["server_tool_use"]


@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-haiku-4-5"])
@pytest.mark.parametrize("ending", ["I look further. \n", "I look further", " \n", "So:\u2003"])
async def test_a_paused_answer_that_ends_in_text_is_taken_back_by_every_model(bench, model, ending):
    """A last message that is the model's own text is refused: by newer models always, by older ones after white space."""
    bench.model(pause(SEARCH, ending), pause(ending), text("Found it."))
    engine = bench.engine(model=model)

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    assert run.transitions == ["next_turn"] * 2
    assert run.result.text == f"{ending}{ending}Found it."
    received = [message.text for message in engine.transcript if message.role == "assistant"]
    assert received == [ending, ending, "Found it."]
    first, second, third = bench.sent
    assert (second[: len(first)], third[: len(second) - 1]) == (first, second[:-1])
    await engine.aclose()
    kept = bench.engine(resume=engine.session_id).transcript
    assert [message.text for message in kept if message.role == "assistant"] == received


async def test_a_pause_in_mid_text_is_gone_on_with_after_a_kill(bench):
    bench.model(pause(SEARCH, "I look further. \n"), text("Found it."))
    engine = bench.engine()
    await bench.go_on(engine)
    await engine.aclose()
    whole = bench.requests[-1]
    file = bench.session_file(engine.session_id)
    lines = file.read_bytes().splitlines(keepends=True)
    paused = next(number for number, line in enumerate(lines) if b'"stop_reason":"pause_turn"' in line)
    file.write_bytes(b"".join(lines[: paused + 1]))

    bench.model(text("Found it."))
    resumed = bench.engine(resume=engine.session_id)
    assert resumed.is_unfinished
    events = [event async for event in resumed.resume_query()]

    assert events[-1].reason is Reason.COMPLETED
    assert bench.requests[-1].raw == whole.raw


async def test_more_than_ten_pauses_in_a_row_end_in_model_error_that_is_not_the_apis(bench):
    bench.model(pause())

    run = await bench.run()

    assert run.transitions == ["next_turn"] * 10
    assert run.reason is Reason.MODEL_ERROR
    assert run.result.terminal_reason == "model_error"
    assert len(bench.requests) == 11


async def test_a_tool_round_forgets_the_pauses(bench):
    bench.model(pause(), pause(), call("Glob", {"pattern": "*"}), pause(), pause(), text("Done."))

    run = await bench.run(limits={"pauses": 2})

    assert run.reason is Reason.COMPLETED
    assert run.transitions == ["next_turn"] * 5


async def test_pauses_count_against_the_turn_limit(bench):
    bench.model(pause())

    run = await bench.run(max_turns=3)

    assert run.reason is Reason.MAX_TURNS
    assert len(bench.requests) == 3
