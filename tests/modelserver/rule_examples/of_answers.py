"""Examples for the rules about what a request asks of the answer: sampling, and the schema it fits."""

from typing import Any

from tests.modelserver.rule_examples.example import Json, Pair, ask, tool, with_tools

_OLD = "claude-sonnet-4-6"
_BETA = "structured-outputs-2025-11-13"
_MANUAL = {"type": "enabled", "budget_tokens": 1024}


def _object(**fields: Any) -> Json:
    return {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False, **fields}


def _format(schema: Json) -> Json:
    return {"format": {"type": "json_schema", "schema": schema}}


_OPEN = {"type": "object", "properties": {"a": {"type": "integer"}}}

PAIRS: dict[str, Pair] = {
    "sampling-model": (ask(model=_OLD, temperature=0.5), ask(temperature=0.5)),
    "sampling-one": (ask(model=_OLD, top_p=0.5), ask(model=_OLD, temperature=0.5, top_p=0.5)),
    "sampling-thinking": (
        ask(model=_OLD, temperature=1, thinking=_MANUAL),
        ask(model=_OLD, temperature=0.5, thinking=_MANUAL),
    ),
    "output-format-beta": (
        ask(output_format=_format(_object())["format"], betas=_BETA),
        ask(output_format=_format(_object())["format"]),
    ),
    "output-format-shape": (
        ask(output_config=_format(_object())),
        ask(output_config={"format": {"type": "json_object"}}),
    ),
    "schema-closed": (
        with_tools(tools=[tool(strict=True, input_schema=_object())]),
        ask(output_config=_format(_object(properties={"inner": _OPEN}))),
    ),
    "schema-bounds": (
        ask(output_config=_format(_object(properties={"minimum": {"type": "integer"}}))),
        ask(output_config=_format(_object(properties={"a": {"type": "integer", "minimum": 0}}))),
    ),
}
