"""A session as a file: the records of as many turns as wanted, written by the journal itself."""

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.figures import KILO, median
from everturn.core.budget import Usage
from everturn.core.messages import Answer, Kind, Message, ToolUse, encode_block, result_block, text_block
from everturn.core.record_codec import record_message
from everturn.core.records import (
    FORMAT,
    CallIntended,
    CallSettled,
    QueryBegan,
    QueryEnded,
    Record,
    SessionOpened,
    TransitionTaken,
    UsageCharged,
)
from everturn.sessions.journal import FileJournal

SAID, SHOWN = 300, 1_700
"""Characters of an answer and of a tool's result; those of an afternoon's work are longer."""
MODEL = "claude-sonnet-5"
COMMAND = msgspec.Raw(b'{"command": "make test"}')


def messages(turn: int) -> Iterator[Message]:
    use = ToolUse(id=f"toolu_{turn}", name="Bash", input=COMMAND)
    usage = Usage(input=10, output=90, cache_write=600, cache_read=40_000)
    answer = Answer(api_id=f"msg_{turn}", asked=MODEL, model=MODEL, stop_reason="tool_use", usage=usage)
    said = (text_block("word " * (SAID // 5)), encode_block(use))
    yield Message(id=f"a{turn}", role="assistant", kind=Kind.ANSWER, blocks=said, answer=answer)
    shown = (result_block(use.id, "line\n" * (SHOWN // 5)),)
    yield Message(id=f"r{turn}", role="user", kind=Kind.RESULTS, blocks=shown)


def records(turn: int) -> list[Record]:
    said, results = messages(turn)
    usage = said.answer.usage if said.answer else Usage()
    return [
        UsageCharged(purpose="main", model=MODEL, usage=usage, usd=0.01, turn=turn, api_id="x", request_id=said.id),
        record_message(said),
        CallIntended(tool_use_id=f"toolu_{turn}", name="Bash", input=COMMAND),
        record_message(results),
        CallSettled(tool_use_id=f"toolu_{turn}", is_error=False),
        TransitionTaken(query_id="q", transition="next_turn", turn=turn),
    ]


def write_session(path: Path, turns: int) -> float:
    """Milliseconds that a turn's records took, as the median."""
    journal = FileJournal(path, path.stem)
    journal.append(SessionOpened(format=FORMAT, session_id=path.stem, at=1.0, folder=str(path.parent), version="0"))
    journal.append(QueryBegan(query_id="q", at=1.0, source="main", model=MODEL))
    taken = []
    for turn in range(turns):
        made = records(turn)
        began = time.perf_counter()
        for record in made:
            journal.append(record)
        taken.append(time.perf_counter() - began)
    journal.append(QueryEnded(query_id="q", reason="completed"))
    journal.close()
    return median(taken) * KILO


def raw_text(turns: int) -> int:
    """Bytes of all blocks."""
    return turns * sum(len(block.raw) for message in messages(1) for block in message.blocks)
