"""The next turn would be one too many."""

from everturn.core.state import Reason
from everturn.modelserver import call, text

AGAIN = call("Glob", {"pattern": "*"})


async def test_it_ends_with_the_results_in_and_an_attachment_that_names_the_limit_and_the_turn_that_would_be_next(
    bench,
):
    bench.model(AGAIN)
    engine = bench.engine(max_turns=2)

    run = await bench.go_on(engine)

    assert run.transitions == ["next_turn"]
    assert run.reason is Reason.MAX_TURNS
    assert len(bench.requests) == 2
    [attachment] = run.of("attachment")
    assert (attachment.kind, attachment.detail) == ("max_turns_reached", {"limit": 2, "turn": 3})
    assert (run.result.subtype, run.result.is_error, run.result.exit) == ("error_max_turns", True, 1)
    assert "2" in run.result.errors[0]
    assert (run.result.num_turns, run.result.rounds) == (3, 2)
    bench.assert_settled(engine)


async def test_an_answer_in_the_last_turn_completes(bench):
    bench.model(AGAIN, text("Done."))

    run = await bench.run(max_turns=2)

    assert run.reason is Reason.COMPLETED


async def test_zero_is_no_limit_and_each_prompt_counts_anew(bench):
    bench.model(AGAIN, AGAIN, AGAIN, text("Done."))
    assert (await bench.run(max_turns=0)).reason is Reason.COMPLETED
    engine = bench.engine(max_turns=2)
    bench.model(AGAIN, text("Done."), AGAIN, text("Done."))

    reasons = [(await bench.go_on(engine)).reason for _ in range(2)]

    assert reasons == [Reason.COMPLETED, Reason.COMPLETED]
