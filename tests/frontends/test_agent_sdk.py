"""The parser of the agent SDK reads every line of stream-json that we print, whatever happened."""

import pytest
from tests.frontends.interrupting import InterruptingEngine
from tests.frontends.readers import run_piped
from tests.sessions.readers import find_agent_sdk, started_agent_sdk

from everturn.modelserver import (
    block,
    call,
    calls,
    cut,
    error,
    hold,
    overloaded,
    redacted,
    refusal,
    say,
    text,
    thinking,
    truncated,
)

UNKNOWN_THERE = {"tool_progress", "tool_use_summary"}
"""Types that this parser passes over."""
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
UNSIGNED = block({"type": "thinking", "thinking": "Hm."})
STORIES = {
    "words": ([say(thinking("Hm."), "Hello.")], {}, ("success", "completed")),
    "unsigned": ([say(UNSIGNED, redacted(), "Hello.")], {}, ("success", "completed")),
    "calls": (
        [calls(("Bash", {"command": "echo hi"}), ("Glob", {"pattern": "*"})), "Done."],
        {},
        ("success", "completed"),
    ),
    "denied": ([call("Bash", {"command": "touch a"}), "Then not."], {}, ("success", "completed")),
    "retried": ([overloaded(), cut("Hel"), truncated("Half"), "Whole."], {}, ("success", "completed")),
    "switched": ([overloaded()] * 3 + ["Hello."], {"fallback_models": ["haiku"]}, ("success", "completed")),
    "refused": ([refusal()], {}, ("success", "model_error")),
    "failed": ([error(401)], {}, ("success", "api_error")),
    "turns": ([call("Glob", {"pattern": "*"})], {"max_turns": 1}, ("error_max_turns", "max_turns")),
    "money": (
        [call("Glob", {"pattern": "*"}), "Done."],
        {"max_budget_usd": 0.000001},
        ("error_max_budget_usd", "budget_exhausted"),
    ),
    "shaped": (['{"a": 1}'], {"output_schema": SCHEMA}, ("success", "completed")),
    "misshapen": (
        ["no"],
        {"output_schema": SCHEMA},
        ("error_max_structured_output_retries", "structured_output_retries"),
    ),
    "work": (["Hello."], {"work_budget": 5_000}, ("success", "completed")),
    "background": (
        [call("Bash", {"command": "true", "run_in_background": True}), "Done."],
        {"allowed_tools": ["Bash"]},
        ("success", "completed"),
    ),
}


@pytest.fixture(scope="module")
def parse():
    with started_agent_sdk(find_agent_sdk()) as parse:
        yield parse


async def tell(engine, prompt="Do it."):
    _, written, complaints = await run_piped(engine, prompt, output_format="stream-json", include_partial=True)
    assert complaints == ""
    return written


def check_read(seen, ending):
    """Nothing is passed over that the parser knows; the last message is the result."""
    assert {kind for kind, read_as, _ in seen if read_as == "NoneType"} <= UNKNOWN_THERE
    kind, _, result = seen[-1]
    assert (kind, result["subtype"], result["terminal_reason"]) == ("result", *ending)
    assert result["errors"] or result["result"]
    for _, read_as, message in seen:
        if read_as == "AssistantMessage":
            assert message["model"]
            # The API's own, but where no model answered.
            assert message["message_id"].startswith("msg_") or message["model"] == "<synthetic>"
    uuids = [message["uuid"] for _, read_as, message in seen if read_as == "AssistantMessage"]
    assert len(set(uuids)) == len(uuids)


@pytest.mark.parametrize("name", STORIES)
async def test_every_line_is_read(bench, parse, name):
    answers, options, ending = STORIES[name]
    bench.model(*answers)

    written = await tell(bench.engine(**options))

    check_read(parse(written), ending)


async def test_every_line_of_an_interruption_is_read(bench, parse):
    bench.model(hold(text("This is a very long story."), after=4))

    written = await tell(InterruptingEngine(bench.engine()))

    check_read(parse(written), ("error_during_execution", "aborted_streaming"))


@pytest.mark.parametrize("command", ["/compact", "/clear", "/cost", "/help"])
async def test_every_line_of_a_command_is_read(bench, parse, command):
    engine = bench.engine()
    bench.model(text("A long answer. " * 200))
    await bench.go_on(engine, "Tell me a long story. " * 100)
    bench.model(bench.summary())

    written = await tell(engine, command)

    check_read(parse(written), ("success", "completed"))
