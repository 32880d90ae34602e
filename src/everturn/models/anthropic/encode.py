"""From a request to the bytes of its body: what was encoded before is joined, what can vary stands in front."""

from functools import lru_cache
from typing import Any, Literal

import msgspec

from everturn.core.messages import text_block
from everturn.core.transcript import encode_wire
from everturn.core.wires import encode_wires
from everturn.models.anthropic.cache_marks import mark, plan_marks
from everturn.models.anthropic.thinking import plan_effort, plan_thinking
from everturn.models.catalog import LONG_WINDOW
from everturn.ports.model import Clearing, ModelCard, Request

_ENCODER = msgspec.json.Encoder()


def encode_request(request: Request, card: ModelCard) -> bytes:
    fields = {"model": sent_name(request.model), "max_tokens": request.max_tokens, "stream": True}
    return _encode_body(fields | plan_fields(request, card), request)


def encode_count(request: Request, card: ModelCard) -> bytes:
    """The same content, for counting: what concerns only the answer is left out."""
    fields: dict[str, Any] = {"model": sent_name(request.model)}
    if (thinking := plan_thinking(request.thinking, card, request.max_tokens)) is not None:
        fields["thinking"] = thinking
    return _encode_body(fields, request)


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
    if request.clearing is not None and card.clears_results:
        fields["context_management"] = {"edits": [plan_clearing(request.clearing)]}
    return fields


def plan_clearing(clearing: Clearing) -> dict[str, Any]:
    return {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": clearing.above},
        "keep": {"type": "tool_uses", "value": clearing.keep},
        "clear_at_least": {"type": "input_tokens", "value": clearing.at_least},
        "exclude_tools": list(clearing.excluded),
    }


def plan_output(request: Request, card: ModelCard, thinking: dict[str, Any] | None) -> dict[str, Any]:
    output: dict[str, Any] = {}
    if (effort := plan_effort(request.effort, card, thinking)) is not None:
        output["effort"] = effort
    if request.output_schema is not None:
        from everturn.models.anthropic.schemas import fit_schema

        if (schema := fit_schema(request.output_schema)) is not None:
            output["format"] = {"type": "json_schema", "schema": schema}
    if request.task_budget is not None and card.task_budget:
        output["task_budget"] = {"type": "tokens", "total": request.task_budget.total}
        if request.task_budget.remaining is not None:
            output["task_budget"]["remaining"] = request.task_budget.remaining
    return output


def sent_name(model: str) -> str:
    return model.removesuffix(LONG_WINDOW)


def _encode_body(fields: dict[str, Any], request: Request) -> bytes:
    """Joined once: at the end of a long session it is most of what a turn costs."""
    ttl = request.cache_ttl if request.cache else None
    own = len(request.system) - request.environment
    offered, texts = _encode_prefix(request.tools, request.system[:own], ttl)
    texts = _add_environment(texts, request.system[own:], ttl if not offered else None)
    prefix = offered + (b',"system":[%b]' % texts if texts else b"")
    first, *rest = _encode_messages(request) or [b","]
    return b"".join((_encode_fields(fields), prefix, b',"messages":[', first[1:], *rest, b"]}"))


def _encode_fields(fields: dict[str, Any]) -> bytes:
    """An open object; the content closes it."""
    return _ENCODER.encode(fields)[:-1]


@lru_cache(maxsize=64)
def _encode_prefix(
    tools: tuple[bytes, ...], system: tuple[str, ...], ttl: Literal["5m", "1h"] | None
) -> tuple[bytes, bytes]:
    """Tools, then the system prompt: the order in which the API caches them, before the messages. Many sessions have the same."""
    texts, listed = _encode_texts(system), list(tools)
    if ttl is not None and (last := texts or listed):
        last[-1] = mark(last[-1], ttl)
    return b',"tools":[%b]' % b",".join(listed) if listed else b"", b",".join(texts)


def _add_environment(texts: bytes, environment: tuple[str, ...], ttl: Literal["5m", "1h"] | None) -> bytes:
    """The end of the system prompt, behind the mark: every session has another one. Where nothing is before it, it is marked."""
    added = _encode_texts(environment)
    if added and not texts and ttl is not None:
        added[-1] = mark(added[-1], ttl)
    return b",".join((texts, *added)) if texts else b",".join(added)


def _encode_texts(texts: tuple[str, ...]) -> list[bytes]:
    return [text_block(text).raw for text in texts if text.strip()]


def _encode_messages(request: Request) -> list[bytes]:
    wires, marked = request.messages, dict[int, list[bytes]]()
    planned = plan_marks(wires, request.kept, request.anchor, writes=request.cache_write) if request.cache else ()
    for index, position in planned:
        raws = marked.setdefault(index, [block.raw for block in wires[index].blocks])
        raws[position] = mark(raws[position], request.cache_ttl)
    return encode_wires(wires, {index: encode_wire(wires[index].role, raws) for index, raws in marked.items()})
