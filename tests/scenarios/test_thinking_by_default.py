"""A model that can think does, unless somebody says otherwise; then its first answer may be longer."""

import pytest

from everturn import Engine
from everturn.modelserver import call, calls, overloaded, say, text, thinking, truncated, when

HAIKU, OPUS, SONNET = "claude-haiku-4-5", "claude-opus-4-8", "claude-sonnet-5"
THOUGHTLESS = {"models": [{"id": SONNET, "thinking": [], "thinking_default_on": False}]}
OFF, ADAPTIVE = {"type": "disabled"}, {"type": "adaptive"}


def budget(tokens):
    return {"type": "enabled", "budget_tokens": tokens}


def sent(bench):
    return [(body.get("thinking"), body["max_tokens"]) for body in bench.bodies]


@pytest.mark.parametrize(
    ("model", "options", "env", "expected"),
    [
        (HAIKU, {}, {}, (budget(16_000), 32_000)),
        (OPUS, {}, {}, (ADAPTIVE, 32_000)),
        (SONNET, {}, {}, (None, 32_000)),
        (SONNET, THOUGHTLESS, {}, (None, 8_192)),
        (HAIKU, {"thinking": "disabled"}, {}, (None, 8_192)),
        (HAIKU, {"thinking": False}, {}, (None, 8_192)),
        (SONNET, {"thinking": "disabled"}, {}, (OFF, 8_192)),
        (HAIKU, {"thinking": "enabled"}, {}, (budget(16_000), 32_000)),
        (HAIKU, {}, {"MAX_THINKING_TOKENS": "4000"}, (budget(4_000), 32_000)),
        (SONNET, {}, {"MAX_THINKING_TOKENS": "4000"}, (ADAPTIVE, 32_000)),
        (SONNET, {}, {"MAX_THINKING_TOKENS": "0"}, (OFF, 8_192)),
        ("claude-fable-5", {}, {"MAX_THINKING_TOKENS": "0"}, (None, 32_000)),
        (SONNET, {"thinking": "adaptive"}, {"MAX_THINKING_TOKENS": "0"}, (ADAPTIVE, 32_000)),
        (SONNET, {"max_output_tokens": 5_000}, {}, (None, 5_000)),
        (SONNET, {"limits": {"output_cap": 5_000}}, {}, (None, 5_000)),
        (SONNET, {"limits": {"output_cap_thinking": 9_000}}, {}, (None, 9_000)),
    ],
)
async def test_what_a_request_asks_for(bench, model, options, env, expected):
    bench.model(text("Done."))
    engine = Engine(bench.options(model=model, **options), env=bench.env | env)
    bench.engines.append(engine)

    await bench.go_on(engine)

    assert sent(bench) == [expected]


async def test_an_answer_that_is_cut_is_asked_for_again_with_more_and_the_same_thoughts(bench):
    bench.model(truncated("Half"), text("Whole."))

    await bench.run(model=HAIKU)

    assert sent(bench) == [(budget(16_000), 32_000), (budget(16_000), 64_000)]


@pytest.mark.parametrize("options", [{}, {"max_output_tokens": 5_000}])
async def test_a_summary_is_asked_for_with_the_same_thoughts_so_that_it_reads_the_cache(bench, options):
    thoughtful = say(thinking("Hm."), "Earlier. " * 200)
    bench.model(thoughtful, bench.summary(say(thinking("Hm."), "What happened, in short.")))
    engine = bench.engine(model=HAIKU, **options)
    await bench.go_on(engine)

    async for _ in engine.compact():
        pass

    first, summary = (body["thinking"] for body in bench.bodies)
    assert first == summary == budget(2_500 if options else 16_000)


async def test_work_that_another_model_began_goes_on_without_thoughts(bench):
    bench.model(call("Glob", {"pattern": "*"}), overloaded(), overloaded(), overloaded(), text("Done."), text("Again."))
    engine = bench.engine(fallback_models=[HAIKU])
    await bench.go_on(engine)
    await bench.go_on(engine)

    assert [(body["model"], body.get("thinking")) for body in bench.bodies] == [
        *[(SONNET, None)] * 4,
        (HAIKU, None),
        (HAIKU, budget(16_000)),
    ]


async def test_side_questions_to_a_small_model_do_not_think(bench):
    bench.model(
        call("Glob", {"pattern": "*"}), text("Done."), when(text("Looked."), last_user_contains="Say in one line")
    )

    await bench.run(tool_summaries=True, small_model=SONNET)

    [aside] = [body for body in bench.bodies if "tools" not in body]
    assert aside["thinking"] == OFF


async def test_thoughts_go_back_as_they_came(bench):
    bench.model(say(thinking("I should look."), calls(("Glob", {"pattern": "*"}))), text("Done."))

    await bench.run(model=OPUS)

    first, _ = bench.sent[-1][1]["content"]
    assert (first["type"], first["thinking"]) == ("thinking", "I should look.")
