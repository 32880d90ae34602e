"""A stream breaks after a call with side effects has started: what is whole is kept, and no tool runs twice."""

import asyncio

import pytest

from everturn import Engine, tool
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.state import Reason
from everturn.core.stream import MessageChanged
from everturn.modelserver import broken, call, cut, hold, overloaded, say, text
from everturn.testing import ScriptedModel

FIRST_BLOCK = 6
"""Events up to the end of the first call's block, where its input comes in one piece."""


@pytest.fixture
def ran():
    return []


@pytest.fixture
def writer(ran):
    @tool(name="append")
    async def append(word: str) -> str:
        """Has an effect."""
        ran.append(word)
        return f"appended {word}"

    return append


@pytest.fixture
def reader(ran):
    @tool(name="look", reads_only=True)
    async def look(word: str) -> str:
        """Has none."""
        ran.append(word)
        return f"saw {word}"

    return look


def release_at(bench, kind):
    """A listener that lets the held stream go on at the first event of a kind."""
    return lambda event: bench.server.release() if event.__struct_config__.tag == kind else None


async def test_blocks_and_results_are_committed_and_the_loop_goes_on(bench, writer, ran):
    answer = say(call("append", {"word": "one"}), "And now the rest of the story.")
    bench.model(hold(cut(answer, after=8), after=FIRST_BLOCK), text("Done."), chunk=1_000)
    engine = bench.engine(tools=[writer], allowed_tools=["append"])

    run = await bench.go_on(engine, on_event=release_at(bench, "tool_end"))

    assert run.transitions == ["next_turn"]
    assert run.reason is Reason.COMPLETED
    assert ran == ["one"]
    assert run.of("api_retry", "tombstone") == []
    answer, results = bench.sent[1][1:]
    assert [block["type"] for block in answer["content"]] == ["tool_use"]
    assert [block["content"] for block in results["content"]] == ["appended one"]
    bench.assert_settled(engine)


async def test_a_call_that_was_cut_in_mid_input_is_dropped_from_what_is_kept(bench, writer, ran):
    answer = say(call("append", {"word": "one"}), call("append", {"word": "two"}))
    bench.model(hold(cut(answer, after=8), after=FIRST_BLOCK), text("Done."), chunk=1_000)
    engine = bench.engine(tools=[writer], allowed_tools=["append"])

    run = await bench.go_on(engine, on_event=release_at(bench, "tool_end"))

    assert run.transitions == ["next_turn"]
    assert ran == ["one"]
    assert len(engine.transcript[1].uses) == 1


async def test_one_overload_in_mid_stream_is_no_reason_to_leave_the_model(bench, writer, ran):
    answer = say(call("append", {"word": "one"}), "More.")
    bench.model(hold(broken(answer, after=8), after=FIRST_BLOCK), text("Done."), chunk=1_000)
    engine = bench.engine(tools=[writer], allowed_tools=["append"], fallback_models=["claude-opus-5"])

    run = await bench.go_on(engine, on_event=release_at(bench, "tool_end"))

    assert run.transitions == ["next_turn"]
    assert [body["model"] for body in bench.bodies] == ["claude-sonnet-5", "claude-sonnet-5"]
    assert ran == ["one"]


async def test_the_third_overload_in_a_row_goes_on_with_the_fallback_model(bench, writer, ran):
    answer = say(call("append", {"word": "one"}), "More.")
    third = hold(broken(answer, after=8), after=FIRST_BLOCK)
    bench.model(overloaded(), overloaded(), third, text("Done."), chunk=1_000)
    engine = bench.engine(tools=[writer], allowed_tools=["append"], fallback_models=["claude-opus-5"])

    run = await bench.go_on(engine, on_event=release_at(bench, "tool_end"))

    assert run.transitions == ["next_turn"]
    assert [body["model"] for body in bench.bodies] == ["claude-sonnet-5"] * 3 + ["claude-opus-5"]
    assert ran == ["one"]


async def test_a_read_only_call_is_dropped_with_its_result_and_the_attempt_is_retried(bench, reader, ran):
    answer = say(call("look", {"word": "one"}), "More.")
    bench.model(hold(cut(answer, after=8), after=FIRST_BLOCK), text("Done."), chunk=1_000)
    engine = bench.engine(tools=[reader], allowed_tools=["look"])

    run = await bench.go_on(engine, on_event=release_at(bench, "tool_end"))

    assert run.transitions == []
    assert [tombstone.cause for tombstone in run.of("tombstone")] == ["retry"]
    assert bench.sent[1] == bench.sent[0]
    assert [message.text for message in engine.transcript] == ["Go on.", "Done."]
    assert ran == ["one"]


