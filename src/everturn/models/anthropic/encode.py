"""From a request to the bytes of its body: what was encoded before is joined, what can vary stands in front."""

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from everturn.core.messages import text_block
from everturn.models.anthropic.cache_marks import mark, plan_marks
from everturn.models.anthropic.thinking import plan_effort, plan_thinking
from everturn.models.catalog import LONG_WINDOW
from everturn.ports.model import ModelCard, Request


def encode_request(request: Request, card: ModelCard) -> bytes:
    fields = {"model": sent_name(request.model), "max_tokens": request.max_tokens, "stream": True}
    return b"".join((_encode_fields(fields | plan_fields(request, card)), *_encode_content(request)))


def encode_count(request: Request, card: ModelCard) -> bytes:
    """The same content, for counting: what concerns only the answer is left out."""
    fields: dict[str, Any] = {"model": sent_name(request.model)}
    if (thinking := plan_thinking(request.thinking, card, request.max_tokens)) is not None:
        fields["thinking"] = thinking
    return b"".join((_encode_fields(fields), *_encode_content(request)))


def plan_fields(request: Request, card: ModelCard) -> dict[str, Any]:
    """Everything but the content; what this model does not take is left out or replaced by the nearest."""
    fields: dict[str, Any] = {}
    if (thinking := plan_thinking(request.thinking, card, request.max_tokens)) is not None:
        fields["thinking"] = thinking
    if output := plan_output(request, card, thinking):
        fields["output_config"] = output
    if request.fast and card.fast_prices is not None:
        fields["speed"] = "fast"
    if request.stop_sequences:
        fields["stop_sequences"] = request.stop_sequences
    return fields


def plan_output(request: Request, card: ModelCard, thinking: dict[str, Any] | None) -> dict[str, Any]:
    output: dict[str, Any] = {}
    if (effort := plan_effort(request.effort, card, thinking)) is not None:
        output["effort"] = effort
    if request.output_schema is not None:
        output["format"] = {"type": "json_schema", "schema": request.output_schema}
    if request.task_budget is not None and card.task_budget:
        output["task_budget"] = {"type": "tokens", "total": request.task_budget.total}
        if request.task_budget.remaining is not None:
            output["task_budget"]["remaining"] = request.task_budget.remaining
    return output


def sent_name(model: str) -> str:
    return model.removesuffix(LONG_WINDOW)


def _encode_fields(fields: dict[str, Any]) -> bytes:
    """An open object; the content closes it."""
    return json.dumps(fields, separators=(",", ":"))[:-1].encode()


def _encode_content(request: Request) -> Iterator[bytes]:
    """Tools, system, messages: the order in which the API caches them."""
    system = [_encode_text(text) for text in request.system if text.strip()]
    tools = list(request.tools)
    if request.cache and (system or tools):
        last = system or tools
        last[-1] = mark(last[-1], request.cache_ttl)
    if tools:
        yield b',"tools":[' + b",".join(tools) + b"]"
    if system:
        yield b',"system":[' + b",".join(system) + b"]"
    yield b',"messages":['
    yield from _encode_messages(request)
    yield b"]}"


def _encode_messages(request: Request) -> Iterator[bytes]:
    contents = [wire.content for wire in request.messages]
    if request.cache:
        for index, places in groupby(sorted(plan_marks(request.messages)), itemgetter(0)):
            raws = [block.raw for block in request.messages[index].blocks]
            for _, position in places:
                raws[position] = mark(raws[position], request.cache_ttl)
            contents[index] = b",".join(raws)
    opening = _FIRST
    for wire, content in zip(request.messages, contents, strict=True):
        yield opening[wire.role]
        yield content
        opening = _NEXT
    if contents:
        yield b"]}"


@lru_cache(maxsize=64)
def _encode_text(text: str) -> bytes:
    return text_block(text).raw


_FIRST = {role: b'{"role":"%b","content":[' % role.encode() for role in ("user", "assistant")}
_NEXT = {role: b"]}," + opening for role, opening in _FIRST.items()}
