"""What came of a case: the turn before it, the prompt that met the fault, and the turn after it."""

import json
from functools import cached_property
from typing import Any

import msgspec
from tests.conftest import Run
from tests.faults.corpus import Call, Case
from tests.faults.world import World

from everturn import Engine
from everturn.context.compact import INSTRUCTION
from everturn.core.messages import Message
from everturn.core.record_codec import encode_record
from everturn.modelserver import Received
from everturn.modelserver.signatures import IssuedThinking
from everturn.sessions.formats import decode_line


class Mode(msgspec.Struct, frozen=True):
    """How a case is run."""

    streaming_tools: bool = True
    effects: bool = False
    """The call of the case has side effects."""


class Played(msgspec.Struct, kw_only=True, dict=True):
    case: Case
    mode: Mode
    world: World
    engine: Engine
    before: Run
    run: Run
    after: Run
    requests: list[Received]
    """Of the prompt that met the fault, in order."""
    after_requests: list[Received]
    attempts: int
    """Of the main model; where nobody listened, the tries that were announced."""
    handed: IssuedThinking
    """The thinking that the server gave out."""
    seen: dict[str, Any]
    """What only this case looks at."""

    @property
    def main(self) -> list[Received]:
        return [request for request in self.requests if not is_summary(request)]

    @property
    def summaries(self) -> list[Received]:
        return [request for request in self.requests if is_summary(request)]

    @cached_property
    def journal(self) -> bytes:
        return self.world.journal(self.engine.session_id)

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        told = [decode_line(line).record for line in self.journal.splitlines()]
        return [json.loads(encode_record(record)) for record in told if record is not None]

    @property
    def runs(self) -> list[Call]:
        return self.world.runs

    @property
    def answers(self) -> list[Message]:
        return [event.message for event in self.run.of("assistant")]

    @property
    def error(self) -> str:
        return "\n".join(self.run.result.errors)

    @property
    def following(self) -> list[dict[str, Any]]:
        """The messages of the request after the one that brought the call: of this prompt, or of the next."""
        requests = [*self.main[1:], *self.after_requests]
        return requests[0].body["messages"]

    @property
    def results(self) -> list[dict[str, Any]]:
        return [block for message in self.following for block in blocks_of(message) if block["type"] == "tool_result"]


def is_summary(request: Received) -> bool:
    return any(INSTRUCTION in block.get("text", "") for block in blocks_of(request.body["messages"][-1]))


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def blocks_in(request: Received, *kinds: str) -> list[dict[str, Any]]:
    return [block for message in request.body["messages"] for block in blocks_of(message) if block["type"] in kinds]
