"""What a model habitually sends instead of what a schema says, put right where its meaning is certain. Pure.

A number or a truth value as text, a list or an object as JSON in a text, null or an empty text for "left out". Whatever is
not certain stays as it was sent, for the tool to refuse by name.
"""

import re
from typing import Any

import msgspec

from everturn.core.patterns import compile_late

_NUMBER = compile_late(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_TRUTHS = {"true": True, "True": True, "false": False, "False": False}
_CHOICES = ("anyOf", "oneOf")
_PLAIN = {"string": str, "integer": int, "boolean": bool}
"""Types without anything inside."""
_MAX_STEPS = 20
"""References that are followed: a schema may refer to itself."""

Schema = dict[str, Any]


def settle_input(schema: Schema, given: dict[str, Any]) -> dict[str, Any]:
    """The same object where nothing had to be put right; `given` is not changed."""
    return _settle_object(given, schema, schema.get("$defs", {}))


def _settle_object(given: dict[str, Any], schema: Schema, defined: Schema) -> dict[str, Any]:
    known: dict[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    settled = {}
    changed = False
    for key, value in given.items():
        if key not in known:
            settled[key] = value
            continue
        part = known[key]
        kind = part.get("type") if isinstance(part, dict) else None
        if value and isinstance(kind, str) and type(value) is _PLAIN.get(kind):
            # Almost always.
            settled[key] = value
            continue
        part = _resolve(part, defined)
        if key not in required and _is_left_out(value, part, defined):
            changed = True
            continue
        settled[key] = _settle(value, part, defined)
        changed = changed or settled[key] is not value
    return settled if changed else given


def _settle(value: Any, part: Any, defined: Schema) -> Any:
    forms = _list_forms(part, defined)
    fitting = [form for form in forms if _fits(value, form)]
    if not forms or fitting:
        return _settle_inside(value, fitting[0], defined) if len(fitting) == 1 else value
    for form in forms:
        meant = _mend(value, form)
        if meant is not value and _fits(meant, form):
            return _settle_inside(meant, form, defined)
    return value


def _settle_inside(value: Any, form: Schema, defined: Schema) -> Any:
    if isinstance(value, dict):
        return _settle_object(value, form, defined)
    if isinstance(value, list) and "items" in form:
        items = _resolve(form["items"], defined)
        settled = [_settle(item, items, defined) for item in value]
        return settled if any(new is not old for new, old in zip(settled, value, strict=True)) else value
    return value


def _is_left_out(value: Any, part: Any, defined: Schema) -> bool:
    """Null where there can be none, and an empty text where that would be refused."""
    if value is not None and value != "":
        return False
    forms = _list_forms(part, defined)
    return bool(forms) and not any(_fits(value, form) and not _refuses_empty(value, form) for form in forms)


def _refuses_empty(value: Any, form: Schema) -> bool:
    if value is None:
        return False
    return (
        form.get("minLength", 0) > 0
        or ("enum" in form and "" not in form["enum"])
        or ("pattern" in form and re.search(form["pattern"], "") is None)
    )


def _mend(value: Any, form: Schema) -> Any:
    """What the value would be, had it not been sent as text or as a whole float; the same object where it is neither."""
    kind = form["type"]
    if isinstance(value, str):
        if kind == "boolean":
            return _TRUTHS.get(value, value)
        if kind in {"integer", "number"} and (found := _NUMBER.fullmatch(value.strip())):
            number = float(value) if found[1] or found[2] else int(value)
            return int(number) if kind == "integer" and float(number).is_integer() else number
        if kind in {"array", "object"} and value.lstrip()[:1] in {"[", "{"}:
            return _decode(value)
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        return int(value)
    return value


def _decode(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text


def _list_forms(part: Any, defined: Schema) -> list[Schema]:
    """The forms that a value may have, each with one type. Empty: any value, or nothing that can be told."""
    if not isinstance(part, dict):
        return []
    choices = next((part[key] for key in _CHOICES if key in part), None)
    if choices is not None:
        found = [_list_forms(_resolve(choice, defined), defined) for choice in choices]
        return [form for forms in found for form in forms] if all(found) else []
    kinds = part.get("type", _kind_of_choices(part.get("enum", ())))
    return [{**part, "type": kind} for kind in ([kinds] if isinstance(kinds, str) else kinds)]


def _kind_of_choices(choices: Any) -> list[str]:
    return ["string"] if choices and all(isinstance(choice, str) for choice in choices) else []


def _fits(value: Any, form: Schema) -> bool:
    match form["type"]:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "null":
            return value is None
    return True


def _resolve(part: Any, defined: Schema) -> Any:
    for _ in range(_MAX_STEPS):
        if not isinstance(part, dict) or "$ref" not in part:
            break
        part = defined.get(str(part["$ref"]).removeprefix("#/$defs/"), {})
    return part
