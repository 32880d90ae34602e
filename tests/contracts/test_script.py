"""The words of a script: what each part plays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.budget import Usage
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.messages import Text, Thinking, ToolUse, text_block
from everturn.core.stream import BlockStarted, Fold, MessageStarted, MessageStopped, TextAdded
from everturn.core.transcript import Wire
from everturn.ports.model import Request
from everturn.testing import (
    ScriptedModel,
    call,
    call_as,
    call_raw,
    cut,
    fails,
    pause,
    refuse,
    say,
    stops,
    think,
    truncated,
    usage,
)

REQUEST = Request(model="m", messages=(Wire("user", (text_block("hi"),)),), max_tokens=100)


async def fold(model, request=REQUEST):
    folded = Fold(lambda id_: id_)
    async for event in model.stream(request):
        folded.feed(event)
    return folded


async def test_parts_join_to_one_answer():
    folded = await fold(ScriptedModel(think("hm", "sig") + say("Look:") + call("Read", file_path="a.py")))
    thinking, text, use = (block.view for block in folded.finish())
    assert (thinking, text) == (Thinking("hm", "sig"), Text("Look:"))
    assert isinstance(use, ToolUse)
    assert (use.id, use.name, bytes(use.input)) == ("toolu_1", "Read", b'{"file_path": "a.py"}')
    assert (folded.stop_reason, folded.complete, folded.model) == ("tool_use", True, "m")


async def test_calls_are_numbered_through_the_whole_script():
    model = ScriptedModel(call("A") + call("B"), call_as("mine", "C") + call("D"))
    ids = [[block.view.id for block in (await fold(model)).finish()] for _ in range(2)]
    assert ids == [["toolu_1", "toolu_2"], ["mine", "toolu_3"]]


@pytest.mark.parametrize(
    ("part", "stop_reason"),
    [
        (say("x"), "end_turn"),
        (truncated("x"), "max_tokens"),
        (refuse("no"), "refusal"),
        (pause(), "pause_turn"),
        (say("x") + stops("stop_sequence"), "stop_sequence"),
        (call("A") + stops("end_turn"), "end_turn"),
    ],
)
async def test_each_ending_has_its_stop_reason(part, stop_reason):
    assert (await fold(ScriptedModel(part))).stop_reason == stop_reason


async def test_a_refusal_brings_its_details():
    folded = await fold(ScriptedModel(refuse("not this", "cyber")))
    assert folded.details == {"type": "refusal", "category": "cyber", "explanation": "not this"}


async def test_usage_is_what_the_script_says_and_an_estimate_otherwise():
    folded = await fold(ScriptedModel(say("x") + usage(input=7, output=8, cache_write=9, cache_read=10)))
    assert folded.usage == Usage(input=7, output=8, cache_write=9, cache_read=10)
    estimated = (await fold(ScriptedModel(say("x" * 40)))).usage
    assert (estimated.input > 0, estimated.output) == (True, 11)


async def test_a_fault_alone_comes_before_the_first_event_and_is_fresh_each_time():
    model = ScriptedModel(fails(FaultKind.OVERLOADED, "busy", status=529, retry_after=3.0), repeat_last=True)
    faults = []
    for _ in range(2):
        with pytest.raises(ModelFault) as caught:
            await fold(model)
        faults.append(caught.value)
    assert [(fault.kind, fault.text, fault.status, fault.retry_after) for fault in faults] == [
        (FaultKind.OVERLOADED, "busy", 529, 3.0)
    ] * 2
    assert faults[0] is not faults[1]


async def test_a_fault_after_words_comes_in_mid_stream():
    folded = Fold(lambda id_: id_)

    async def listen():
        async for event in ScriptedModel(say("Hel") + fails(FaultKind.SERVER)).stream(REQUEST):
            folded.feed(event)

    with pytest.raises(ModelFault):
        await listen()
    assert ([block.view for block in folded.blocks], folded.complete) == ([Text("Hel")], False)


async def test_a_cut_stream_just_ends():
    events = [event async for event in ScriptedModel(say("Hello") + cut(after=3)).stream(REQUEST)]
    assert [type(event) for event in events] == [MessageStarted, BlockStarted, TextAdded]


async def test_a_stream_cut_before_it_began_is_a_fault():
    with pytest.raises(ModelFault):
        await fold(ScriptedModel(say("Hello") + cut(after=0)))


async def test_a_call_may_be_unreadable():
    folded = await fold(ScriptedModel(call_raw("Bash", '{"command": "rm -rf bui')))
    assert b"INVALID_JSON" in bytes(folded.finish()[0].view.input)


async def test_after_its_end_a_script_says_done_or_repeats_its_last_scene():
    assert [(await fold(model)).blocks[0].view.text for model in [ScriptedModel(say("a"))] * 3] == ["a", "done", "done"]
    again = ScriptedModel(say("a"), say("b"), repeat_last=True)
    assert [(await fold(model)).blocks[0].view.text for model in [again] * 3] == ["a", "b", "b"]


async def test_a_scene_may_be_a_function_or_the_very_events():
    model = ScriptedModel(lambda request: say(request.model), [MessageStarted("id", "m", {}), MessageStopped()])
    assert (await fold(model)).blocks[0].view == Text("m")
    assert (await fold(model)).ended


async def test_a_script_can_grow_and_remembers_what_it_was_asked():
    model = ScriptedModel()
    model.plays(say("a"), say("b"))
    assert [(await fold(model)).blocks[0].view.text for _ in range(2)] == ["a", "b"]
    assert model.requests == [REQUEST, REQUEST]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
@settings(max_examples=40, deadline=None)
async def test_any_text_arrives_whole(text):
    assert (await fold(ScriptedModel(say(text)))).blocks[0].view == Text(text)
