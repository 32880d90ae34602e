"""Reading what a model sends as the input of a call: strict, but kind to the slips that models make."""

import re
from typing import Any

import msgspec

from everturn.core.errors import InputFault
from everturn.tools.pydantic_models import decode_model
from everturn.tools.signatures import Signature

_NUMBER = r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?"
_PLACES = r"(.*_)?(path|file|folder|command|pattern|glob|cwd)"
"""Fields that end up as names of files or arguments of programs, which no NUL may enter."""
_SHOWN = 80


def parse_input(name: str, signature: Signature, schema: dict[str, Any], value: Any) -> Any:
    """Strict but kind: a number or a truth value sent as text is taken. Raises `InputFault`.

    `schema` says which fields may be sent here.
    """
    if not isinstance(value, dict):
        raise InputFault(f"The input of {name} must be an object, not {_show(value)}.")
    known = schema["properties"]
    if unknown := [key for key in value if key not in known]:
        fields = ", ".join(known) or "none"
        raise InputFault(f"{name} has no field {', '.join(f'`{key}`' for key in unknown)}. Its fields are: {fields}.")
    for key, text in value.items():
        if isinstance(text, str) and "\0" in text and re.fullmatch(_PLACES, key):
            raise InputFault(f"`{key}`: expected text without NUL characters, got {_show(text)}.")
    return _convert(signature, value)


def _convert(signature: Signature, value: dict[str, Any]) -> Any:
    given = dict(value)
    problems: dict[str, str] = {}
    while True:
        try:
            return msgspec.convert(given, signature.input, dec_hook=decode_model)
        except msgspec.ValidationError as error:
            field = _field_of(error)
            if field in given and given[field] is None and field not in signature.schema["required"]:
                # Some models send null for what they leave out.
                del given[field]
                continue
            # What was wrong as it was sent says more than what is wrong after mending.
            problem = problems.setdefault(field, _explain(error, field, signature.schema, value))
            mended = _mend(given.get(field))
            if mended is None:
                raise InputFault(problem) from None
            given[field] = mended


def _mend(value: Any) -> int | float | bool | None:
    """What the value would be, had it not been sent as text or as a whole float; None when it is neither."""
    if isinstance(value, str):
        if value in {"true", "false"}:
            return value == "true"
        if found := re.fullmatch(_NUMBER, value):
            return float(value) if found[2] or found[3] else int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def _field_of(error: msgspec.ValidationError) -> str:
    """The top-level field that is wrong."""
    found = re.search(r" - at `\$\.(.+)`$", str(error))
    return re.split(r"\.|\[", found[1], maxsplit=1)[0] if found else ""


def _explain(error: msgspec.ValidationError, field: str, schema: dict[str, Any], value: dict[str, Any]) -> str:
    problem, _, place = str(error).partition(" - at `$")
    if not field:
        missing = re.search(r"missing required field `(.+)`", problem)
        return f"`{missing[1]}` is missing: expected {_expected(schema, missing[1])}." if missing else f"{problem}."
    expected = problem[0].lower() + problem[1:]
    if problem.startswith("Invalid enum value"):
        expected = f"expected {_expected(schema, field)}"
    came = _show(value.get(field))
    return (
        f"`{place.strip('.`')}`: {expected} ({came})."
        if ", got " in expected
        else f"`{place.strip('.`')}`: {expected}, got {came}."
    )


def _expected(schema: dict[str, Any], field: str) -> str:
    rule = schema["properties"].get(field, {})
    if "enum" in rule:
        return "one of " + ", ".join(f'"{choice}"' for choice in rule["enum"])
    kind = rule.get("type", "a value")
    return f"{kind} ({rule['description']})" if "description" in rule else str(kind)


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
