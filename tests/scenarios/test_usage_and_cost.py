"""Every model call is charged, to the model that did the work, at the price in force."""

import pytest

from everturn.core.budget import Usage
from everturn.modelserver import call, say, text

MAIN, OTHER = "claude-sonnet-5", "claude-opus-5"
PRICES = {"input": 1, "output": 10, "cache_write": 2, "cache_write_1h": 4, "cache_read": 0.5}
PRICED = [{"id": MAIN, "prices": PRICES}]
MILLION = 1_000_000


def counts(**counters):
    nothing = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {**nothing, "cache_creation": None, **counters}


async def test_each_of_the_four_counters_has_its_price(bench):
    usage = counts(
        input_tokens=1_000,
        output_tokens=200,
        cache_creation_input_tokens=3_000,
        cache_read_input_tokens=40_000,
        cache_creation={"ephemeral_5m_input_tokens": 2_000, "ephemeral_1h_input_tokens": 1_000},
    )
    bench.model(text("Hello.", usage=usage))

    run = await bench.run(models=PRICED)

    used = Usage(input=1_000, output=200, cache_write=3_000, cache_read=40_000, cache_write_1h=1_000)
    assert run.result.usage == used
    assert run.result.total_usd == pytest.approx((1_000 + 2_000 + 2 * 2_000 + 4 * 1_000 + 0.5 * 40_000) / MILLION)
    assert run.result.models[MAIN].usage == used
    assert run.result.models[MAIN].calls == 1


async def test_the_prompt_cache_is_written_once_and_read_after(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."), min_cacheable=0)

    run = await bench.run()

    first, second = [event.usage for event in run.of("usage")]
    assert first.cache_write > 0
    assert first.cache_read == 0
    assert second.cache_read == first.cache_write


async def test_usage_nested_in_a_response_is_charged_to_its_own_model(bench):
    nested = [
        {"type": "message", **counts(input_tokens=100, output_tokens=10)},
        {"type": "advisor_message", "model": OTHER, **counts(input_tokens=1_000, output_tokens=100)},
        {"type": "message", **counts(input_tokens=200, output_tokens=20)},
    ]
    bench.model(text("Hello.", usage=counts(input_tokens=300, output_tokens=30, iterations=nested)))

    run = await bench.run(models=[*PRICED, {"id": OTHER, "prices": {"input": 5, "output": 50}}])

    assert run.result.models[MAIN].usage == Usage(input=300, output=30)
    assert run.result.models[OTHER].usage == Usage(input=1_000, output=100)
    assert run.result.models[OTHER].usd == pytest.approx((5 * 1_000 + 50 * 100) / MILLION)
    assert run.result.total_usd == pytest.approx(sum(model.usd for model in run.result.models.values()))


async def test_cost_adds_up_over_the_session_and_usage_is_of_the_query(bench):
    bench.model(text("Hello.", usage=counts(output_tokens=100)))
    engine = bench.engine(models=PRICED)

    first, second = await bench.go_on(engine), await bench.go_on(engine)

    assert first.result.total_usd == pytest.approx(1_000 / MILLION)
    assert second.result.total_usd == pytest.approx(2_000 / MILLION)
    assert second.result.usage == Usage(output=100)
    assert second.result.models[MAIN].calls == 2
    assert engine.total_usd == second.result.total_usd


async def test_fast_mode_has_its_own_price(bench):
    bench.model(text("Hello.", usage=counts(output_tokens=100)))
    card = {"id": OTHER, "prices": {"output": 10}, "fast_prices": {"output": 60}}

    fast = await bench.run(model=OTHER, models=[card], fast=True)
    plain = await bench.run(model=OTHER, models=[card])

    assert [body.get("speed") for body in bench.bodies] == ["fast", None]
    assert fast.result.total_usd == pytest.approx(6_000 / MILLION)
    assert plain.result.total_usd == pytest.approx(1_000 / MILLION)


async def test_a_model_without_fast_mode_is_asked_plainly(bench):
    bench.model(text("Hello."))

    await bench.run(fast=True)

    assert "speed" not in bench.bodies[0]


async def test_num_turns_counts_messages_of_the_user_and_turn_counts_rounds(bench):
    glob = call("Glob", {"pattern": "*"})
    bench.model(say("Both.", glob, glob), glob, text("Done."))

    run = await bench.run()

    assert (run.result.num_turns, run.result.rounds) == (3, 3)
    assert [event.turn for event in run.of("request_start")] == [1, 2, 3]
    assert [usage.turn for usage in run.of("usage")] == [1, 2, 3]


async def test_the_time_spent_with_the_api_is_part_of_the_whole(bench):
    bench.model(text("Hello."))

    run = await bench.run()

    assert 0 < run.result.api_duration_s <= run.result.duration_s