async def test_a_call_without_effects_yet_is_asked_for_again_and_runs_once(bench, writer, ran):
    answer = say(call("append", {"word": "one"}), "More.")
    bench.model(cut(answer, after=5), answer, text("Done."), chunk=1_000)

    run = await bench.run(tools=[writer], allowed_tools=["append"])

    assert run.transitions == ["next_turn"]
    assert len(run.of("api_retry")) == 1
    assert ran == ["one"]


async def test_in_batch_mode_nothing_starts_before_the_end_and_the_attempt_is_retried(bench, writer, ran):
    answer = say(call("append", {"word": "one"}), "More.")
    bench.model(cut(answer, after=8), answer, text("Done."), chunk=1_000)
    engine = bench.engine(tools=[writer], allowed_tools=["append"], streaming_tools=False)

    run = await bench.go_on(engine)

    assert len(run.of("api_retry")) == 1
    assert run.transitions == ["next_turn"]
    assert ran == ["one"]
    assert [block["type"] for block in bench.sent[2][1]["content"]] == ["tool_use", "text"]
    bench.assert_settled(engine)


async def test_a_call_with_effects_in_a_truncated_answer_is_not_escalated_away(bench, writer, ran):
    answer = say(call("append", {"word": "one"}), "More.", stop_reason="max_tokens", verbatim=True)
    bench.model(answer, text("Done."))

    run = await bench.run(tools=[writer], allowed_tools=["append"])

    assert run.transitions == ["next_turn"]
    assert ran == ["one"]


async def test_a_refusal_after_an_effect_keeps_the_call_and_goes_on(bench, writer, ran):
    answer = say(call("append", {"word": "one"}), "No more.", stop_reason="refusal")
    bench.model(hold(answer, after=FIRST_BLOCK), text("Done."), chunk=1_000)
    engine = bench.engine(tools=[writer], allowed_tools=["append"])

    run = await bench.go_on(engine, on_event=release_at(bench, "tool_end"))

    assert run.transitions == ["next_turn"]
    assert ran == ["one"]
    bench.assert_settled(engine)


async def test_a_refusal_before_any_effect_drops_the_calls(bench, reader, ran):
    answer = say(call("look", {"word": "one"}), "No more.", stop_reason="refusal")
    bench.model(hold(answer, after=FIRST_BLOCK), chunk=1_000)
    engine = bench.engine(tools=[reader], allowed_tools=["look"])

    run = await bench.go_on(engine, on_event=release_at(bench, "tool_end"))

    assert run.reason is Reason.MODEL_ERROR
    assert len(engine.transcript) == 1


async def test_a_writer_that_waits_behind_a_reader_has_no_effect_yet(bench, writer, ran):
    let_go = asyncio.Event()

    @tool(reads_only=True)
    async def look() -> str:
        """Looks for long."""
        await let_go.wait()
        return "seen"

    answer = say(call("look"), call("append", {"word": "one"}), "More.")
    broken_off = hold(cut(answer, after=12), after=10)
    bench.model(broken_off, text("Done."), chunk=1_000)
    engine = bench.engine(tools=[look, writer], allowed_tools=["look", "append"])

    def listen(event):
        if event.__struct_config__.tag == "block" and b"append" in event.block.raw:
            bench.server.release()

    run = await bench.go_on(engine, on_event=listen)

    assert run.transitions == []
    assert len(run.of("api_retry")) == 1
    assert ran == []


class LeavesForAnother(ScriptedModel):
    """Asks for a call, waits until it runs, then says that another model must go on."""

    def __init__(self, runs):
        super().__init__(call("append", {"word": "one"}))
        self._runs = runs

    async def stream(self, request):
        for event in self._take(request):
            if isinstance(event, MessageChanged) and len(self.requests) == 1:
                await self._runs.wait()
                raise ModelFault(FaultKind.FALLBACK, "Another model must go on.")
            yield event


async def test_an_explicit_fallback_in_mid_stream_goes_on_with_the_fallback_model(bench):
    runs = asyncio.Event()

    @tool(name="append")
    async def append(word: str) -> str:
        """Has an effect."""
        runs.set()
        return f"appended {word}"

    model = LeavesForAnother(runs)
    options = bench.options(tools=[append], allowed_tools=["append"], fallback_models=["claude-opus-5"])
    async with Engine(options, env=bench.env, model=model) as engine:
        run = await bench.go_on(engine)

    assert run.transitions == ["next_turn"]
    assert [request.model for request in model.requests] == ["claude-sonnet-5", "claude-opus-5"]
