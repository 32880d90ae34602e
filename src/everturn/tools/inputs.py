"""From a function's signature to a typed input, its JSON Schema, and the reading of what a model sends."""

import inspect
import re
import typing
from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from everturn.core.errors import InputFault, OptionError
from everturn.ports.tool import ToolContext

_NUMBER = r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?"
_PLACES = r"(.*_)?(path|file|folder|command|pattern|glob|cwd)"
"""Fields that end up as names of files or arguments of programs, which no NUL may enter."""
_SHOWN = 80


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """How a call's input reaches the function."""

    input: Any
    """A struct or dataclass type."""
    schema: dict[str, Any]
    whole: str | None = None
    """The parameter that takes the input whole; None: its fields are the parameters."""
    context: str | None = None
    """The parameter that takes the `ToolContext`."""

    def arguments(self, call: Any, context: ToolContext) -> dict[str, Any]:
        if self.whole is not None:
            given = {self.whole: call}
        else:
            given = {name: getattr(call, name) for name in call.__struct_fields__}
        if self.context is not None:
            given[self.context] = context
        return given


def parse_signature(name: str, function: Callable[..., Any]) -> Signature:
    """Raises `OptionError` that names the tool and the parameter."""
    parameters = _annotated_parameters(name, function)
    context = next((key for key, (hint, _) in parameters.items() if hint is ToolContext), None)
    fields = {key: value for key, value in parameters.items() if key != context}
    whole = next(iter(fields)) if len(fields) == 1 and _is_record(next(iter(fields.values()))[0]) else None
    record = _define_record(name, fields) if whole is None else fields[whole][0]
    types = _hints(name, record)
    try:
        schema = _plan_schema(name, record)
    except TypeError:
        # It does not say where; looking at each field by itself takes too long for tools that are well.
        for key, hint in types.items():
            _check_type(name, key, hint)
        raise
    return Signature(input=record, schema=schema, whole=whole, context=context)


def parse_input(name: str, signature: Signature, value: Any) -> Any:
    """Strict but kind: a number or a truth value sent as text is taken. Raises `InputFault`."""
    if not isinstance(value, dict):
        raise InputFault(f"The input of {name} must be an object, not {_show(value)}.")
    known = signature.schema["properties"]
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
            return msgspec.convert(given, signature.input)
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


def _annotated_parameters(name: str, function: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    hints = _hints(name, function)
    parameters: dict[str, tuple[Any, Any]] = {}
    for key, parameter in inspect.signature(function).parameters.items():
        where = f"tool {name}, parameter {key}"
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise OptionError(where, "a tool cannot take * or ** parameters: the model must see each field")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise OptionError(where, "a tool's parameters are given by name; remove the `/`")
        if key not in hints:
            raise OptionError(where, "has no type annotation")
        parameters[key] = (_describe(hints[key]), parameter.default)
    return parameters


def _hints(name: str, thing: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(thing, include_extras=True)
    except NameError as error:
        raise OptionError(
            f"tool {name}", f"an annotation cannot be resolved ({error}); define its type at module level"
        ) from None


def _describe(hint: Any) -> Any:
    """`Annotated[int, "how many"]` reads as a description."""
    texts = [extra for extra in getattr(hint, "__metadata__", ()) if isinstance(extra, str)]
    return Annotated[hint, msgspec.Meta(description=texts[0])] if texts else hint


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and (issubclass(hint, msgspec.Struct) or hasattr(hint, "__dataclass_fields__"))


def _check_type(name: str, key: str, hint: Any) -> None:
    try:
        msgspec.json.schema_components([hint])
    except TypeError as error:
        kind = getattr(hint, "__name__", str(hint))
        reason = str(error).splitlines()[0].rstrip(":")
        problem = f"type `{kind}` is not supported; use what JSON can carry ({reason})"
        raise OptionError(f"tool {name}, parameter {key}", problem) from None


def _define_record(name: str, fields: dict[str, tuple[Any, Any]]) -> type[msgspec.Struct]:
    from copy import deepcopy
    from functools import partial

    rows: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for key, (hint, default) in fields.items():
        if default is inspect.Parameter.empty:
            rows.append((key, hint))
        elif isinstance(default, list | dict | set):
            rows.append((key, hint, msgspec.field(default_factory=partial(deepcopy, default))))
        else:
            rows.append((key, hint, default))
    return msgspec.defstruct(f"{name}_input", rows, frozen=True, kw_only=True, forbid_unknown_fields=True)


def _plan_schema(name: str, record: Any) -> dict[str, Any]:
    """A plain object at the root, as the API wants it; nested records stay in `$defs`."""
    (root,), components = msgspec.json.schema_components([record], ref_template="#/$defs/{name}")
    own = root["$ref"].rpartition("/")[2] if "$ref" in root else ""
    found = components[own] if own else root
    if found.get("type") != "object" or "properties" not in found:
        raise OptionError(f"tool {name}", "the input must be one object with named fields")
    schema: dict[str, Any] = {
        "type": "object",
        "properties": found["properties"],
        "required": found.get("required", []),
        "additionalProperties": False,
    }
    kept = {key: value for key, value in components.items() if key != own or _mentions(components, own)}
    return {**schema, "$defs": kept} if kept else schema


def _mentions(components: dict[str, Any], own: str) -> bool:
    """The root type contains itself."""
    return f'"#/$defs/{own}"'.encode() in msgspec.json.encode(components)
