"""JSON that a model wrote: the input of a call, and the fields of a block, as they go back and into the journal."""

import json
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from everturn.core.errors import FaultKind, InputFault, ModelFault
from everturn.core.messages import ToolUse, encode_repaired, join_surrogates

INVALID_JSON = "INVALID_JSON"
"""The key under which a call's unreadable input goes back to the model."""
MAX_NAME_LENGTH = 128
MAX_DEPTH = 200
"""Nesting that every reader takes: the journal puts a few levels of its own around it."""


def parse_input(text: str) -> dict[str, Any]:
    """Strict JSON: a call runs from exactly what the model wrote, or not at all. Raises `InputFault`."""
    try:
        value = _STRICT.decode(text)
    except RecursionError:
        raise InputFault("The input is nested too deeply.") from None
    except ValueError as error:
        raise InputFault(f"The input is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputFault("The input must be a JSON object.")
    if not _is_shallow(text.count("{"), text.count("[")) and _nests_deeper(value, MAX_DEPTH):
        raise InputFault("The input is nested too deeply.")
    try:
        msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise InputFault("The input holds half a Unicode character.") from None
    return value


def encode_input(text: str) -> msgspec.Raw:
    """The bytes of a call's input as they go back: the model's own, or wrapped where they are no JSON object."""
    text = join_surrogates(text)
    try:
        parse_input(text)
    except InputFault:
        # A lone half goes back as an escape: readable for the model, and still invalid when it is parsed again.
        wrapped = text.encode("utf-8", "backslashreplace").decode()
        return msgspec.Raw(msgspec.json.encode({INVALID_JSON: wrapped}))
    return msgspec.Raw(text.replace("\n", " ").replace("\r", " ").encode())


def is_invalid(use: ToolUse) -> bool:
    return bytes(use.input).startswith(b'{"' + INVALID_JSON.encode() + b'"')


def clean_name(name: str) -> str:
    """A tool name that the API takes back; one that was fine is unchanged."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:MAX_NAME_LENGTH] or "_"


def decode_fields(raw: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Each field raw, on one line and strict, so that the journal can be read back; and what it means."""
    raw = raw.replace(b"\n", b" ").replace(b"\r", b" ")
    try:
        if _is_shallow(raw.count(b"{"), raw.count(b"[")):
            return _FIELDS.decode(raw), _VALUES.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    return _decode_odd_fields(raw)


def _decode_odd_fields(raw: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Deep, or with half a character in it: Python reads what the strict decoder does not."""
    try:
        value = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or _nests_deeper(value, MAX_DEPTH):
        raise ModelFault(FaultKind.STREAM_BROKEN, "The stream held a block that is no JSON object, or too deep a one.")
    try:
        fields = _FIELDS.decode(raw)
    except msgspec.DecodeError:
        fields = {key: msgspec.Raw(encode_repaired(item)) for key, item in value.items()}
    return fields, {key: json.loads(bytes(item)) for key, item in fields.items()}


def _is_shallow(*brackets: int) -> bool:
    """So few of them that they cannot nest too deeply, whatever the order."""
    return sum(brackets) < MAX_DEPTH


def _nests_deeper(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key occurs twice")
    return fields


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(f"{text} is out of range")
    return value


_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_VALUES = msgspec.json.Decoder(dict[str, Any])
