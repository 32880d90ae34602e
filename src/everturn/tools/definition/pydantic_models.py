"""Pydantic models as inputs of own tools. Pydantic is never imported here: who annotates with a model has done it."""

import sys
from typing import Any

from everturn.core.errors import InputFault
from everturn.tools.definition.schemas import strip_titles

_SHOWN = 80


def is_model(hint: Any) -> bool:
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(hint, type) and issubclass(hint, pydantic.BaseModel)


def render_model_schema(hint: Any) -> dict[str, Any]:
    """With its own `$defs`. Raises `TypeError` for what is no model."""
    if not is_model(hint):
        raise TypeError(f"{hint!r} is no type of JSON")
    try:
        schema: dict[str, Any] = strip_titles(hint.model_json_schema())
    except sys.modules["pydantic"].errors.PydanticUserError as error:
        raise TypeError(str(error)) from None
    if "$ref" in schema and set(schema) == {"$ref", "$defs"}:
        # A model that contains itself is a reference to itself.
        return {**schema["$defs"][schema["$ref"].rpartition("/")[2]], "$defs": schema["$defs"]}
    return schema


def decode_model(hint: Any, value: Any) -> Any:
    """The model. Raises `InputFault` that names the field, `TypeError` for what is no model."""
    if not is_model(hint):
        raise TypeError(f"{hint!r} is no type of JSON")
    try:
        return hint.model_validate(value)
    except sys.modules["pydantic"].ValidationError as error:
        raise InputFault(_explain(error.errors()[0])) from None


def encode_model(value: Any) -> Any:
    if not is_model(type(value)):
        raise TypeError(f"{type(value)!r} is no type of JSON")
    return value.model_dump(mode="json")


def _explain(error: Any) -> str:
    place = ".".join(map(str, error["loc"]))
    problem = str(error["msg"])
    if error["type"] == "missing":
        return f"`{place}` is missing."
    came = repr(error["input"])
    shown = came if len(came) <= _SHOWN else f"{came[:_SHOWN]}…"
    return f"`{place}`: {problem[0].lower()}{problem[1:]}, got {shown}." if place else f"{problem}."
