"""Values as JSON for programs that read our output: strict UTF-8, whatever bytes names of files have. Pure."""

from typing import Any

import msgspec

from everturn.core.spelled_paths import spell_path


def render_json(value: Any, *, indent: int = 0) -> str:
    """One line, or several where it is indented; without its end."""
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_spell(msgspec.to_builtins(value)))
    return (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()


def _spell(value: Any) -> Any:
    match value:
        case str():
            return spell_path(value)
        case dict():
            return {_spell(key): _spell(item) for key, item in value.items()}
        case list() | tuple():
            return [_spell(item) for item in value]
        case _:
            return value
