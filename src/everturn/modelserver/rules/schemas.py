"""Rules about schemas that the API holds an answer or the input of a call to."""

from collections.abc import Iterator
from typing import Any

from everturn.modelserver.ask import Ask
from everturn.modelserver.rules.rule import REPORTS, BodyRules

SCHEMAS = BodyRules()

_OLD_BETA = "structured-outputs-2025-11-13"
_BOUNDS = {
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength"),
    "array": ("maxItems", "uniqueItems", "minContains", "maxContains"),
    "object": ("minProperties", "maxProperties", "patternProperties", "propertyNames"),
}
"""What a schema of each type cannot say; an array says `minItems` up to 1."""


def _formats(ask: Ask) -> Iterator[tuple[str, Any]]:
    yield "output_config.format", ask.output_config.get("format")
    yield "output_format", ask.body.get("output_format")


def _schemas(ask: Ask) -> Iterator[tuple[str, Any]]:
    yield from ((f"{path}.schema", value["schema"]) for path, value in _formats(ask) if value is not None)
    for at, tool in enumerate(ask.tools):
        if tool.get("strict") is True and isinstance(tool.get("input_schema"), dict):
            yield f"tools.{at}.custom", tool["input_schema"]


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and every schema inside it; values that only look like one (`enum`, `default`) are not followed."""
    if not isinstance(schema, dict):
        return
    yield schema
    for name in ("properties", "$defs", "definitions"):
        inner = schema.get(name)
        for part in inner.values() if isinstance(inner, dict) else ():
            yield from _parts(part)
    for name in ("anyOf", "allOf", "oneOf"):
        inner = schema.get(name)
        for part in inner if isinstance(inner, list) else ():
            yield from _parts(part)
    for name in ("items", "not"):
        yield from _parts(schema.get(name))


@SCHEMAS.rule("output-format-beta", "conventions §6.7", "output_format, the old name, needs its beta header.")
def _beta(ask: Ask) -> str | None:
    if "output_format" in ask.body and _OLD_BETA not in ask.betas:
        return "output_format: This field is deprecated. Use 'output_config.format' instead."
    return None


@SCHEMAS.rule("output-format-shape", "conventions §6.7", "A format is a json_schema with its schema.")
def _shape(ask: Ask) -> str | None:
    for path, value in _formats(ask):
        if value is None:
            continue
        if not isinstance(value, dict) or value.get("type") != "json_schema":
            return f"{path}.type: Input should be 'json_schema'"
        if not isinstance(value.get("schema"), dict):
            return f"{path}.schema: Field required"
    return None


@SCHEMAS.rule("schema-closed", "conventions §6.7", "Every object in the schema of a format or a strict tool is closed.")
def _closed(ask: Ask) -> str | None:
    for path, schema in _schemas(ask):
        for part in _parts(schema):
            if part.get("type") != "object" or part.get("additionalProperties") is False:
                continue
            if "additionalProperties" not in part:
                return f"{path}: For 'object' type, 'additionalProperties' must be explicitly set to false"
            said = "true" if part["additionalProperties"] is True else "object"
            return (
                f"{path}: For 'object' type, 'additionalProperties: {said}' is not supported. "
                "Please set 'additionalProperties' to false"
            )
    return None


@SCHEMAS.rule("schema-bounds", REPORTS, "Such a schema sets no bounds on numbers, lengths and counts.")
def _bounds(ask: Ask) -> str | None:
    for path, schema in _schemas(ask):
        for part in _parts(schema):
            kind = part.get("type")
            bounds = [name for name in _BOUNDS.get(kind, ()) if name in part] if isinstance(kind, str) else []
            if bounds:
                are = "property" if len(bounds) == 1 else "properties"
                verb = "is" if len(bounds) == 1 else "are"
                return f"{path}: For '{kind}' type, {are} {', '.join(bounds)} {verb} not supported"
            if kind == "array" and part.get("minItems", 0) not in {0, 1}:
                return f"{path}: For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    return None
