"""An agent that plays events: for what no server can be made to do cheaply, such as thousands of deltas."""

from collections.abc import AsyncGenerator, Iterable

from everturn.core.budget import Usage
from everturn.core.events import Event, ModelUsage, ResultEvent
from everturn.core.state import Reason


class PlayedAgent:
    def __init__(self, events: Iterable[Event]) -> None:
        self._events = events
        self.session_id = "session-1"
        self.model = "claude-sonnet-5"
        self.permission_mode = "default"
        self.transcript = ()
        self.denials = ()
        self.total_usd = 0.0
        self.usage_by_model: dict[str, ModelUsage] = {}
        self.closed = False
        self.interruption = None

    async def submit(self, prompt: object) -> AsyncGenerator[Event]:
        try:
            for event in self._events:
                yield event
        finally:
            self.closed = True

    async def compact(self, instructions: str = "") -> AsyncGenerator[Event]:
        for event in self._events:
            yield event

    def clear(self) -> None:
        self.session_id = "session-2"


def finished(text: str = "Done.", **changes: object) -> ResultEvent:
    fields = {
        "subtype": "success",
        "is_error": False,
        "duration_s": 1.0,
        "api_duration_s": 0.5,
        "num_turns": 1,
        "rounds": 1,
        "text": text,
        "stop_reason": "end_turn",
        "reason": Reason.COMPLETED,
        "terminal_reason": "completed",
        "exit": 0,
        "total_usd": 0.25,
        "usage": Usage(input=10, output=5),
        "models": {},
        "denials": (),
        "errors": (),
        "session_id": "session-1",
    }
    return ResultEvent(**(fields | changes))
