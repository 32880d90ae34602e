"""A work budget is set: a model that stops early is nudged on, until the budget is spent or nothing comes of it."""

import pytest

from everturn.core.messages import Kind
from everturn.core.state import Reason
from everturn.modelserver import call, say, text


def spends(tokens, **options):
    return text("Some work.", usage={"output_tokens": tokens}, **options)


async def test_it_goes_on_while_strictly_under_ninety_percent(bench):
    bench.model(spends(3_000))
    engine = bench.engine(work_budget=10_000)

    run = await bench.go_on(engine)

    assert run.transitions == ["token_budget_continuation"] * 2
    assert run.reason is Reason.COMPLETED
    nudges = [message.text for message in engine.transcript if message.kind is Kind.HIDDEN]
    assert ["30 %" in nudges[0], "60 %" in nudges[1]] == [True, True]
    assert [event.turn for event in run.of("request_start")] == [1, 1, 1]
    assert run.result.num_turns == 1


async def test_a_completion_record_says_how_it_went(bench):
    bench.model(spends(3_000))
    engine = bench.engine(work_budget=10_000)

    run = await bench.go_on(engine)

    [done] = run.of("work_budget")
    assert (done.continuations, done.percent, done.diminishing) == (2, 90, False)
    assert done.duration_s > 0
    [record] = [record for record in bench.records(engine.session_id) if record["type"] == "work"]
    assert (record["continuations"], record["percent"], record["diminishing"]) == (2, 90, False)


async def test_three_continuations_that_bring_little_are_enough(bench):
    bench.model(spends(100))

    run = await bench.run(work_budget=100_000)

    assert run.transitions == ["token_budget_continuation"] * 3
    [done] = run.of("work_budget")
    assert (done.continuations, done.diminishing) == (3, True)


async def test_one_good_gain_in_between_keeps_it_going(bench):
    bench.model(spends(100), spends(100), spends(100), spends(600), spends(100), spends(100))

    run = await bench.run(work_budget=100_000)

    assert run.transitions == ["token_budget_continuation"] * 5


async def test_output_of_tool_rounds_counts(bench):
    bench.model(say(call("Glob", {"pattern": "*"}), usage={"output_tokens": 8_000}), spends(1_000))

    run = await bench.run(work_budget=10_000)

    assert run.transitions == ["next_turn"]
    assert run.of("work_budget")[0].percent == 90


async def test_a_stop_sequence_is_never_continued(bench):
    bench.model(spends(10, stop_reason="stop_sequence", stop_sequence="END"))

    run = await bench.run(work_budget=10_000)

    assert run.transitions == []
    assert run.reason is Reason.COMPLETED
    assert run.result.stop_reason == "stop_sequence"


@pytest.mark.parametrize("budget", [None, 0])
async def test_without_a_budget_nothing_is_continued_and_nothing_is_recorded(bench, budget):
    bench.model(spends(10))

    run = await bench.run(work_budget=budget)

    assert run.transitions == []
    assert run.of("work_budget") == []


async def test_the_turn_limit_forbids_a_continuation(bench):
    bench.model(spends(10))

    run = await bench.run(work_budget=10_000, max_turns=1)

    assert run.transitions == []
    assert run.reason is Reason.COMPLETED
    assert run.of("work_budget")[0].continuations == 0


async def test_each_prompt_has_the_whole_budget(bench):
    bench.model(spends(9_000))
    engine = bench.engine(work_budget=10_000)

    runs = [await bench.go_on(engine), await bench.go_on(engine)]

    assert [run.transitions for run in runs] == [[], []]
    assert [run.of("work_budget")[0].percent for run in runs] == [90, 90]
