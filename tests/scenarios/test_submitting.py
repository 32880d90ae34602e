"""Prompts that cannot be sent are refused at the door, and what a stop leaves for side questions."""

import pytest

from everturn import query
from everturn.core.errors import OptionError
from everturn.core.state import Reason
from everturn.modelserver import text

BAD = (
    [{"type": "text", "text": " "}],
    [{"type": "text", "text": object()}],
    [{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}],
)
"""Nothing of them could be sent."""


@pytest.mark.parametrize("prompt", ["", "   \n", [], [{"text": "no type"}], ["just words"], None, 7, *BAD])
async def test_an_empty_or_shapeless_prompt_is_refused_and_nothing_is_sent(bench, prompt):
    bench.model(text("Hello."))
    engine = bench.engine()

    with pytest.raises(OptionError):
        await anext(engine.submit(prompt))

    assert bench.requests == []
    assert engine.transcript == ()
    assert (await bench.go_on(engine)).reason is Reason.COMPLETED


async def test_a_prompt_of_blocks_is_sent_as_it_is(bench):
    bench.model(text("Hello."))
    blocks = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]

    await bench.run(blocks)

    assert bench.sent[0][0]["content"] == blocks


async def test_each_stop_leaves_a_snapshot_of_the_present_context(bench):
    bench.model(text("Hello."), text("Again."))
    engine = bench.engine()
    assert engine.snapshot is None

    await bench.go_on(engine)
    first = engine.snapshot
    await bench.go_on(engine)

    assert first.agent.model == "claude-sonnet-5"
    assert engine.snapshot.messages == engine.transcript
    assert engine.snapshot.messages[:2] == first.messages


async def test_one_prompt_without_an_engine(bench):
    bench.model(text("Hello."))

    events = [event async for event in query("Hi.", bench.options(), env=bench.env)]

    assert events[-1].text == "Hello."


def test_options_that_are_refused_leave_no_session_behind(bench):
    with pytest.raises(OptionError, match="builtin_tools"):
        bench.engine(session_id="mine", builtin_tools=["Teleport"])

    assert not bench.session_file("mine").exists()
    assert bench.engine(session_id="mine").session_id == "mine"
