"""From a function's signature to the type of its input and the JSON Schema that the model sees; read once per function."""

import inspect
import typing
from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Annotated, Any

import msgspec

from everturn.core.errors import OptionError
from everturn.ports.tool import ToolContext
from everturn.tools.definition.docstrings import parse_docstring
from everturn.tools.definition.pydantic_models import is_model, render_model_schema
from everturn.tools.definition.schemas import judge_schema, strip_titles

MAX_KEPT = 256
"""Signatures that are remembered, those used last; a program that makes functions without end must not fill the memory."""

Parameters = dict[str, tuple[Any, Any]]
"""By name: the annotation and the default."""


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """How a call's input reaches the function. Shared by all tools made of it: nobody changes the schema."""

    input: Any
    """A struct or dataclass type, or a pydantic model."""
    schema: dict[str, Any]
    description: str
    """What the docstring says, without its section of the parameters."""
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


_KNOWN: dict[Hashable, Signature] = {}


def parse_signature(name: str, function: Callable[..., Any]) -> Signature:
    """Raises `OptionError` that names the tool and the parameter.

    A built-in tool is made anew for each session around the same code: only the first time is paid for.
    """
    key = _identify(name, function)
    if key is None:
        return _parse(name, function)
    known = _KNOWN.pop(key, None) or _parse(name, function)
    _KNOWN[key] = known
    if len(_KNOWN) > MAX_KEPT:
        _KNOWN.pop(next(iter(_KNOWN)), None)
    return known


def _identify(name: str, function: Callable[..., Any]) -> Hashable | None:
    """Equal for functions that differ in nothing that the signature is made of; None where that cannot be told."""
    if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
        return None
    hints = function.__annotations__
    if str in map(type, hints.values()):
        # A name in quotes means what it means where the function stands.
        return None
    named, placed = function.__kwdefaults__ or {}, function.__defaults__ or ()
    defaults = tuple((each, type(value), value) for each, value in named.items()), tuple(map(_with_type, placed))
    place = function.__module__, function.__qualname__, function.__code__
    key = (name, place, function.__doc__, tuple(hints.items()), defaults)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _with_type(value: Any) -> tuple[type, Any]:
    """1, 1.0 and True are equal, but not the same default."""
    return type(value), value


def _parse(name: str, function: Callable[..., Any]) -> Signature:
    said = parse_docstring(function.__doc__ or "")
    parameters = _annotated_parameters(name, function, said.parameters)
    context = next((key for key, (hint, _) in parameters.items() if hint is ToolContext), None)
    fields = {key: value for key, value in parameters.items() if key != context}
    whole = next(iter(fields)) if len(fields) == 1 and _is_record(next(iter(fields.values()))[0]) else None
    record = _define_record(name, fields) if whole is None else _plain(fields[whole][0])
    try:
        schema = _plan_schema(name, record)
    except (TypeError, ValueError) as error:
        # It does not say where; looking at each field by itself takes too long for tools that are well.
        for key, hint in _hints(name, record).items():
            _check_type(name, key, hint)
        raise OptionError(f"tool {name}", f"its input cannot be described as JSON Schema: {error}") from None
    if (problem := judge_schema(schema)) is not None:
        raise OptionError(f"tool {name}", problem)
    return Signature(input=record, schema=schema, description=said.description, whole=whole, context=context)


def _annotated_parameters(name: str, function: Callable[..., Any], said: dict[str, str]) -> Parameters:
    hints = _hints(name, function)
    try:
        signature = inspect.signature(function)
    except ValueError:
        raise OptionError(f"tool {name}", "its parameters cannot be seen; wrap it in a function of your own") from None
    parameters: Parameters = {}
    for key, parameter in signature.parameters.items():
        where = f"tool {name}, parameter {key}"
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise OptionError(where, "a tool cannot take * or ** parameters: the model must see each field")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise OptionError(where, "a tool's parameters are given by name; remove the `/`")
        if key not in hints:
            raise OptionError(where, "has no type annotation")
        parameters[key] = (_describe(hints[key], said.get(key, "")), parameter.default)
    return parameters


def _hints(name: str, thing: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(thing, include_extras=True)
    except NameError as error:
        raise OptionError(
            f"tool {name}", f"an annotation cannot be resolved ({error}); define its type at module level"
        ) from None


def _describe(hint: Any, said: str) -> Any:
    """`Annotated[int, "how many"]` reads as a description, and beats what the docstring says."""
    if hint is ToolContext:
        return hint
    extras = getattr(hint, "__metadata__", ())
    texts = [extra for extra in extras if isinstance(extra, str)]
    if not texts and any(isinstance(extra, msgspec.Meta) and extra.description for extra in extras):
        return hint
    text = texts[0] if texts else said
    return Annotated[hint, msgspec.Meta(description=text)] if text else hint


def _plain(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint


def _is_record(hint: Any) -> bool:
    kind = _plain(hint)
    return isinstance(kind, type) and (
        issubclass(kind, msgspec.Struct) or hasattr(kind, "__dataclass_fields__") or is_model(kind)
    )


def _check_type(name: str, key: str, hint: Any) -> None:
    try:
        msgspec.json.schema_components([hint], schema_hook=render_model_schema)
    except (TypeError, ValueError) as error:
        kind = getattr(hint, "__name__", str(hint))
        reason = str(error).splitlines()[0].rstrip(":")
        problem = f"type `{kind}` is not supported; use what JSON can carry ({reason})"
        raise OptionError(f"tool {name}, parameter {key}", problem) from None


def _define_record(name: str, fields: Parameters) -> type[msgspec.Struct]:
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
    (root,), components = msgspec.json.schema_components(
        [record], ref_template="#/$defs/{name}", schema_hook=render_model_schema
    )
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
    foreign: dict[str, Any] = {**found.get("$defs", {})}
    schema, kept = _lift(schema, foreign), strip_titles(_lift(kept, foreign))
    return {**schema, "$defs": kept | foreign} if kept or foreign else schema


def _lift(part: Any, into: dict[str, Any]) -> Any:
    """Definitions that a pydantic model brought along, from where it stands to the root."""
    if isinstance(part, list):
        return [_lift(each, into) for each in part]
    if not isinstance(part, dict):
        return part
    if isinstance(brought := part.get("$defs"), dict):
        into |= brought
    return {key: _lift(value, into) for key, value in part.items() if key != "$defs"}


def _mentions(components: dict[str, Any], own: str) -> bool:
    """The root type contains itself."""
    return f'"#/$defs/{own}"'.encode() in msgspec.json.encode(components)
