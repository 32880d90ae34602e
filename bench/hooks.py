"""What hooks cost: where none is meant, where many run at once, and the stop phase where nobody configured anything."""

import asyncio
import tempfile
import time

from tests.hooks.test_figures import build

from bench.aims import Found, Scale, note
from bench.alone import Figures
from bench.figures import KILO
from everturn.compose.engine import assemble
from everturn.core.messages import Kind
from everturn.engine.actions import stop
from everturn.engine.conversation import Conversation
from everturn.engine.turn import Turn
from everturn.ports.abort import AbortSignal
from everturn.ports.hooks import Occasion
from everturn.settings.options import Options
from everturn.testing import ScriptedModel, say

MATCHERS, ASKED, MESSAGES = 1_000, 1_000, 800
MICRO = 1e6
CALL = Occasion(event="PreToolUse", fields={"tool_name": "Bash"})
ALONE = [{"hooks": [{"type": "command", "command": "sleep 0.5"}]}]
MANY = [{"hooks": [{"type": "command", "command": f"sleep 0.5; : {number}"} for number in range(20)]}]


def measure(scale: Scale) -> Found:
    found: Found = {}
    for _ in range(scale.rounds):
        with tempfile.TemporaryDirectory(prefix="everturn-bench-") as folder:
            note(found, asyncio.run(measure_round(folder)))
    return found


async def measure_round(folder: str) -> Figures:
    return {
        "nothing_matches": await time_dispatch(folder) * MICRO,
        "parallel": await time_hooks(folder, MANY) / await time_hooks(folder, ALONE),
        "stop_phase": await time_stop_phase(folder) * KILO,
    }


async def time_dispatch(folder: str) -> float:
    """CPU seconds of one."""
    matchers = [{"matcher": f"Tool{number}", "hooks": ALONE[0]["hooks"]} for number in range(MATCHERS)]
    dispatch = build(folder, matchers)
    await dispatch.ask(CALL)
    began = time.process_time()
    for _ in range(ASKED):
        await dispatch.ask(CALL)
    return (time.process_time() - began) / ASKED


async def time_hooks(folder: str, groups: object) -> float:
    dispatch = build(folder, groups)
    began = time.perf_counter()
    await dispatch.ask(CALL)
    took = time.perf_counter() - began
    await dispatch.aclose()
    return took


async def time_stop_phase(folder: str) -> float:
    """After a conversation of 800 messages."""
    parts = assemble(Options(cwd=folder, persist=False), env={}, model=ScriptedModel(say("Done.")))
    conversation = Conversation(parts)
    for number in range(MESSAGES):
        conversation.recorder.add_user(Kind.PROMPT, f"Message {number}")
    turn = Turn(conversation.query_parts("query", AbortSignal()), conversation.state())
    await stop.perform(turn)
    began = time.perf_counter()
    await stop.perform(turn)
    took = time.perf_counter() - began
    for close in parts.closers:
        close()
    return took
