"""The limits of the ledger: money, tokens, calls, time and repetition each end a query with their own reason."""

import pytest

from everturn.core.state import Reason
from everturn.modelserver import call, calls, cut, error, hold, say, text

AGAIN = call("Glob", {"pattern": "*"})
PRICED = [{"id": "claude-sonnet-5", "prices": {"output": 10}}]


def costs(answer, tokens):
    return say(answer, usage={"output_tokens": tokens})


async def test_max_budget_usd_ends_at_most_one_call_over(bench):
    bench.model(costs(AGAIN, 10_000))
    engine = bench.engine(max_budget_usd=0.25, models=PRICED)

    run = await bench.go_on(engine)

    assert run.reason is Reason.MAX_BUDGET_USD
    assert run.result.terminal_reason == "budget_exhausted"
    before_last = run.result.total_usd - run.of("usage")[-1].usd
    assert before_last < 0.25 <= run.result.total_usd
    assert run.result.errors != ()
    bench.assert_settled(engine)


async def test_money_spent_on_attempts_and_summaries_counts(bench):
    bench.model(
        text("Earlier. " * 50), error(400, message="prompt is too long"), bench.summary(costs(text("Sum."), 90_000))
    )
    engine = bench.engine(max_budget_usd=0.5, models=PRICED)
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.reason is Reason.MAX_BUDGET_USD
    assert [usage.purpose for usage in run.of("usage")] == ["summary"]


async def test_each_prompt_has_the_whole_budget(bench):
    bench.model(costs(text("Dear."), 10_000))
    engine = bench.engine(max_budget_usd=0.25, models=PRICED)

    reasons = [(await bench.go_on(engine)).reason for _ in range(3)]

    assert reasons == [Reason.COMPLETED] * 3
    assert engine.total_usd > 0.25


async def test_max_tokens_total(bench):
    bench.model(costs(AGAIN, 10_000))
    engine = bench.engine(max_total_tokens=15_000)

    run = await bench.go_on(engine)

    assert run.reason is Reason.MAX_TOKENS_TOTAL
    assert len(bench.requests) == 2
    bench.assert_settled(engine)


async def test_max_tool_calls_lets_exactly_so_many_run(bench):
    writes = [("Write", {"file_path": str(bench.folder / f"{n}.txt"), "content": "x"}) for n in range(3)]
    bench.model(calls(*writes), text("never"))
    engine = bench.engine(max_tool_calls=2, permission_mode="acceptEdits")

    run = await bench.go_on(engine)

    assert run.reason is Reason.MAX_TOOL_CALLS
    assert sorted(path.name for path in bench.folder.iterdir()) == ["0.txt", "1.txt"]
    assert len(bench.requests) == 1
    bench.assert_settled(engine)


async def test_max_wall_time_ends_a_call_that_hangs(bench):
    bench.model(hold(text("Too slow")))
    engine = bench.engine(max_wall_s=0.05)

    run = await bench.go_on(engine)

    assert run.reason is Reason.MAX_WALL_TIME
    assert run.result.terminal_reason == "max_wall_time"


async def test_max_wall_time_ends_a_command_that_runs(bench, lifeline):
    bench.model(call("Bash", {"command": lifeline.command}))
    engine = bench.engine(max_wall_s=0.1, permission_mode="bypassPermissions", limits={"abort_grace_s": 0.05})

    run = await bench.go_on(engine)

    assert run.reason is Reason.MAX_WALL_TIME
    assert lifeline.is_cut()
    bench.assert_settled(engine)


async def test_repeated_calls_end_it(bench):
    bench.model(AGAIN)
    engine = bench.engine(limits={"max_repeated_calls": 3})

    run = await bench.go_on(engine)

    assert run.reason is Reason.REPEATED_CALLS
    assert len(bench.requests) == 3
    bench.assert_settled(engine)


@pytest.mark.parametrize("streaming", [True, False])
async def test_repeated_calls_are_counted_over_turns_and_beside_each_other(bench, streaming):
    """Two at a time: the third turn makes the fifth and the sixth."""
    again = ("Glob", {"pattern": "*"})
    bench.model(calls(again, again))
    engine = bench.engine(limits={"max_repeated_calls": 5}, streaming_tools=streaming)

    run = await bench.go_on(engine)

    assert run.reason is Reason.REPEATED_CALLS
    assert len(bench.requests) == 3
    assert (run.result.terminal_reason, run.result.subtype) == ("repeated_calls", "error_during_execution")
    assert run.result.errors == (
        "Reached the limit of 5 identical calls: Glob was called again with the same input and gave the same result.",
    )
    bench.assert_settled(engine)


async def test_a_model_that_goes_round_in_circles_is_ended(bench):
    bench.model(*[AGAIN, call("Glob", {"pattern": "*.py"})] * 9)

    run = await bench.run(limits={"max_repeated_calls": 3})

    assert run.reason is Reason.REPEATED_CALLS
    assert len(bench.requests) == 6


async def test_by_default_honest_polling_has_twenty_tries(bench):
    bench.model(*[AGAIN] * 19, text("It has come."))
    assert (await bench.run()).reason is Reason.COMPLETED

    bench.model(*[AGAIN] * 20, text("never"))
    assert (await bench.run()).reason is Reason.REPEATED_CALLS


async def test_calls_with_other_results_are_not_repetitions(bench):
    count = bench.folder / "count.txt"
    step = call("Bash", {"command": f"echo x >> {count}; wc -l < {count}"})
    bench.model(step, step, step, text("Done."))

    run = await bench.run(limits={"max_repeated_calls": 2}, permission_mode="bypassPermissions")

    assert run.reason is Reason.COMPLETED


async def test_the_next_prompt_starts_anew(bench):
    bench.model(AGAIN, AGAIN, text("Done."))
    engine = bench.engine(limits={"max_repeated_calls": 2})
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED


async def test_a_call_that_still_runs_when_the_money_is_gone_is_ended_and_settled(bench, lifeline):
    answer = costs(call("Bash", {"command": lifeline.command}), 100_000)
    bench.model(hold(answer, after=6), chunk=1_000)
    engine = bench.engine(
        max_budget_usd=0.25, models=PRICED, permission_mode="bypassPermissions", limits={"abort_grace_s": 0.05}
    )

    def listen(event):
        if event.__struct_config__.tag == "tool_progress":
            bench.server.release()

    run = await bench.go_on(engine, on_event=listen)

    assert run.reason is Reason.MAX_BUDGET_USD
    assert lifeline.is_cut()
    assert run.kinds.count("tool_end") == 1
    types = [record["type"] for record in bench.records(engine.session_id)]
    assert types.index("intent") < types.index("settled") < types.index("terminal")
    bench.assert_settled(engine)


async def test_calls_that_are_denied_or_unknown_count_towards_the_limit_too(bench):
    bench.model(calls(("Write", {"file_path": "a", "content": ""}), ("Unheard-of", {})))

    run = await bench.run(max_tool_calls=5)

    assert run.reason is Reason.MAX_TOOL_CALLS
    assert len(bench.requests) == 3


async def test_calls_of_a_response_that_was_thrown_away_do_not_count(bench):
    (bench.folder / "a.txt").write_text("alpha\n")
    answer = say(call("Read", {"file_path": "a.txt"}), "And more to come, in a while.")
    bench.model(*[cut(answer, after=8)] * 5, answer, text("Done."))

    run = await bench.run(max_tool_calls=1, limits={"max_repeated_calls": 2})

    assert run.reason is Reason.COMPLETED
    assert len(run.of("api_retry")) == 5
