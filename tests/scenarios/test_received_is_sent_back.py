"""What was received is what is sent back: bytes, unknown fields, server tools and thoughts."""

from everturn.core.state import Reason
from everturn.modelserver import block, call, redacted, say, server_call, text, thinking


async def test_the_input_of_a_call_goes_back_byte_for_byte(bench):
    bench.model(call("Teleport", {"z": 1.0, "a": [1e5, "ü\u2028</x>"], "empty": {}}), text("Done."))

    run = await bench.run()

    received = "".join(delta.text for delta in run.of("input_delta"))
    assert f'"input":{received}'.encode() in bench.requests[1].raw


async def test_fields_that_we_do_not_know_survive(bench):
    use = {"type": "tool_use", "id": "toolu_1", "name": "Glob", "input": {"pattern": "*"}, "caller": {"type": "direct"}}
    bench.model(say(block(use)), text("Done."))

    run = await bench.run()

    assert run.reason is Reason.COMPLETED
    assert bench.sent[1][1]["content"] == [use]


async def test_thinking_of_the_trajectory_goes_back_exactly_as_received(bench):
    glob = call("Glob", {"pattern": "*"})
    bench.model(say(thinking("First."), redacted(), glob), say(thinking("Then."), glob), text("Done."))
    engine = bench.engine()

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    kinds = [[block["type"] for block in message["content"]] for message in bench.sent[2][1::2]]
    assert kinds == [["thinking", "redacted_thinking", "tool_use"], ["thinking", "tool_use"]]
    shown = [finished.block.raw for finished in run.of("block") if b"thinking" in finished.block.raw]
    assert all(raw in bench.requests[2].raw for raw in shown)


async def test_blocks_of_tools_that_the_api_runs_are_carried(bench):
    found = [{"type": "web_search_result", "url": "https://example.org", "title": "T", "encrypted_content": "x"}]
    bench.model(say(server_call("web_search", {"query": "news"}, found), "There is news."), text("Done."))
    engine = bench.engine()
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    kinds = [block["type"] for block in bench.sent[1][1]["content"]]
    assert kinds == ["server_tool_use", "web_search_tool_result", "text"]


async def test_an_empty_answer_completes_and_the_next_prompt_works(bench):
    bench.model(say(), text("Here."))
    engine = bench.engine()

    first, second = await bench.go_on(engine), await bench.go_on(engine)

    assert [first.reason, second.reason] == [Reason.COMPLETED, Reason.COMPLETED]
    assert first.result.text == ""
