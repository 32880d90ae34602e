"""Parses the input of a call: strictly, except for mistakes that models often make."""

import re
from typing import Any

import msgspec

from everturn.core.errors import InputFault
from everturn.core.inputs import settle_input
from everturn.tools.definition.pydantic_models import decode_model
from everturn.tools.definition.signatures import Signature

_PLACES = r"(.*_)?(path|file|folder|command|pattern|glob|cwd)"
"""Fields that end up as names of files or arguments of programs, which no NUL may enter."""
_SHOWN = 80


def parse_input(
    name: str, signature: Signature, schema: dict[str, Any], value: Any, *, told: dict[str, Any] | None = None
) -> Any:
    """Strict but kind: what `core.inputs` puts right is taken. Raises `InputFault`.

    `schema` says which fields may be sent here; `told`, which of them the model knows of, where these are fewer.
    """
    if not isinstance(value, dict):
        raise InputFault(f"The input of {name} must be an object, not {_show(value)}.")
    known = schema["properties"]
    if unknown := [key for key in value if key not in known]:
        fields = ", ".join(told["properties"] if told else known) or "none"
        raise InputFault(f"{name} has no field {', '.join(f'`{key}`' for key in unknown)}. Its fields are: {fields}.")
    for key, text in value.items():
        if isinstance(text, str) and "\0" in text and re.fullmatch(_PLACES, key):
            raise InputFault(f"`{key}`: expected text without NUL characters, got {_show(text)}.")
    return _convert(signature, value)


def _convert(signature: Signature, value: dict[str, Any]) -> Any:
    try:
        return _decode(signature, value)
    except msgspec.ValidationError as error:
        settled = settle_input(signature.schema, value)
        if settled is value:
            raise _explain(error, signature.schema, value) from None
    try:
        return _decode(signature, settled)
    except msgspec.ValidationError as error:
        raise _explain(error, signature.schema, value) from None


def _decode(signature: Signature, value: dict[str, Any]) -> Any:
    return msgspec.convert(value, signature.input, dec_hook=decode_model)


def _field_of(error: msgspec.ValidationError) -> str:
    """The top-level field that is wrong."""
    found = re.search(r" - at `\$\.(.+)`$", str(error))
    return re.split(r"\.|\[", found[1], maxsplit=1)[0] if found else ""


def _explain(error: msgspec.ValidationError, schema: dict[str, Any], value: dict[str, Any]) -> InputFault:
    """Tells what came as it was sent."""
    field = _field_of(error)
    problem, _, place = str(error).partition(" - at `$")
    if not field:
        missing = re.search(r"missing required field `(.+)`", problem)
        said = f"`{missing[1]}` is missing: expected {_expected(schema, missing[1])}." if missing else f"{problem}."
        return InputFault(said)
    expected = problem[0].lower() + problem[1:]
    if problem.startswith("Invalid enum value"):
        expected = f"expected {_expected(schema, field)}"
    came = _reach(value, place)
    said = f"{expected} ({_show(came)})" if ", got " in expected else f"{expected}, got {_show(came)}"
    return InputFault(f"`{place.strip('.`')}`: {said}.{_find_json_fault(came, expected)}")


def _reach(value: Any, place: str) -> Any:
    """The part of the input that an error is about: `.todos[3].content`."""
    for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", place):
        try:
            value = value[key] if key else value[int(index)]
        except (KeyError, IndexError, TypeError):
            return value
    return value


def _find_json_fault(came: Any, expected: str) -> str:
    """A list or an object that was sent as text, and is no JSON."""
    if not isinstance(came, str) or not expected.startswith(("expected `array`", "expected `object`")):
        return ""
    try:
        msgspec.json.decode(came)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        return f" The text is no valid JSON either: {error}. Send the value itself, not a text of it."
    return ""


def _expected(schema: dict[str, Any], field: str) -> str:
    rule = schema["properties"].get(field, {})
    if "enum" in rule:
        return "one of " + ", ".join(f'"{choice}"' for choice in rule["enum"])
    kind = rule.get("type", "a value")
    return f"{kind} ({rule['description']})" if "description" in rule else str(kind)


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
