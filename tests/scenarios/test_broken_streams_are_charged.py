"""Money holds when streams break: what was received is charged, estimated until a count comes, and limits see it in mid-stream."""

import re
from contextlib import aclosing
from itertools import pairwise

import pytest

from everturn.core.budget import Usage
from everturn.core.state import Reason
from everturn.modelserver import broken as breaks
from everturn.modelserver import call, cut, error, hold, overloaded, say, stall, text, thinking
from everturn.sessions.session_files import load_session

MAIN, OTHER = "claude-sonnet-5", "claude-opus-5"
PRICED = [{"id": MAIN, "prices": {"output": 10}}, {"id": OTHER, "prices": {"output": 10}}]
"""A cent buys 1,000 tokens of output, and everything else is free."""
LONG = "word " * 6_000
"""7,500 tokens by the server's count."""
CHUNK = 500
ALL_DELTAS = 3 + len(LONG) // CHUNK
"""Events up to the last delta: start of message and block, ping, deltas."""
ENDLESS = stall(say(LONG * 4, chunk=CHUNK, verbatim=True), after=3 + len(LONG * 4) // CHUNK)
"""30,000 tokens, then silence: the end never comes, and only what was received can end the call."""


def about(figure):
    """Of tokens or of USD: within a tenth."""
    return pytest.approx(figure, rel=0.1, abs=0)


def broken(answer=LONG, after=ALL_DELTAS):
    return cut(say(answer, chunk=CHUNK), after=after)


def outputs(run):
    return [(event.purpose, event.usage.output, event.usage.estimated_output) for event in run.of("usage")]


async def test_ten_cut_answers_are_charged_by_what_was_received(bench):
    bench.model(*[broken()] * 10)

    run = await bench.run(models=PRICED)

    assert run.reason is Reason.MODEL_ERROR
    assert len(run.of("usage")) == 10
    assert run.result.usage.output == run.result.usage.estimated_output == about(75_000)
    assert run.result.total_usd == about(0.75)
    assert run.result.models[MAIN].usage == run.result.usage


async def test_a_budget_ends_the_retries_of_cut_answers(bench):
    bench.model(*[broken()] * 9, text("Done."))

    run = await bench.run(models=PRICED, max_budget_usd=0.20)

    assert run.reason is Reason.MAX_BUDGET_USD
    assert len(bench.requests) == 3
    assert 0.20 <= run.result.total_usd <= 0.25


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"max_budget_usd": 0.03}, Reason.MAX_BUDGET_USD),
        ({"max_total_tokens": 20_000}, Reason.MAX_TOKENS_TOTAL),
        ({"limits": {"max_session_usd": 0.03}}, Reason.MAX_BUDGET_USD),
    ],
)
async def test_a_limit_ends_a_call_in_mid_stream(bench, limit, reason):
    bench.model(ENDLESS)

    run = await bench.run(models=PRICED, **limit)

    assert run.reason is reason
    assert re.search(r"the \w+ (cost|used) at least [\d.,]+", run.result.errors[0])
    assert len(bench.requests) == 1
    assert run.result.usage.estimated_output > 3_000
    assert run.kinds.count("tombstone") == 0, "what had come is kept"


async def test_the_limit_is_met_on_the_way_and_not_at_the_end(bench):
    bench.model(say(LONG * 10, chunk=CHUNK, gap_ms=1, verbatim=True))

    run = await bench.run(models=PRICED, max_budget_usd=0.05)

    assert run.reason is Reason.MAX_BUDGET_USD
    assert 0.05 <= run.result.total_usd < 0.30, "of 0.75"


async def test_what_was_received_is_no_reason_to_end_before_the_limit(bench):
    """75,000 tokens in ten answers, each counted by the API in the end: not one is charged twice."""
    answers = [say(f"{number} {LONG}", call("Glob", {"pattern": f"{number}*"}), chunk=CHUNK) for number in range(9)]
    bench.model(*answers, text("Done."))

    run = await bench.run(models=PRICED, max_budget_usd=0.70)

    assert run.reason is Reason.COMPLETED
    assert run.result.usage.estimated_output == 0
    assert run.result.total_usd == about(0.675)


