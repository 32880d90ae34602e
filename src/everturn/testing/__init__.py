"""Public fakes for tests of agents: models that play a script, a clock that does not wait, a disk that fails."""

from everturn.modelserver.answers import Answer
from everturn.modelserver.sentences import (
    block,
    broken,
    call,
    calls,
    closed,
    cut,
    error,
    overloaded,
    pause,
    rate_limited,
    redacted,
    refusal,
    reset,
    say,
    server_call,
    spend_limit,
    stall,
    text,
    thinking,
    too_long,
    truncated,
)
from everturn.testing.clock import CountingIds, FakeClock
from everturn.testing.faulty_disk import Fault, FaultyDisk, MemoryDisk
from everturn.testing.memory import MemoryJournal, MemoryShelf
from everturn.testing.model import ChaosModel, ScriptedModel

__all__ = [
    "Answer",
    "ChaosModel",
    "CountingIds",
    "FakeClock",
    "Fault",
    "FaultyDisk",
    "MemoryDisk",
    "MemoryJournal",
    "MemoryShelf",
    "ScriptedModel",
    "block",
    "broken",
    "call",
    "calls",
    "closed",
    "cut",
    "error",
    "overloaded",
    "pause",
    "rate_limited",
    "redacted",
    "refusal",
    "reset",
    "say",
    "server_call",
    "spend_limit",
    "stall",
    "text",
    "thinking",
    "too_long",
    "truncated",
]
