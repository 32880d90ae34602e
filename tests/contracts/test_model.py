"""One suite for the models that need no network: at least one event or a `ModelFault`, and closing is always fine."""

from contextlib import aclosing
from random import Random

import pytest

from everturn.core.errors import ModelFault
from everturn.core.messages import text_block
from everturn.core.stream import Fold, StreamEvent
from everturn.core.transcript import Wire
from everturn.ports.model import Model, Request
from everturn.testing import ChaosModel, ScriptedModel, call, say, thinking

ANSWER = say(thinking("hm"), "Let me look at the file.", call("Read", {"file_path": "a.py"}))
REQUEST = Request(model="m", messages=(Wire("user", (text_block("hi"),)),), max_tokens=100)


def scripted() -> Model:
    return ScriptedModel(ANSWER, repeat_last=True)


def seeded() -> Random:
    return Random(1)  # noqa: S311 (repeatable, not secret)


def calm() -> Model:
    return ChaosModel(ANSWER, rng=seeded(), odds=0.0)


def stormy() -> Model:
    return ChaosModel(*[ANSWER] * 50, rng=seeded(), odds=0.8)


@pytest.fixture(params=[scripted, calm, stormy])
def model(request) -> Model:
    return request.param()


async def test_a_call_yields_events_or_raises_a_model_fault(model):
    for _ in range(20):
        events: list[StreamEvent] = []
        try:
            events = [event async for event in model.stream(REQUEST)]
        except ModelFault:
            continue
        assert events


async def test_a_call_may_be_closed_after_any_event(model):
    for length in range(8):
        try:
            async with aclosing(model.stream(REQUEST)) as stream:
                for _ in range(length):
                    await anext(stream)
        except (ModelFault, StopAsyncIteration):
            continue


async def test_every_complete_response_folds(model):
    for _ in range(20):
        fold = Fold(lambda id_: id_)
        try:
            async for event in model.stream(REQUEST):
                fold.feed(event)
        except ModelFault:
            continue
        if fold.complete and fold.blocks:
            assert fold.stop_reason in {"tool_use", "end_turn"}


async def test_tokens_are_counted_and_closing_is_quiet(model):
    assert await model.count_tokens(REQUEST) > 0
    await model.aclose()
    await model.aclose()


async def weather(seed: int) -> tuple[list[str], int]:
    """What fifty attempts at three scenes gave: the text of each that came through, or the fault."""
    model = ChaosModel(say("one"), say("two"), say("three"), rng=Random(seed))  # noqa: S311 (repeatable, not secret)
    came = []
    for _ in range(50):
        fold = Fold(lambda id_: id_)
        try:
            async for event in model.stream(REQUEST):
                fold.feed(event)
        except ModelFault as fault:
            came.append(fault.text)
        else:
            came.append("".join(block.view.text for block in fold.blocks) if fold.complete else "cut")
    return came, model.faults


async def test_the_same_seed_brings_the_same_weather():
    assert await weather(5) == await weather(5) != await weather(6)


@pytest.mark.parametrize("seed", range(10))
async def test_whoever_retries_gets_the_whole_script_in_order(seed):
    came, faults = await weather(seed)
    whole = [text for text in came if text in {"one", "two", "three", "done"}]
    assert whole[:4] == ["one", "two", "three", "done"]
    assert (faults, len(whole)) == (len(came) - len(whole), 50 - faults)
