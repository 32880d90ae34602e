"""Removes from a JSON Schema what the API does not accept. The answer is still checked against the whole schema when the model stops."""

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

_MAPS = ("properties", "$defs", "definitions")
_LISTS = ("anyOf", "allOf")
_KEPT = frozenset({"type", "required", "enum", "const", "title", "description", "default", "$ref"})
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
)
_NOTES = frozenset({"$schema", "$id", "$comment", "$anchor", "additionalProperties"})
"""Not sent, and nothing that the model must know."""
_LOCAL = ("#/$defs/", "#/definitions/")


def fit_schema(schema: Schema) -> Schema | None:
    """The schema in the API's own terms: objects are closed, and bounds stand in descriptions, for the model to read.

    None where nothing that is sent would mean the same: objects with keys of any name, references in a circle.
    """
    if any(map(_is_open, _parts(schema))) or _refers_wrongly(schema):
        return None
    return _fit(schema)


def _fit(schema: Schema) -> Schema:
    fitted: Schema = {name: value for name, value in schema.items() if _is_kept(name, value)}
    for name in _MAPS:
        if name in schema:
            fitted[name] = {key: _fit_any(part) for key, part in schema[name].items()}
    for name in _LISTS:
        if name in schema:
            fitted[name] = [_fit_any(part) for part in schema[name]]
    if "oneOf" in schema:
        fitted.setdefault("anyOf", [_fit_any(part) for part in schema["oneOf"]])
    if "items" in schema:
        fitted["items"] = _fit_any(schema["items"])
    if _is_object(schema):
        fitted["additionalProperties"] = False
    if notes := [f"{name}: {value}" for name, value in schema.items() if name not in fitted and _is_note(name)]:
        fitted["description"] = " ".join((*([schema["description"]] if "description" in schema else []), *notes))
    return fitted


def _fit_any(schema: Any) -> Any:
    """Where a schema stands, `true` and `false` may stand as well."""
    return _fit(schema) if isinstance(schema, dict) else schema


def _is_kept(name: str, value: Any) -> bool:
    return name in _KEPT or (name == "format" and value in _FORMATS) or (name == "minItems" and value in {0, 1})


def _is_note(name: str) -> bool:
    return name not in _NOTES and name != "oneOf"


def _is_object(schema: Schema) -> bool:
    kind = schema.get("type")
    return (
        kind == "object" or (isinstance(kind, list) and "object" in kind) or (kind is None and "properties" in schema)
    )


def _is_open(schema: Schema) -> bool:
    """Whether its keys may have names that stand nowhere in the schema."""
    if not _is_object(schema):
        return False
    named = schema.get("properties")
    other = schema.get("additionalProperties", not named)
    return other is not False or "patternProperties" in schema


def _parts(schema: Any) -> Iterator[Schema]:
    """The schema and all schemas inside it."""
    if not isinstance(schema, dict):
        return
    yield schema
    inner = [part for name in _MAPS for part in schema.get(name, {}).values()]
    inner += [part for name in (*_LISTS, "oneOf") for part in schema.get(name, ())]
    for part in (*inner, schema.get("items")):
        yield from _parts(part)


def _refers_wrongly(schema: Schema) -> bool:
    """Whether a reference leads out of the schema's own definitions, or back to where it stands."""
    defined = {
        f"{prefix}{name}": part
        for prefix, group in zip(_LOCAL, ("$defs", "definitions"), strict=True)
        for name, part in schema.get(group, {}).items()
    }
    bare = {name: value for name, value in schema.items() if name not in {"$defs", "definitions"}}
    reached = {place: _references(part) for place, part in defined.items()} | {"": _references(bare)}
    return any(target not in defined for targets in reached.values() for target in targets) or any(
        _is_circle(place, reached) for place in reached
    )


def _references(schema: Any) -> set[str]:
    return {str(part["$ref"]) for part in _parts(schema) if "$ref" in part}


def _is_circle(start: str, reached: dict[str, set[str]]) -> bool:
    seen: set[str] = set()
    ahead = list(reached[start])
    while ahead:
        place = ahead.pop()
        if place == start:
            return True
        if place not in seen:
            seen.add(place)
            ahead += reached[place]
    return False
