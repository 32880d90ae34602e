"""How each reason shows in the result: public name, subtype, error and exit code."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from everturn.core.state import AbortCause, Reason
from everturn.modelserver import call, error, hold, refusal, say, text, too_long, truncated
from everturn.ports.hooks import HookRuling, HookVerdict, PostToolVerdict, StopVerdict

GLOB = call("Glob", {"pattern": "*"})
NO_IMAGE = error(400, message="messages.0.content.0.image.source.base64: image exceeds 5 MB maximum")


async def prevent(turn):
    return StopVerdict(prevent="Enough.")


async def stop(call, result):
    return PostToolVerdict(stop="Enough.")


def defer(told):
    return HookVerdict(ruling=HookRuling.DEFER)


def refuse(told):
    return "Not this one."


class Row(NamedTuple):
    """A line of the table in the contract, and a story that ends so."""

    reason: str
    terminal_reason: str
    subtype: str
    is_error: bool
    exit: int
    answers: tuple[Any, ...]
    options: Mapping[str, Any] = MappingProxyType({})
    prompt: str = "Go."
    abort: tuple[str, AbortCause] | None = None


HELD = hold(text("Hello there, how are you?"))
HANGS = call("Bash", {"command": "echo started; sleep 600"})
BATCH = {"permission_mode": "bypassPermissions", "streaming_tools": False, "limits": {"abort_grace_s": 0.05}}
DURING, BUDGET, SUCCESS = "error_during_execution", "error_max_budget_usd", "success"
DEAR = say(GLOB, usage={"output_tokens": 1_000_000})
SMALL = [{"id": "claude-sonnet-5", "window": 10_000, "max_output": 1_000}]
OFF = {"auto_compact": False, "reactive_compact": False, "models": SMALL}
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
BY_USER, BY_SIGNAL = AbortCause.USER, AbortCause.TERMINATED

# fmt: off
ROWS = [
    Row("aborted_streaming", "aborted_streaming", DURING, True, 130, (HELD,), abort=("text_delta", BY_USER)),
    Row("aborted_streaming", "aborted_streaming", DURING, True, 143, (HELD,), abort=("text_delta", BY_SIGNAL)),
    Row("aborted_tools", "aborted_tools", DURING, True, 130, (HANGS,), BATCH, abort=("tool_progress", BY_USER)),
    Row("aborted_tools", "aborted_tools", DURING, True, 143, (HANGS,), BATCH, abort=("tool_progress", BY_SIGNAL)),
    Row("max_budget_usd", "budget_exhausted", BUDGET, True, 1, (DEAR,), {"max_budget_usd": 0.01}),
    Row("image_error", "image_error", SUCCESS, True, 1, (NO_IMAGE,)),
    Row("model_error", "api_error", SUCCESS, True, 1, (error(400),)),
    Row("model_error", "model_error", SUCCESS, True, 1, (refusal(),)),
    Row("prompt_too_long", "prompt_too_long", SUCCESS, True, 1, (too_long(),), {"reactive_compact": False}),
    Row("tool_deferred", "tool_deferred", SUCCESS, False, 0, (GLOB,), {"hooks": {"PreToolUse": defer}}),
    Row("prompt_blocked", "prompt_blocked", SUCCESS, True, 1, (text("never"),), {"hooks": {"UserPromptSubmit": refuse}}),
    Row("completed", "completed", SUCCESS, True, 1, (truncated("a"),), {"limits": {"output_recoveries": 0}, "escalate": False}),
    Row("stop_hook_prevented", "stop_hook_prevented", SUCCESS, False, 0, (text("Done."),), {"hooks": {"stop": prevent}}),
    Row("hook_stopped", "hook_stopped", SUCCESS, False, 0, (GLOB,), {"hooks": {"post_tool": stop}}),
    Row("goal_not_met", "goal_not_met", DURING, True, 1, (text("Done."),), {"goal": "It holds.", "verify": "false"}),
    Row("blocking_limit", "blocking_limit", SUCCESS, True, 1, (text("never"),), OFF, prompt="word " * 20_000),
    Row("max_turns", "max_turns", "error_max_turns", True, 1, (GLOB,), {"max_turns": 1}),
    Row("completed", "completed", SUCCESS, False, 0, (text("Done."),)),
    Row("max_tokens_total", "max_tokens_total", DURING, True, 1, (DEAR,), {"max_total_tokens": 10}),
    Row("max_tool_calls", "max_tool_calls", DURING, True, 1, (GLOB,), {"max_tool_calls": 1}),
    Row("max_wall_time", "max_wall_time", DURING, True, 1, (HELD,), {"max_wall_s": 0.03}),
    Row("repeated_calls", "repeated_calls", DURING, True, 1, (GLOB,), {"limits": {"max_repeated_calls": 2}}),
    Row("structured_output_retries", "structured_output_retries", "error_max_structured_output_retries", True, 1,
        (text("No."),), {"output_schema": SCHEMA, "limits": {"structured_retries": 0}}),
]
# fmt: on


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.reason}-{row.terminal_reason}-{row.exit}" for row in ROWS])
async def test_a_reason_shows_as_the_contract_says(bench, row):
    bench.model(*row.answers)
    engine = bench.engine(**row.options)

    def listen(event):
        if row.abort and event.__struct_config__.tag == row.abort[0]:
            engine.abort(row.abort[1])

    run = await bench.go_on(engine, row.prompt, on_event=listen)

    result = run.result
    shown = (result.reason, result.terminal_reason, result.subtype, result.is_error, result.exit)
    assert shown == (row.reason, row.terminal_reason, row.subtype, row.is_error, row.exit)
    assert run.of("terminal")[0].exit == row.exit
    assert bool(result.errors) == (row.is_error and row.abort is None)
    assert result.session_id == engine.session_id
    assert run.kinds[-2:] == ["terminal", "result"]
    assert run.kinds.count("terminal") == 1
    if row.reason != "tool_deferred":
        bench.assert_settled(engine)


def test_every_reason_is_in_the_table():
    assert {row.reason for row in ROWS} == set(Reason)


async def test_the_text_is_never_that_of_an_earlier_prompt(bench):
    bench.model(text("The first answer."), hold(text("The second."), after=-1))
    engine = bench.engine()
    await bench.go_on(engine)

    def listen(event):
        if event.__struct_config__.tag == "request_start":
            engine.abort()

    run = await bench.go_on(engine, on_event=listen)

    assert run.reason is Reason.ABORTED_STREAMING
    assert run.result.text == ""
