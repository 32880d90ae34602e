"""Partial messages: our events as the API's own stream events, for clients that show an answer while it grows."""

from typing import Any

import msgspec

from everturn.core.budget import Usage
from everturn.core.events import (
    AnswerAdded,
    BlockBegan,
    BlockFinished,
    InputDelta,
    MessageBegan,
    TextDelta,
    ThinkingDelta,
)
from everturn.core.messages import Answer, Thinking, ToolUse
from everturn.frontends.headless.json_result import render_usage

Raw = dict[str, Any]
"""An event of the API."""
GROWING = frozenset({"text", "thinking", "tool_use"})
"""Blocks that come in pieces. Any other is told whole when it is finished: only then are its fields known."""


class Partial:
    """Gives the raw events of one message after the other; it remembers only which blocks are open.

    A message is told from its first block on: of one that broke before, there is nothing to take back.
    """

    def __init__(self) -> None:
        self._began = MessageBegan(message_id="", model="", usage=Usage())
        self._told = ""
        """Id of the message whose start was told."""
        self._open: dict[int, BlockBegan] = {}
        self._fed: set[int] = set()
        """Open calls of whose input something was told."""

    def begin_message(self, event: MessageBegan) -> None:
        self._began = event

    def begin_block(self, event: BlockBegan) -> list[Raw]:
        start = self._start_message(event.message_id)
        self._open[event.index] = event
        return [*start, _block_start(event.index, _empty(event))] if event.kind in GROWING else start

    def add_text(self, event: TextDelta) -> Raw:
        return _piece(event.index, {"type": "text_delta", "text": event.text})

    def add_thinking(self, event: ThinkingDelta) -> Raw:
        return _piece(event.index, {"type": "thinking_delta", "thinking": event.text})

    def add_input(self, event: InputDelta) -> list[Raw]:
        began = self._open.get(event.index)
        if began is None or began.kind not in GROWING:
            return []
        if event.text:
            self._fed.add(event.index)
        return [_piece(event.index, {"type": "input_json_delta", "partial_json": event.text})]

    def finish_block(self, event: BlockFinished) -> list[Raw]:
        index = event.index
        began = self._open.pop(index, None)
        if began is None:
            return []
        stop = {"type": "content_block_stop", "index": index}
        if began.kind not in GROWING:
            return [_block_start(index, msgspec.Raw(event.block.raw)), stop]
        match event.block.view:
            case Thinking(signature=signature) if signature:
                return [_piece(index, {"type": "signature_delta", "signature": signature}), stop]
            case ToolUse(input=input_) if index not in self._fed and (whole := bytes(input_)) != b"{}":
                told = whole.decode("utf-8", "replace")
                return [_piece(index, {"type": "input_json_delta", "partial_json": told}), stop]
            case _:
                return [stop]

    def end_message(self, event: AnswerAdded) -> list[Raw]:
        """Also of an answer that was cut short, or that has no blocks."""
        answer = event.message.answer or Answer()
        if event.message.id not in {self._told, self._began.message_id}:
            return []
        start = self._start_message(event.message.id)
        stops = [
            {"type": "content_block_stop", "index": index}
            for index, began in self._open.items()
            if began.kind in GROWING
        ]
        self._open.clear()
        ending = {"stop_reason": answer.stop_reason, "stop_sequence": None}
        return [
            *start,
            *stops,
            {"type": "message_delta", "delta": ending, "usage": render_usage(answer.usage)},
            {"type": "message_stop"},
        ]

    def _start_message(self, message_id: str) -> list[Raw]:
        if message_id == self._told:
            return []
        self._told = message_id
        self._open.clear()
        self._fed.clear()
        message: Raw = {
            "id": self._began.api_id or message_id,
            "type": "message",
            "role": "assistant",
            "model": self._began.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": render_usage(self._began.usage),
        }
        return [{"type": "message_start", "message": message}]


def _piece(index: int, delta: Raw) -> Raw:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _block_start(index: int, block: Any) -> Raw:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _empty(began: BlockBegan) -> Raw:
    match began.kind:
        case "text":
            return {"type": "text", "text": ""}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case _:
            return {"type": "tool_use", "id": began.tool_use_id, "name": began.name, "input": {}}
