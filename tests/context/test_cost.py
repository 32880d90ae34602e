"""Preparing a turn costs what is new in it, however long the conversation is."""

import asyncio
import time

from tests.context.transcripts import ScriptedAsk, prompt, round_of, situation

from everturn.context.pipeline import ContextPipeline
from everturn.core.view import View
from everturn.testing import CountingIds

TURNS, ROUNDS = 60, 5


def conversation(size):
    said = [prompt("p")]
    while len(said) < size:
        said.extend(round_of(len(said), size=900))
    return View(said)


async def prepare_turns(size):
    """CPU seconds of some turns that follow so many messages, concatenation apart."""
    pipeline, ask = ContextPipeline(ids=CountingIds("n")), ScriptedAsk()
    view = (await pipeline.prepare(conversation(size), situation(window=50_000_000), ask)).messages
    spent = 0.0
    for turn in range(TURNS):
        for message in round_of(1_000_000 + turn, size=900):
            view = view.plus(message)
        room = situation(window=50_000_000, meter=(len(view) * 100, len(view) - 1))
        began = time.process_time()
        view = (await pipeline.prepare(view, room, ask)).messages
        pipeline.plan_background(room, ask)
        spent += time.process_time() - began
    return spent


def test_a_turn_after_ten_thousand_messages_costs_at_most_twice_one_after_a_hundred():
    rounds = [[asyncio.run(prepare_turns(size)) for size in (100, 10_000)] for _ in range(ROUNDS)]
    few, many = map(min, zip(*rounds, strict=True))
    assert many <= 2 * few
