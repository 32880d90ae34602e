"""What preparing a turn costs in a long conversation against a short one: all stages, the request, and the cache's ledger.

The joining of the body, which has to copy every byte, is not in it.
"""

import asyncio
import time

from bench.figures import median
from everturn.compose.catalog import build_catalog
from everturn.context.pipeline import ContextPipeline
from everturn.core.budget import Prices, Usage
from everturn.core.limits import Limits
from everturn.core.messages import Answer, Kind, Message, ToolUse, encode_block, result_block, text_block
from everturn.core.normaliser import Normaliser
from everturn.core.tokens import Meter
from everturn.core.transcript import Abilities
from everturn.core.view import View
from everturn.engine.cache_watch import CacheWatch
from everturn.ports.ask import Question, Reply
from everturn.ports.context import Situation, Tracking
from everturn.ports.model import Request
from everturn.settings.options import Options
from everturn.testing import CountingIds

MODEL = "claude-sonnet-4-5"
LONG, SHORT = 10_000, 100
AROUND = 200
"""Turns that are timed, up to the one that is asked for."""
SAID, SHOWN = 300, 1_700


class Nobody:
    """Asks no model: nothing here comes near a limit."""

    async def ask(self, question: Question) -> Reply:
        raise AssertionError(question.purpose)


def compare(short: int = SHORT, long: int = LONG) -> float:
    """Time of the turns up to the long end against those up to the short one. CPU time: others may be busy."""
    return asyncio.run(_time(long)) / asyncio.run(_time(short))


async def _time(messages: int) -> float:
    """Seconds of one turn, as the median of the last ones."""
    ids, card = CountingIds(), build_catalog(Options()).card(MODEL)
    pipeline, normaliser, watch = ContextPipeline(ids=ids), Normaliser(), CacheWatch()
    abilities, view = Abilities(model=MODEL), View()
    view = view.plus(_prompt())
    meter, taken = None, []
    for turn in range(max(1, messages // 2)):
        began = time.process_time()
        situation = Situation(
            card=card, limits=Limits(), fixed_tokens=1_000, output_cap=8_000, meter=meter, tracking=Tracking()
        )
        prepared = await pipeline.prepare(view, situation, Nobody())
        wires = normaliser.normalise(prepared.messages, abilities)
        look = watch.look(Request(model=MODEL, messages=wires, max_tokens=8_000), float(turn))
        watch.judge(look, "5m", Usage(input=1), Prices())
        taken.append(time.process_time() - began)
        view = View.of(prepared.messages)
        for message in _round(turn):
            view = view.plus(message)
        # As the API would count it, were its window without an end: nothing is ever cleared.
        meter = Meter(tokens=10_000, messages=len(view) - 1)
    return median(taken[-AROUND:])


def _prompt() -> Message:
    return Message(id="prompt", role="user", kind=Kind.PROMPT, blocks=(text_block("Go."),))


def _round(turn: int) -> tuple[Message, Message]:
    use = ToolUse(id=f"toolu_{turn}", name="Bash")
    said = (text_block("word " * (SAID // 5)), encode_block(use))
    answer = Answer(asked=MODEL, model=MODEL, stop_reason="tool_use")
    return (
        Message(id=f"a{turn}", role="assistant", kind=Kind.ANSWER, blocks=said, answer=answer),
        Message(id=f"r{turn}", role="user", kind=Kind.RESULTS, blocks=(result_block(use.id, "line\n" * (SHOWN // 5)),)),
    )
