"""Partial messages: our events as the API's own stream events, for clients that show an answer while it grows."""

from typing import Any

import msgspec

from everturn.core.budget import Usage
from everturn.core.events import AnswerAdded, BlockBegan, BlockFinished, TextDelta, ThinkingDelta
from everturn.core.messages import Answer, Block, Thinking, ToolUse
from everturn.frontends.headless.json_result import render_usage

_EMPTY: dict[str, dict[str, Any]] = {
    "text": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
}
"""Blocks that grow by deltas. Any other is told whole when it is finished: only then are its id and fields known."""


class Partial:
    """Gives the raw events of one message after the other; it remembers only which blocks are open."""

    def __init__(self) -> None:
        self.model = ""
        """The one that was asked."""
        self._message_id = ""
        self._open: list[BlockBegan] = []

    def begin_block(self, event: BlockBegan) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        if event.message_id != self._message_id:
            self._message_id = event.message_id
            self._open.clear()
            events.append({"type": "message_start", "message": self._empty_message()})
        self._open.append(event)
        if event.kind in _EMPTY:
            events.append({"type": "content_block_start", "index": event.index, "content_block": _EMPTY[event.kind]})
        return events

    def add_text(self, event: TextDelta) -> dict[str, Any]:
        return _delta(event.index, {"type": "text_delta", "text": event.text})

    def add_thinking(self, event: ThinkingDelta) -> dict[str, Any]:
        return _delta(event.index, {"type": "thinking_delta", "thinking": event.text})

    def finish_block(self, event: BlockFinished) -> list[dict[str, Any]]:
        kind = _kind_of(event.block)
        began = next((open_ for open_ in self._open if open_.kind == kind), None)
        if began is None:
            return []
        self._open.remove(began)
        index, stop = began.index, {"type": "content_block_stop", "index": began.index}
        match event.block.view:
            case Thinking(signature=signature) if signature:
                return [_delta(index, {"type": "signature_delta", "signature": signature}), stop]
            case ToolUse(id=id_, name=name, input=input_):
                block = {"type": "tool_use", "id": id_, "name": name, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": bytes(input_).decode("utf-8", "replace")}
                return [
                    {"type": "content_block_start", "index": index, "content_block": block},
                    _delta(index, delta),
                    stop,
                ]
            case _ if kind not in _EMPTY:
                raw = msgspec.Raw(event.block.raw)
                return [{"type": "content_block_start", "index": index, "content_block": raw}, stop]
            case _:
                return [stop]

    def end_message(self, event: AnswerAdded) -> list[dict[str, Any]]:
        if event.message.id != self._message_id:
            return []
        stops = [{"type": "content_block_stop", "index": began.index} for began in self._open if began.kind in _EMPTY]
        self._open.clear()
        self._message_id = ""
        answer = event.message.answer or Answer()
        ending = {"stop_reason": answer.stop_reason, "stop_sequence": None}
        return [
            *stops,
            {"type": "message_delta", "delta": ending, "usage": render_usage(answer.usage)},
            {"type": "message_stop"},
        ]

    def _empty_message(self) -> dict[str, Any]:
        return {
            "id": self._message_id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": render_usage(Usage()),
        }


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _kind_of(block: Block) -> str:
    config = block.view.__struct_config__
    return str(config.tag) if config.tag else getattr(block.view, "type", "")
