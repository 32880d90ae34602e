"""A call without arguments comes as one empty delta: it runs with `{}`, at once, and goes back as `{}`."""

import asyncio

from everturn import tool
from everturn.core.state import Reason
from everturn.modelserver import calls, hold, say, text
from everturn.modelserver.answers import Call

PATIENCE_S = 20


@tool(name="Now", reads_only=True)
async def tell_time() -> str:
    """Tells the time."""
    return "noon"


@tool(name="Ring")
async def ring() -> str:
    """Rings the bell."""
    return "It rang."


async def test_tools_without_arguments_run_and_go_back_as_they_came(bench):
    bench.model(calls(("Now", {}), ("Ring", {}), ("Now", {})), text("Done."))

    run = await bench.run(tools=[tell_time, ring], permission_mode="bypassPermissions")

    assert run.reason is Reason.COMPLETED
    assert [delta.text for delta in run.of("input_delta")] == [""] * 3
    answer, results = bench.sent[1][-2:]
    assert [block["input"] for block in answer["content"]] == [{}] * 3
    assert [block["content"] for block in results["content"]] == ["noon", "It rang.", "noon"]
    assert not any(block.get("is_error") for block in results["content"])


async def test_a_call_without_arguments_starts_as_soon_as_another_block_does(bench):
    """Until then, only the end of the answer could say that it was cut off."""
    bench.model(
        hold(calls(("Now", {}), ("Now", {})), after=len(("message", "block", "ping", "delta", "stop", "block")))
    )
    began = []

    def go_on_once_it_began(event):
        if event.__struct_config__.tag == "tool_start":
            began.append(event.tool_use_id)
            bench.server.release()

    engine = bench.engine(tools=[tell_time], max_turns=1, permission_mode="bypassPermissions")
    async with asyncio.timeout(PATIENCE_S):
        run = await bench.go_on(engine, on_event=go_on_once_it_began)

    assert run.reason is Reason.MAX_TURNS
    assert len(began) == 2


async def test_a_call_that_was_cut_before_its_first_argument_is_not_run(bench):
    bench.model(say(Call(name="Ring", input={"loudly": True}, partial=0), stop_reason="max_tokens"), text("Done."))

    run = await bench.run(tools=[ring], permission_mode="bypassPermissions")

    assert run.reason is Reason.COMPLETED
    assert run.of("tool_start") == []
    assert "tool_use" not in str(bench.sent[-1])
