"""Failures that pass by themselves are waited out, announced, and never seen in the transcript."""

import time

import pytest

from everturn.core.state import Reason
from everturn.modelserver import broken, call, closed, cut, error, garbage, overloaded, rate_limited, reset, stall, text


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 504, 529])
async def test_a_failure_that_passes_is_retried_and_announced(bench, status):
    bench.model(error(status), text("Hello."))

    run = await bench.run()

    [retry] = run.of("api_retry")
    assert (retry.attempt, retry.max_tries, retry.status) == (1, 10, status)
    assert 0.375 < retry.delay_s <= 0.5
    assert run.transitions == []
    assert run.kinds.count("request_start") == 1
    assert run.reason is Reason.COMPLETED
    assert bench.requests[1].raw == bench.requests[0].raw


@pytest.mark.parametrize("wire", [reset(), closed(), garbage()], ids=["reset", "closed", "garbage"])
async def test_a_connection_that_fails_is_retried(bench, wire):
    bench.model(wire, text("Hello."))

    run = await bench.run()

    assert len(run.of("api_retry")) == 1
    assert run.result.text == "Hello."


@pytest.mark.parametrize("answer", [cut("Hello there"), broken("Hello there", kind="api_error")], ids=["cut", "broken"])
async def test_a_stream_cut_in_mid_answer_is_retried_and_the_partial_text_is_retracted(bench, answer):
    bench.model(answer, text("Hello."))
    engine = bench.engine()

    run = await bench.go_on(engine)

    shown = [kind for kind in run.kinds if kind in {"text_delta", "tombstone", "api_retry", "assistant"}]
    assert shown == ["text_delta", "tombstone", "api_retry", "text_delta", "assistant"]
    [tombstone] = run.of("tombstone")
    first, second = run.of("text_delta")
    assert (tombstone.message_id, tombstone.cause) == (first.message_id, "retry")
    assert second.message_id != first.message_id
    assert [message.text for message in engine.transcript] == ["Go on.", "Hello."]


async def test_a_stream_cut_after_its_stop_reason_is_whole(bench):
    bench.model(cut("Hello.", after=6), text("never"))

    run = await bench.run()

    assert run.result.text == "Hello."
    assert len(bench.requests) == 1


async def test_silence_counts_as_a_broken_stream(bench):
    bench.model(stall("Hello there"), stall(), text("Hello."))

    run = await bench.run(stall_s=1.0)

    assert [retry.error for retry in run.of("api_retry")] == ["stalled", "stalled"]
    assert run.result.text == "Hello."


@pytest.mark.parametrize("asked", [7, 0.25, 60])
async def test_retry_after_is_obeyed_up_to_a_minute(bench, asked):
    bench.model(rate_limited(retry_after=asked), text("Hello."))

    run = await bench.run()

    assert [retry.delay_s for retry in run.of("api_retry")] == [asked]


@pytest.mark.parametrize(
    ("asked", "told"), [(61, "2 min"), (5_400, "1 h 30 min"), (7_200, "2 h"), (180_000, "2 d 2 h"), (1e300, "366 d")]
)
async def test_a_longer_wait_ends_the_query_at_once_and_says_when_to_try_again(bench, asked, told):
    bench.model(rate_limited(retry_after=asked), text("never"))
    before = time.time()

    run = await bench.run()

    after = time.time()
    assert (run.of("api_retry"), len(bench.requests)) == ([], 1)
    assert (run.reason, run.result.terminal_reason) == (Reason.MODEL_ERROR, "api_error")
    seconds = min(asked, 366 * 86_400)
    clock = "%H:%M" if seconds < 86_400 else "%Y-%m-%d %H:%M"
    times = {time.strftime(clock, time.localtime(-(-(at + seconds) // 60) * 60)) for at in (before, after)}
    [error] = run.result.errors
    assert error in {
        "The rate limit is reached (HTTP 429): This request would exceed your rate limit. "
        f"The server asks to wait {told}: try again after {when}."
        for when in times
    }


async def test_a_fallback_model_is_asked_where_the_wait_is_too_long(bench):
    bench.model(rate_limited(retry_after=7_200), text("Hello."))

    run = await bench.run(fallback_models=["claude-haiku-4-5"])

    assert (run.result.text, run.of("api_retry")) == ("Hello.", [])
    assert [request.body["model"] for request in bench.requests] == ["claude-sonnet-5", "claude-haiku-4-5"]


async def test_how_long_a_wait_may_be_is_a_setting(bench):
    bench.model(rate_limited(retry_after=600), text("Hello."))

    run = await bench.run(limits={"max_retry_after": 600})

    assert [retry.delay_s for retry in run.of("api_retry")] == [600.0]
    assert run.result.text == "Hello."


async def test_the_wait_doubles_up_to_a_limit(bench):
    bench.env["EVERTURN_RETRY_SCALE"] = "0"
    bench.model(error(500))

    run = await bench.run()

    delays = [retry.delay_s for retry in run.of("api_retry")]
    assert len(delays) == 9
    for tried, delay in enumerate(delays):
        most = min(0.5 * 2**tried, 32.0)
        assert 0.75 * most <= delay <= most


async def test_when_the_tries_are_used_up_the_error_is_released(bench):
    bench.model(error(500))

    run = await bench.run(max_retries=2)

    assert len(bench.requests) == 3
    assert len(run.of("api_retry")) == 2
    assert run.reason is Reason.MODEL_ERROR
    assert run.result.terminal_reason == "api_error"


async def test_each_call_has_all_its_tries(bench):
    bench.model(overloaded(), call("Glob", {"pattern": "*"}), overloaded(), text("Done."))

    run = await bench.run(max_retries=1)

    assert run.reason is Reason.COMPLETED
    assert [retry.attempt for retry in run.of("api_retry")] == [1, 1]


async def test_an_attempt_that_was_thrown_away_is_charged(bench):
    bench.model(cut("Hello there"), text("Hello."))

    run = await bench.run()

    thrown_away, kept = run.of("usage")
    assert thrown_away.usage.context > 0
    assert run.result.usage == thrown_away.usage + kept.usage
    assert run.result.total_usd == pytest.approx(thrown_away.usd + kept.usd)
