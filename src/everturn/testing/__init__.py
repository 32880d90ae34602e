"""Public fakes for tests of agents: models that play a script, a clock that does not wait, a journal without a disk."""

from everturn.testing.clock import CountingIds, FakeClock
from everturn.testing.journal import MemoryJournal
from everturn.testing.model import ChaosModel, ScriptedModel
from everturn.testing.script import (
    Part,
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

__all__ = [
    "ChaosModel",
    "CountingIds",
    "FakeClock",
    "MemoryJournal",
    "Part",
    "ScriptedModel",
    "call",
    "call_as",
    "call_raw",
    "cut",
    "fails",
    "pause",
    "refuse",
    "say",
    "stops",
    "think",
    "truncated",
    "usage",
]
