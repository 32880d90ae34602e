"""Public fakes for tests of agents: models that play a script, a clock that does not wait, a disk that fails."""

from everturn.testing.clock import CountingIds, FakeClock
from everturn.testing.faulty_disk import Fault, FaultyDisk, MemoryDisk
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
from everturn.testing.shelf import MemoryShelf

__all__ = [
    "ChaosModel",
    "CountingIds",
    "FakeClock",
    "Fault",
    "FaultyDisk",
    "MemoryDisk",
    "MemoryJournal",
    "MemoryShelf",
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
