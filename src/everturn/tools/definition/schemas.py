"""Checks JSON Schemas of inputs when a tool is defined, so that its author gets the error and not a user."""

from typing import Any

from everturn.core.patterns import compile_late

_TYPES = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})
_PROPERTY = compile_late(r"[a-zA-Z0-9_.-]{1,64}")
_UNIONS = ("anyOf", "oneOf", "allOf")
_MAPS = ("properties", "patternProperties", "$defs")
_KEPT_WHOLE = frozenset({"default", "enum", "const", "examples"})
_SINGLES = ("items", "additionalProperties", "not")


def judge_schema(schema: dict[str, Any]) -> str | None:
    """What is wrong with it and where; None when the API takes it."""
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        return "the input must be one object with named fields"
    if union := next((union for union in _UNIONS if union in schema), None):
        return f"the input must be one object, and no `{union}` of several"
    for name in schema["properties"]:
        if not _PROPERTY.fullmatch(name):
            return f"field {name!r}: a name has 1 to 64 letters, digits, `_`, `.` or `-`"
    if missing := [name for name in schema.get("required", []) if name not in schema["properties"]]:
        return f"field {missing[0]!r} is required, but not described"
    return _judge_part(schema, "", schema.get("$defs", {}))


def hide_fields(schema: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    if not names:
        return schema
    shown = {name: value for name, value in schema["properties"].items() if name not in names}
    return {**schema, "properties": shown}


def strip_titles(part: Any) -> Any:
    """Titles only repeat the names, and the model pays for them."""
    if isinstance(part, list):
        return [strip_titles(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        key: value if key in _KEPT_WHOLE else strip_titles(value)
        for key, value in part.items()
        if not (key == "title" and isinstance(value, str))
    }


def _judge_part(part: Any, place: str, defined: dict[str, Any]) -> str | None:
    if isinstance(part, bool):
        return None
    if not isinstance(part, dict):
        return f"{place or 'root'}: a schema is an object, not {part!r}"
    kinds = part.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind not in _TYPES:
            return f"{place or 'root'}: JSON has no type {kind!r}"
    if "enum" in part and not (isinstance(part["enum"], list) and part["enum"]):
        return f"{place or 'root'}: `enum` must list at least one value"
    target = part.get("$ref", "")
    if target and target.removeprefix("#/$defs/") not in defined:
        return f"{place or 'root'}: {target} is not defined"
    wrongs = (_judge_part(value, f"{place}{step}", defined) for step, value in _inner_parts(part))
    return next((wrong for wrong in wrongs if wrong), None)


def _inner_parts(part: dict[str, Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [(f".{key}", part[key]) for key in _SINGLES if key in part]
    for key in _MAPS:
        found += [(f".{name}", value) for name, value in part.get(key, {}).items()]
    for key in (*_UNIONS, "prefixItems"):
        found += [(f".{key}[{at}]", value) for at, value in enumerate(part.get(key, []))]
    return found
