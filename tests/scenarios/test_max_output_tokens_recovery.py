"""A cut answer is resumed where it stopped, at most three times, and reads as one in the end."""

from everturn.core.messages import Kind
from everturn.core.state import Reason
from everturn.modelserver import text, thinking, truncated


async def test_the_partial_answer_and_a_hidden_message_are_sent_and_the_parts_are_joined(bench):
    bench.model(truncated("The first half, "), text("the second half."))
    engine = bench.engine(escalate=False)

    run = await bench.go_on(engine, "Tell me.")

    assert run.transitions == ["max_output_tokens_recovery"]
    assert run.reason is Reason.COMPLETED
    assert run.result.text == "The first half, the second half."
    assert [message["role"] for message in bench.sent[1]] == ["user", "assistant", "user"]
    assert bench.sent[1][1]["content"] == [{"type": "text", "text": "The first half, "}]
    assert [message.kind for message in engine.transcript] == [Kind.PROMPT, Kind.ANSWER, Kind.HIDDEN, Kind.ANSWER]
    assert run.result.num_turns == 1


async def test_what_an_exact_continuation_has_in_common_with_the_part_before_stays(bench):
    bench.model(truncated("[0, 0, 0, 0, 0, 0, "), text("0, 0, 0, 0, 0, 0]"))

    run = await bench.run(escalate=False)

    assert run.result.text == "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"


async def test_lines_that_the_resumed_part_repeats_up_to_the_torn_one_are_removed(bench):
    lines = "def area(width, height):\n    return width * height\n\n\ndef volume(width, height, depth):\n"
    torn = "    return area(width, "
    bench.model(truncated(f"Two functions:\n{lines}{torn}"), text(f"{lines}{torn}height) * depth\n"))
    engine = bench.engine(escalate=False)

    run = await bench.go_on(engine)

    assert run.result.text == f"Two functions:\n{lines}{torn}height) * depth\n"
    assert engine.transcript[-1].text == "height) * depth\n"


async def test_an_escalated_answer_that_is_cut_again_is_resumed_under_the_raised_cap(bench):
    bench.model(truncated("Lost."), truncated("Begun, "), text("ended."))

    run = await bench.run()

    assert run.transitions == ["max_output_tokens_escalate", "max_output_tokens_recovery"]
    assert [body["max_tokens"] for body in bench.bodies] == [32_000, 64_000, 64_000]
    assert run.result.text == "Begun, ended."


async def test_after_three_resumes_it_ends_completed_with_the_error_released_once(bench):
    bench.model(truncated("a "), truncated("b "), truncated("c "), truncated("d "), text("never"))

    run = await bench.run(escalate=False)

    assert run.transitions == ["max_output_tokens_recovery"] * 3
    assert len(bench.requests) == 4
    assert run.reason is Reason.COMPLETED
    assert (run.result.subtype, run.result.is_error, run.result.exit) == ("success", True, 1)
    assert run.result.text == "a b c d "
    [error] = run.of("error")
    assert error.problem.kind == "max_output_tokens"
    assert run.result.errors == (error.problem.text,)


async def test_stop_hooks_do_not_run_after_an_answer_that_was_never_finished(bench):
    asked = []

    async def hook(turn):
        asked.append(turn)

    bench.model(truncated("a "))

    await bench.run(escalate=False, hooks={"stop": hook})

    assert asked == []


async def test_an_answer_cut_while_it_thought_is_resumed_without_the_thought(bench):
    bench.model(truncated(thinking("Hm, let me see")), text("Here."))
    engine = bench.engine(escalate=False)

    run = await bench.go_on(engine)

    assert run.transitions == ["max_output_tokens_recovery"]
    assert run.result.text == "Here."
    assert [block["type"] for message in bench.sent[1] for block in message["content"]] == ["text", "text"]
