"""An answer that hit the output cap is asked for again, once, with a larger cap."""

from everturn.core.state import Reason
from everturn.modelserver import call, say, text, truncated


async def test_the_same_request_goes_out_again_with_the_larger_cap(bench):
    bench.model(truncated("Half an ans"), text("A whole answer."))

    run = await bench.run()

    assert run.transitions == ["max_output_tokens_escalate"]
    assert run.reason is Reason.COMPLETED
    assert [body["max_tokens"] for body in bench.bodies] == [32_000, 64_000]
    assert bench.sent[1] == bench.sent[0]


async def test_the_cut_answer_is_retracted_and_never_enters_the_transcript(bench):
    bench.model(truncated("Half an ans"), text("A whole answer."))
    engine = bench.engine()

    run = await bench.go_on(engine)

    [tombstone] = run.of("tombstone")
    assert tombstone.cause == "escalation"
    assert tombstone.message_id == run.of("text_delta")[0].message_id
    assert [message.text for message in engine.transcript] == ["Go on.", "A whole answer."]
    assert run.result.text == "A whole answer."
    assert "Half an ans" not in "".join(str(record) for record in bench.records(engine.session_id))


async def test_a_call_cut_in_mid_input_is_no_call_and_escalates(bench):
    cut_call = truncated(call("Write", {"file_path": str(bench.folder / "a.txt"), "content": "never"}))
    bench.model(cut_call, text("Instead."))

    run = await bench.run(permission_mode="acceptEdits")

    assert run.transitions == ["max_output_tokens_escalate"]
    assert run.of("tool_start") == []
    assert not (bench.folder / "a.txt").exists()


async def test_a_complete_call_in_a_truncated_answer_runs_and_nothing_escalates(bench):
    path = bench.folder / "a.txt"
    whole = call("Write", {"file_path": str(path), "content": "kept"})
    bench.model(say(whole, stop_reason="max_tokens", verbatim=True), text("Done."))

    run = await bench.run(permission_mode="acceptEdits")

    assert run.transitions == ["next_turn"]
    assert path.read_text() == "kept"


async def test_the_cap_of_a_model_that_takes_no_more_is_not_raised(bench):
    small = {"id": "claude-sonnet-5", "max_output": 8_192}
    bench.model(truncated("Half an answer"), text(" and the rest."))

    run = await bench.run(models=[small])

    assert run.transitions == ["max_output_tokens_recovery"]


async def test_escalation_stays_within_the_limit_of_the_model(bench):
    bench.model(truncated("Half an ans"), text("Whole."))

    run = await bench.run(models=[{"id": "claude-sonnet-5", "max_output": 40_000}])

    assert run.transitions == ["max_output_tokens_escalate"]
    assert [body["max_tokens"] for body in bench.bodies] == [32_000, 40_000]


async def test_a_cap_of_the_callers_own_is_never_escalated(bench):
    bench.model(truncated("Half an answer"), text(" and the rest."))

    run = await bench.run(max_output_tokens=500)

    assert run.transitions == ["max_output_tokens_recovery"]
    assert [body["max_tokens"] for body in bench.bodies] == [500, 500]


async def test_the_raised_cap_is_forgotten_after_a_tool_round(bench):
    (bench.folder / "a.txt").write_text("alpha\n")
    bench.model(truncated("Half"), call("Read", {"file_path": str(bench.folder / "a.txt")}), text("Done."))

    run = await bench.run()

    assert run.transitions == ["max_output_tokens_escalate", "next_turn"]
    assert [body["max_tokens"] for body in bench.bodies] == [32_000, 64_000, 32_000]