async def test_a_call_that_breaks_is_charged_for_its_input_by_the_servers_count(bench):
    counts = {"input_tokens": 11, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 4_000}
    hourly = {"cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 100}}
    bench.model(cut(say(LONG, chunk=CHUNK, usage=counts | hourly), after=ALL_DELTAS), error(401))

    run = await bench.run()

    charged = run.of("usage")[0].usage
    assert (charged.input, charged.cache_write, charged.cache_write_1h, charged.cache_read) == (11, 300, 100, 4_000)
    assert charged.output == charged.estimated_output == about(7_500)


async def test_an_interrupted_answer_is_charged_and_kept_with_the_same_figures(bench):
    bench.model(hold(say(LONG, chunk=CHUNK), after=ALL_DELTAS))
    engine = bench.engine(models=PRICED)
    seen = []

    def listen(event):
        seen.extend([event] if event.__struct_config__.tag == "text_delta" else [])
        if len(seen) == len(LONG) // CHUNK:
            engine.abort()

    run = await bench.go_on(engine, on_event=listen)

    assert run.reason is Reason.ABORTED_STREAMING
    (answer,) = run.of("assistant")
    assert answer.message.answer.incomplete
    assert answer.message.answer.usage == run.result.usage
    assert run.result.usage.estimated_output == about(7_500)


async def test_a_consumer_that_leaves_has_paid(bench):
    bench.model(hold(say(LONG, chunk=CHUNK), after=ALL_DELTAS))
    engine = bench.engine(models=PRICED)
    seen = 0
    async with aclosing(engine.submit("Go.")) as events:
        async for event in events:
            seen += event.__struct_config__.tag == "text_delta"
            if seen == len(LONG) // CHUNK:
                break

    assert engine.total_usd == about(0.075)


async def test_all_that_a_model_says_counts_but_signatures(bench):
    write = call("Write", {"file_path": "a.txt", "content": LONG})
    said = say(thinking(LONG, signature="c" * 40_000), LONG, write, chunk=CHUNK, verbatim=True)
    bench.model(cut(said, after=3 * ALL_DELTAS), error(401))

    run = await bench.run(models=PRICED, thinking="adaptive")

    assert outputs(run) == [("main", about(22_500), about(22_500))]


async def test_thinking_that_is_not_shown_counts_when_it_is_reported(bench):
    hidden = {"thinking": {"type": "adaptive", "display": "omitted"}, "models": PRICED}
    said = say(thinking(LONG), "Yes.", chunk=CHUNK)
    bench.model(cut(said, after=8), error(401))
    broke = await bench.run(**hidden)
    bench.model(said)
    whole = await bench.run(**hidden)

    assert outputs(broke) == [("main", 1, 1)]
    assert outputs(whole) == [("main", 7_501, 0)]


async def test_an_api_that_never_counts_is_charged_by_what_was_received(bench):
    uncounted = say(LONG, chunk=CHUNK, usage={"output_tokens": 0})
    bench.model(uncounted)

    run = await bench.run(models=PRICED)

    assert run.reason is Reason.COMPLETED
    assert outputs(run) == [("main", about(7_500), about(7_500))]


async def test_a_summary_that_breaks_is_charged_too_and_a_limit_ends_it_in_mid_stream(bench):
    bench.model(text("Earlier. " * 50), error(400, message="prompt is too long"), bench.summary(broken(), text("Sum.")))
    engine = bench.engine(models=PRICED, limits={"max_session_usd": 1})
    await bench.go_on(engine)
    run = await bench.go_on(engine)
    assert ("summary", about(7_500), about(7_500)) in outputs(run)

    bench.model(text("Earlier. " * 50), error(400, message="prompt is too long"), bench.summary(ENDLESS))
    engine = bench.engine(models=PRICED, max_budget_usd=0.10)
    await bench.go_on(engine)
    run = await bench.go_on(engine)
    assert run.reason is Reason.MAX_BUDGET_USD
    assert [purpose for purpose, _, _ in outputs(run)] == ["summary"]


async def test_each_model_pays_for_what_it_said_before_another_took_over(bench):
    in_mid_stream = breaks(say(LONG, chunk=CHUNK), after=ALL_DELTAS)
    bench.model(overloaded(), overloaded(), in_mid_stream, text("Done."))

    run = await bench.run(models=PRICED, fallback_models=[OTHER])

    assert run.of("fallback")[0].model == OTHER
    assert run.result.models[MAIN].usage.estimated_output == about(7_500)
    assert run.result.models[OTHER].usage.estimated_output == 0


async def test_a_resumed_session_knows_its_estimates(bench):
    bench.model(broken(), text("Done."))
    engine = bench.engine(models=PRICED)
    run = await bench.go_on(engine)
    await engine.aclose()

    resumed = bench.engine(models=PRICED, resume=engine.session_id)

    assert resumed.total_usd == pytest.approx(run.result.total_usd)
    assert resumed.usage_by_model == run.result.models
    assert resumed.usage_by_model[MAIN].usage.estimated_output == about(7_500)
    replay, warnings = load_session(bench.session_file(engine.session_id))
    assert (replay.models, warnings) == (run.result.models, ())


async def test_a_query_that_goes_on_has_spent_what_was_received(bench):
    bench.model(hold(say(LONG, chunk=CHUNK), after=ALL_DELTAS))
    engine = bench.engine(models=PRICED, max_budget_usd=0.10)
    seen = 0
    async with aclosing(engine.submit("Go.")) as events:
        async for event in events:
            seen += event.__struct_config__.tag == "text_delta"
            if seen == len(LONG) // CHUNK:
                break
    await engine.aclose()
    bench.model(say(LONG, chunk=CHUNK))
    resumed = bench.engine(models=PRICED, max_budget_usd=0.10, resume=engine.session_id)
    async with aclosing(resumed.resume_query()) as events:
        *_, result = [event async for event in events]

    assert result.reason is Reason.MAX_BUDGET_USD
    assert 0.10 <= result.total_usd <= 0.15
    assert result.total_usd - result.usage.output / 100_000 == about(0.075), "restored"


async def test_a_complete_answer_that_crosses_the_limit_is_the_result(bench):
    bench.model(text("The whole answer.", usage={"output_tokens": 10_000}))

    run = await bench.run(models=PRICED, max_budget_usd=0.05)

    result = run.result
    assert (result.reason, result.subtype, result.exit) == (Reason.MAX_BUDGET_USD, "error_max_budget_usd", 1)
    assert (result.text, result.answered, result.stop_reason) == ("The whole answer.", True, "end_turn")
    assert not run.of("assistant")[0].message.answer.incomplete


async def test_an_answer_that_is_already_here_when_the_limit_is_reached_is_whole(bench):
    """It came in one piece: the limit was reached by its first words, and its end was there to be read."""
    bench.model(say("word " * 1_000, chunk=1_000))

    run = await bench.run(models=PRICED, max_budget_usd=0.005)

    assert run.reason is Reason.MAX_BUDGET_USD
    answer = run.of("assistant")[0].message.answer
    assert answer.incomplete == (not run.result.answered) == (run.result.usage.estimated_output > 0)


async def test_an_answer_that_was_cut_by_a_limit_is_no_answer(bench):
    bench.model(ENDLESS)

    run = await bench.run(models=PRICED, max_budget_usd=0.03)

    assert not run.result.answered
    assert run.of("assistant")[0].message.answer.incomplete


async def test_calls_that_cross_the_limit_are_no_answer(bench):
    bench.model(say("I look.", call("Glob", {"pattern": "*"}), usage={"output_tokens": 10_000}))

    run = await bench.run(models=PRICED, max_budget_usd=0.05)

    assert run.reason is Reason.MAX_BUDGET_USD
    assert not run.result.answered


async def test_what_is_charged_grows_with_what_was_received(bench):
    charged = []
    for after in (1, 2, 5, 10, 30, ALL_DELTAS):
        bench.model(broken(after=after), error(401))
        run = await bench.run(models=PRICED)
        charged.append(sum((event.usage for event in run.of("usage")), Usage()).output)

    assert all(less <= more for less, more in pairwise(charged))
    assert charged[-1] == about(7_500)
