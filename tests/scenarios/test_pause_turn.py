"""The API pauses a long turn: it is sent back as it is, counts as a turn, and cannot pause for ever."""

from everturn.core.state import Reason
from everturn.modelserver import call, pause, text


async def test_the_paused_answer_goes_back_unchanged_as_the_last_message(bench):
    bench.model(pause(), text("Found it."))

    run = await bench.run()

    assert run.transitions == ["next_turn"]
    assert [event.turn for event in run.of("request_start")] == [1, 2]
    assert run.result.num_turns == 1
    assert bench.sent[1][:-1] == bench.sent[0]
    assert bench.sent[1][-1]["role"] == "assistant"
    assert [block["type"] for block in bench.sent[1][-1]["content"]] == ["server_tool_use"]


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
