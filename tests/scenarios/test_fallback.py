"""The model is overloaded again and again: another one takes over, in the same iteration and for good."""

from contextlib import aclosing

import pytest

from everturn.core.state import Reason
from everturn.modelserver import broken, call, error, hold, overloaded, say, text, thinking

MAIN, SPARE, LAST = "claude-sonnet-5", "claude-opus-5", "claude-opus-4-8"


def models(bench):
    return [body["model"] for body in bench.bodies]


async def test_three_overloads_switch_the_model_within_the_iteration(bench):
    bench.model(overloaded(), broken("Hel"), overloaded(), text("Hello."))
    engine = bench.engine(fallback_models=[SPARE])

    run = await bench.go_on(engine)

    assert models(bench) == [MAIN, MAIN, MAIN, SPARE]
    assert run.kinds.count("request_start") == 1
    assert run.transitions == []
    [switch] = run.of("fallback")
    assert (switch.before, switch.model) == (MAIN, SPARE)
    assert run.result.text == "Hello."
    assert engine.model == SPARE


async def test_what_the_overloaded_model_had_shown_is_retracted(bench):
    bench.model(overloaded(), overloaded(), broken("Hel"), text("Hello."))
    engine = bench.engine(fallback_models=[SPARE])

    run = await bench.go_on(engine)

    assert [tombstone.cause for tombstone in run.of("tombstone")] == ["fallback"]
    assert [message.text for message in engine.transcript] == ["Go on.", "Hello."]


async def test_the_switch_lasts_into_the_next_prompt(bench):
    bench.model(overloaded(), overloaded(), overloaded(), text("Hello."))
    engine = bench.engine(fallback_models=[SPARE])
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert models(bench)[-1] == SPARE
    assert run.of("fallback") == []


async def test_thinking_of_the_old_model_is_no_longer_sent(bench):
    (bench.folder / "a.txt").write_text("alpha\n")
    read = call("Read", {"file_path": str(bench.folder / "a.txt")})
    bench.model(say(thinking("Let me look."), read), overloaded(), overloaded(), overloaded(), text("Alpha."))
    engine = bench.engine(fallback_models=[SPARE])

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    assert [block["type"] for block in bench.sent[1][1]["content"]] == ["thinking", "tool_use"]
    assert [block["type"] for block in bench.sent[-1][1]["content"]] == ["tool_use"]
    altered = [record["stage"] for record in bench.records(engine.session_id) if record["type"] == "context"]
    assert altered == ["signatures"]


async def test_each_entry_of_the_chain_is_used_once_and_then_it_is_a_model_error(bench):
    bench.model(overloaded())

    run = await bench.run(fallback_models=[SPARE, LAST], max_retries=2)

    assert models(bench) == [MAIN] * 3 + [SPARE] * 3 + [LAST] * 3
    assert [switch.model for switch in run.of("fallback")] == [SPARE, LAST]
    assert run.reason is Reason.MODEL_ERROR
    assert run.result.terminal_reason == "api_error"


async def test_an_overload_in_between_that_passes_starts_the_count_anew(bench):
    bench.model(overloaded(), overloaded(), error(500), overloaded(), text("Hello."))

    run = await bench.run(fallback_models=[SPARE])

    assert set(models(bench)) == {MAIN}
    assert run.of("fallback") == []


async def test_a_model_that_does_not_exist_is_left_at_once(bench):
    bench.model(error(404, "not_found_error", f"model: {MAIN}"), text("Hello."))

    run = await bench.run(fallback_models=[SPARE])

    assert models(bench) == [MAIN, SPARE]
    assert run.of("api_retry") == []


async def test_both_models_are_in_the_account(bench):
    bench.model(overloaded(), overloaded(), broken("Hel"), text("Hello."))

    run = await bench.run(fallback_models=[SPARE])

    assert set(run.result.models) == {MAIN, SPARE}
    assert run.result.total_usd == pytest.approx(sum(usage.usd for usage in run.result.models.values()))


async def test_the_next_query_may_use_the_rest_of_the_chain_again(bench):
    bench.model(overloaded(), overloaded(), overloaded(), text("Hello."), *[overloaded()] * 3, text("Hello again."))
    engine = bench.engine(fallback_models=[SPARE, LAST])
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert models(bench)[-4:] == [SPARE, SPARE, SPARE, LAST]
    assert run.reason is Reason.COMPLETED


async def test_the_switch_lasts_when_the_iterator_is_closed_early(bench):
    bench.model(overloaded(), overloaded(), overloaded(), hold(text("Hello there, how are you?")), text("Fine."))
    engine = bench.engine(fallback_models=[SPARE])
    async with aclosing(engine.submit("Go.")) as events:
        async for event in events:
            if event.__struct_config__.tag == "text_delta":
                break

    await bench.go_on(engine)

    assert models(bench)[-1] == SPARE


async def test_retries_that_are_used_up_lead_to_the_next_model_too(bench):
    bench.model(error(500), error(500), text("Hello."))

    run = await bench.run(fallback_models=[SPARE], max_retries=1)

    assert models(bench) == [MAIN, MAIN, SPARE]
    assert run.reason is Reason.COMPLETED
