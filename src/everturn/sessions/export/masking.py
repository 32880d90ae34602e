"""Every text in a piece of JSON, masked: what leaves the machine shows no keys. Pure."""

from collections.abc import Callable
from typing import Any

Mask = Callable[[str], str]


def mask_values(value: Any, mask: Mask) -> Any:
    """Every text in a piece of JSON; media is no text."""
    match value:
        case str():
            return mask(value)
        case list():
            return [mask_values(item, mask) for item in value]
        case {"type": "base64", "data": data}:
            return {**{key: mask_values(item, mask) for key, item in value.items() if key != "data"}, "data": data}
        case dict():
            return {mask(key): mask_values(item, mask) for key, item in value.items()}
        case _:
            return value
