"""Conversations that the server holds between two requests, so that a client sends only what is new."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

LIFETIME = 300.0
"""Seconds from the answer under whose id a conversation is held."""
HELD_FIELDS = ("system", "tools")
"""A continuation takes them from the thread and must not repeat them."""

Json = Mapping[str, Any]


class _Held(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation up to one answer."""

    fields: Json = {}
    messages: Sequence[Json] = ()
    expires: float
    continued: bool = False
    """Each answer is continued once; what was said before it is then held under the next one."""


class Threads:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: dict[str, _Held] = {}

    def find(self, body: Json) -> _Held | None:
        """What a request continues; None where it continues nothing, or nothing that is still held."""
        held = self._held.get(continued_id(body))
        return held if held is not None and held.expires > self._clock() else None

    def rebuild(self, body: Json) -> Json:
        """The whole request that a continuation stands for; any other is that already."""
        held, new = self.find(body), body.get("messages")
        if held is None or held.continued or not isinstance(new, list):
            return body
        return {**held.fields, **body, "messages": [*held.messages, *new]}

    def hold(self, sent: Json, whole: Json, identity: str, content: Sequence[Json]) -> None:
        """Keep a conversation under the id of the answer that it now ends with."""
        now = self._clock()
        self._held = {name: held for name, held in self._held.items() if held.expires > now}
        before = self.find(sent)
        known = before.messages if before is not None else ()
        new = [_unmarked(message) for message in whole.get("messages", ())[len(known) :]]
        if before is not None:
            self._held[continued_id(sent)] = _Held(expires=before.expires, continued=True)
        self._held[identity] = _Held(
            fields={name: whole[name] for name in HELD_FIELDS if name in whole},
            messages=(*known, *new, {"role": "assistant", "content": list(content)}),
            expires=now + LIFETIME,
        )


def is_threaded(body: Json) -> bool:
    return isinstance(body.get("thread"), dict)


def continued_id(body: Json) -> str:
    """The id of the answer that a request continues; empty where it continues none."""
    thread = body.get("thread")
    continues = isinstance(thread, dict) and thread.get("type") == "continue"
    return str(thread.get("previous_message_id", "")) if isinstance(thread, dict) and continues else ""


def _unmarked(message: Json) -> Json:
    """A cache mark is of the request that brought it: the four that a request may have are its own."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": [_without_mark(block) for block in content]}


def _without_mark(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    bare = {name: value for name, value in block.items() if name != "cache_control"}
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        bare["content"] = [_without_mark(inner) for inner in block["content"]]
    return bare
