"""The words of a script, without the network: the same answers as the model server's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.messages import Text, Thinking, ToolUse, text_block
from everturn.core.stream import BlockStarted, Fold, MessageStarted, MessageStopped, Pinged, TextAdded
from everturn.core.transcript import Wire
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.credentials import Credentials
from everturn.models.catalog import JsonCatalog
from everturn.models.transport.http1_transport import Http1Transport
from everturn.modelserver import ANY_MODEL, ModelServer, Script, hold, parse_cases
from everturn.modelserver import Wire as Written
from everturn.modelserver.answers import Call
from everturn.ports.model import Request
from everturn.testing import (
    ScriptedModel,
    broken,
    call,
    cut,
    error,
    overloaded,
    pause,
    refusal,
    reset,
    say,
    server_call,
    stall,
    text,
    thinking,
    too_long,
    truncated,
)
from everturn.testing.answers import PIECE

REQUEST = Request(model="m", messages=(Wire("user", (text_block("hi"),)),), max_tokens=100)


async def fold(model, request=REQUEST):
    folded = Fold(lambda id_: id_)
    async for event in model.stream(request):
        folded.feed(event)
    return folded


async def test_parts_join_to_one_answer():
    answer = say(thinking("hm", signature="sig"), "Look:", call("Read", {"file_path": "a.py"}))
    folded = await fold(ScriptedModel(answer))
    thought, words, use = (block.view for block in folded.finish())
    assert (thought, words) == (Thinking("hm", "sig"), Text("Look:"))
    assert isinstance(use, ToolUse)
    assert (use.id, use.name, bytes(use.input)) == ("toolu_1", "Read", b'{"file_path": "a.py"}')
    assert (folded.stop_reason, folded.complete, folded.model) == ("tool_use", True, "m")


async def test_calls_are_numbered_through_the_whole_script():
    model = ScriptedModel(say(call("A"), call("B")), say(call("C", call_id="mine"), call("D")))
    ids = [[block.view.id for block in (await fold(model)).finish()] for _ in range(2)]
    assert ids == [["toolu_1", "toolu_2"], ["mine", "toolu_3"]]


@pytest.mark.parametrize(
    ("answer", "stop_reason"),
    [
        ("x", "end_turn"),
        (truncated("x"), "max_tokens"),
        (refusal("no"), "refusal"),
        (pause(), "pause_turn"),
        (text("x", stop_reason="stop_sequence"), "stop_sequence"),
        (say(call("A"), stop_reason="end_turn"), "end_turn"),
    ],
)
async def test_each_ending_has_its_stop_reason(answer, stop_reason):
    assert (await fold(ScriptedModel(answer))).stop_reason == stop_reason


async def test_a_refusal_brings_its_details():
    folded = await fold(ScriptedModel(refusal(category="cyber", explanation="not this")))
    assert folded.details == {"type": "refusal", "category": "cyber", "explanation": "not this"}


async def test_usage_is_what_the_script_says_and_an_estimate_otherwise():
    counts = {
        "input_tokens": 7,
        "output_tokens": 8,
        "cache_creation_input_tokens": 9,
        "cache_read_input_tokens": 10,
    }
    told = (await fold(ScriptedModel(text("x", usage=counts)))).usage
    assert (told.input, told.output, told.cache_write, told.cache_read) == (7, 8, 9, 10)
    estimated = (await fold(ScriptedModel("word " * 40))).usage
    assert (estimated.input > 0, estimated.output > 10) == (True, True)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (overloaded(), FaultKind.OVERLOADED),
        (error(500), FaultKind.SERVER),
        (too_long(), FaultKind.TOO_LONG),
        (reset(), FaultKind.CONNECTION),
        (stall(), FaultKind.STALLED),
    ],
)
async def test_a_failure_is_the_fault_that_a_client_would_have_met(answer, kind):
    with pytest.raises(ModelFault) as caught:
        await fold(ScriptedModel(answer))
    assert caught.value.kind is kind


async def test_a_fault_is_fresh_each_time():
    model = ScriptedModel(overloaded(retry_after=3), repeat_last=True)
    faults = []
    for _ in range(2):
        with pytest.raises(ModelFault) as caught:
            await fold(model)
        faults.append(caught.value)
    assert [(fault.status, fault.retry_after) for fault in faults] == [(529, 3.0)] * 2
    assert faults[0] is not faults[1]


@pytest.mark.parametrize(
    ("ending", "kind"), [(broken, FaultKind.OVERLOADED), (cut, FaultKind.STREAM_BROKEN), (stall, FaultKind.STALLED)]
)
async def test_an_answer_may_end_in_its_middle(ending, kind):
    words, came = [], None
    try:
        async for event in ScriptedModel(ending("Hello again")).stream(REQUEST):
            words += [event.text] if isinstance(event, TextAdded) else []
    except ModelFault as fault:
        came = fault.kind
    assert (words, came) == (["Hello ag"], kind)


async def test_a_stream_that_is_cut_cleanly_just_ends():
    events = [event async for event in ScriptedModel(cut("Hello", after=4, how="clean")).stream(REQUEST)]
    assert [type(event) for event in events] == [MessageStarted, BlockStarted, Pinged, TextAdded]


async def test_a_stream_cut_before_it_began_is_a_fault():
    with pytest.raises(ModelFault):
        await fold(ScriptedModel(cut("Hello", after=0, how="clean")))


async def test_a_call_may_be_unreadable():
    folded = await fold(ScriptedModel(say(Call(name="Bash", input={"command": "rm -rf build"}, partial=20))))
    assert b"INVALID_JSON" in bytes(folded.finish()[0].view.input)


@pytest.mark.parametrize("answer", [Written(body="x"), hold("Hello"), cut("Hello", after_bytes=3)])
async def test_what_only_the_server_can_play_says_so(answer):
    with pytest.raises(ValueError, match="needs a ModelServer"):
        await fold(ScriptedModel(answer))


async def read(model):
    """The blocks, the stop reason and the kind of fault."""
    folded, fault = Fold(lambda id_: id_), None
    try:
        async for event in model.stream(REQUEST):
            folded.feed(event)
    except ModelFault as raised:
        fault = raised.kind
    return [block.raw for block in folded.blocks], folded.stop_reason, folded.complete, fault


SAME = {
    "words": text("Hello there"),
    "thinking and calls": say(thinking("Hm."), "Look:", call("Read", {"file_path": "a.py"}, call_id="t")),
    "a tool of the API's": pause(server_call("web_search", {"query": "news"}, [], call_id="s")),
    "the output cap": truncated(call("Bash", {"command": "ls"}, call_id="t")),
    "a refusal": refusal("No.", category="cyber"),
    "an overload": overloaded(),
    "a prompt that is too long": too_long(),
    "an unknown key": error(401),
    "a reset": reset(),
    "a cut": cut("Hello there", after=4),
    "a clean cut": cut("Hello there", after=4, how="clean"),
    "an error in the middle": broken("Hello there", after=4),
}


@pytest.mark.parametrize("answer", SAME.values(), ids=SAME)
async def test_a_client_reads_the_same_answer_from_the_model_server(answer):
    played = Script(answers=(answer,), strict=False, models=ANY_MODEL, chunk=PIECE)
    async with ModelServer(played) as server:
        real = AnthropicModel(
            transport=Http1Transport(),
            catalog=JsonCatalog(),
            credentials=Credentials(api_key="k"),
            base_url=server.url,
        )
        over_http = await read(real)
        await real.aclose()
    assert await read(ScriptedModel(answer)) == over_http


async def test_a_script_file_is_played_without_the_server_too():
    answers = parse_cases('["Hello.", {"calls": [["Read", {}]]}, {"error": 529}]')[""].answers
    model = ScriptedModel(*answers)
    assert [await read(model) for _ in range(3)] == [await read(ScriptedModel(each)) for each in answers]


async def test_after_its_end_a_script_says_done_or_repeats_its_last_scene():
    assert [(await fold(model)).blocks[0].view.text for model in [ScriptedModel("a")] * 3] == ["a", "done", "done"]
    again = ScriptedModel("a", "b", repeat_last=True)
    assert [(await fold(model)).blocks[0].view.text for model in [again] * 3] == ["a", "b", "b"]


async def test_a_scene_may_be_a_function_or_the_very_events():
    model = ScriptedModel(lambda request: request.model, [MessageStarted("id", "m", {}), MessageStopped()])
    assert (await fold(model)).blocks[0].view == Text("m")
    assert (await fold(model)).ended


async def test_a_script_can_grow_and_remembers_what_it_was_asked():
    model = ScriptedModel()
    model.plays("a", "b")
    assert [(await fold(model)).blocks[0].view.text for _ in range(2)] == ["a", "b"]
    assert model.requests == [REQUEST, REQUEST]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
@settings(max_examples=40, deadline=None)
async def test_any_text_arrives_whole(words):
    assert (await fold(ScriptedModel(words))).blocks[0].view == Text(words)
