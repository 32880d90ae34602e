"""Options that shape the request: budgets, thinking, effort, betas, credentials, addresses, models."""

import pytest

from everturn.core.state import Reason
from everturn.modelserver import call, say, script, text, too_long

TASK_BUDGETS = "task-budgets-2026-03-13"


def betas(received):
    return received.headers.get("anthropic-beta", "").split(",")


async def test_a_task_budget_goes_with_its_beta_and_names_what_remains_only_after_a_compaction(bench):
    bench.model(
        text("Earlier. " * 50),
        say(call("Glob", {"pattern": "*"}), usage={"output_tokens": 3_000}),
        too_long(),
        text("Done."),
        bench.summary(),
    )
    engine = bench.engine(model="claude-opus-5", task_budget=50_000)
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.transitions == ["next_turn", "reactive_compact_retry"]
    told = [body["output_config"]["task_budget"] for body in bench.bodies]
    assert told[:-1] == [{"type": "tokens", "total": 50_000}] * (len(told) - 1)
    assert told[-1] == {"type": "tokens", "total": 50_000, "remaining": 47_000}
    assert all(TASK_BUDGETS in betas(received) for received in bench.requests)


async def test_the_next_prompt_has_the_whole_task_budget_again(bench):
    bench.model(text("Earlier. " * 50), too_long(), text("Done."), bench.summary())
    engine = bench.engine(model="claude-opus-5", task_budget=50_000)

    for _ in range(3):
        await bench.go_on(engine)

    after, next_prompt = [body["output_config"]["task_budget"] for body in bench.bodies[-2:]]
    assert after["remaining"] <= 50_000
    assert next_prompt == {"type": "tokens", "total": 50_000}


async def test_a_model_that_takes_no_task_budget_is_told_none(bench):
    bench.model(text("Done."))

    await bench.run(task_budget=50_000)

    assert "output_config" not in bench.bodies[0]
    assert TASK_BUDGETS not in betas(bench.requests[0])


@pytest.mark.parametrize(
    ("model", "thinking", "sent"),
    [
        ("claude-sonnet-5", "adaptive", {"type": "adaptive"}),
        ("claude-sonnet-5", "disabled", {"type": "disabled"}),
        (
            "claude-sonnet-4-5",
            {"type": "enabled", "budget_tokens": 2_048},
            {"type": "enabled", "budget_tokens": 2_048},
        ),
        ("claude-sonnet-5", None, None),
    ],
)
async def test_thinking_is_sent_as_the_model_takes_it(bench, model, thinking, sent):
    bench.model(text("Done."))

    run = await bench.run(model=model, thinking=thinking)

    assert run.reason is Reason.COMPLETED
    body = bench.bodies[0].get("thinking")
    assert body is None if sent is None else body.items() >= sent.items()


async def test_effort_is_sent(bench):
    bench.model(text("Done."))

    await bench.run(effort="low")

    assert bench.bodies[0]["output_config"] == {"effort": "low"}


async def test_betas_of_options_and_environment_are_joined(bench):
    bench.env["ANTHROPIC_BETAS"] = "from-the-environment, from-both"
    bench.model(text("Done."))

    await bench.run(betas=["from-options", "from-both"])

    assert {"from-options", "from-both", "from-the-environment"} <= set(betas(bench.requests[0]))
    assert betas(bench.requests[0]).count("from-both") == 1


async def test_headers_of_ones_own_are_sent(bench):
    bench.model(text("Done."))

    await bench.run(headers={"X-Team": "gardeners"})

    assert bench.requests[0].headers["x-team"] == "gardeners"


async def test_a_helper_prints_the_key(bench):
    bench.model(text("Done."), key="sk-from-the-helper")

    run = await bench.run(api_key_helper="echo sk-from-the-helper")

    assert run.reason is Reason.COMPLETED
    assert "sk-from-the-helper" not in str(run.events)


async def test_the_script_that_prints_the_key_is_written_by_nobody_unasked(bench):
    script = bench.folder / "scripts/key.sh"
    script.parent.mkdir()
    script.write_text("echo sk-from-the-helper\n", "utf-8")
    bench.model(
        call("Write", {"file_path": str(script), "content": "touch planted"}),
        call("Bash", {"command": "cp other.sh scripts/key.sh"}),
        text("I see."),
    )
    (bench.folder / "other.sh").write_text("touch planted\n", "utf-8")
    helper = f"cd {bench.folder}/scripts && sh ./key.sh"

    run = await bench.run(api_key_helper=helper, permission_mode="acceptEdits", allowed_tools=["Bash(cp *)"])

    assert len(run.result.denials) == 2
    assert script.read_text("utf-8") == "echo sk-from-the-helper\n"


async def test_a_helper_that_fails_is_a_model_error_that_says_so(bench):
    bench.model(text("never"))

    run = await bench.run(api_key_helper="echo sk-secret; exit 3")

    assert run.reason is Reason.MODEL_ERROR
    assert bench.requests == []
    assert "api_key_helper" in run.result.text
    assert "sk-secret" not in str(run.events)


async def test_a_base_url_may_have_a_path(bench):
    bench.server.play(script(text("Through the proxy.")), case="gateway")

    run = await bench.run(base_url=f"{bench.server.url}/gateway/")

    assert run.result.text == "Through the proxy."
    assert bench.requests[0].case == "gateway"


async def test_a_model_nobody_knows_is_used_with_a_notice(bench):
    bench.model(text("Hello."), models="any")
    engine = bench.engine(model="claude-sonnet-99")

    first, second = await bench.go_on(engine), await bench.go_on(engine)

    [notice] = first.of("notice")
    assert "claude-sonnet-99" in notice.text
    assert second.of("notice") == []
    assert first.reason is Reason.COMPLETED
    assert bench.bodies[0]["model"] == "claude-sonnet-99"


async def test_an_alias_is_resolved(bench):
    bench.model(text("Hello."))

    await bench.run(model="opus")

    assert bench.bodies[0]["model"] == "claude-opus-5"


async def test_the_one_hour_cache_is_asked_for(bench):
    bench.model(text("Hello."))

    await bench.run(cache_ttl="1h")

    assert bench.bodies[0]["system"][-2]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


async def test_only_the_built_in_tools_that_were_chosen_are_offered(bench):
    bench.model(text("Hello."))

    await bench.run(builtin_tools=["Read", "Glob"])
    await bench.run(builtin_tools=False)

    assert {tool["name"] for tool in bench.bodies[0]["tools"]} == {"Read", "Glob"}
    assert "tools" not in bench.bodies[1]
