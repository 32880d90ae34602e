"""Summaries of tool rounds: the small model describes the calls of a round in a line while the main model goes on. Never awaited."""

import asyncio

from everturn.core.errors import ModelFault
from everturn.core.events import ToolsSummarised
from everturn.core.messages import Kind, Message, ToolUse, text_block
from everturn.engine import wording
from everturn.engine.crew import Crew
from everturn.engine.recorder import Recorder
from everturn.ports.ask import Ask, Question
from everturn.ports.clock import Ids

INPUT_SHOWN = 300
Pending = asyncio.Task[ToolsSummarised | None]


class Summaries:
    def __init__(self, *, recorder: Recorder, ids: Ids, model: str, crew: Crew) -> None:
        self._recorder = recorder
        self._ids = ids
        self._model = model
        self._crew = crew

    def start(self, uses: tuple[ToolUse, ...], ask: Ask) -> Pending:
        return self._crew.start(self._summarise(uses, ask))

    def show_finished(self, pending: tuple[Pending, ...]) -> tuple[Pending, ...]:
        """Emits the summaries that are done, and returns those that are still being made."""
        for task in pending:
            if task.done() and not task.cancelled() and (summary := task.result()) is not None:
                self._recorder.emit(summary)
        return tuple(task for task in pending if not task.done())

    async def _summarise(self, uses: tuple[ToolUse, ...], ask: Ask) -> ToolsSummarised | None:
        calls = "\n".join(f"{use.name} {bytes(use.input).decode()[:INPUT_SHOWN]}" for use in uses)
        request = text_block(wording.summary_request(calls))
        prompt = Message(id=self._ids.new(), role="user", kind=Kind.HIDDEN, blocks=(request,))
        question = Question(purpose="tool_summary", messages=(prompt,), model=self._model, max_tokens=64)
        try:
            reply = await ask.ask(question)
        except ModelFault:
            return None
        return ToolsSummarised(text=reply.text.strip(), tool_use_ids=tuple(use.id for use in uses))
