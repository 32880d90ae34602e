"""Structured output: judges a final answer against the caller's JSON Schema when the model stops."""

import json
from typing import Any

from everturn.core.errors import OptionError


class SchemaChecker:
    """Implements `ports.hooks.Checker`. The schema library is imported here only: few queries need it."""

    def __init__(self, schema: dict[str, Any]) -> None:
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import validator_for
        from referencing import Registry

        kind = validator_for(schema)
        try:
            kind.check_schema(schema)
        except SchemaError as error:
            raise OptionError("output_schema", f"it is not a valid JSON Schema: {error.message}") from None
        # An empty registry: a `$ref` to somewhere else is an error, never a download.
        self._validator = kind(schema, registry=Registry())
        self.schema = json.dumps(schema, ensure_ascii=False)

    def check(self, text: str) -> tuple[Any, str | None]:
        try:
            value = json.loads(unfenced(text))
        except (ValueError, RecursionError) as broken:
            return None, f"it is not JSON ({broken})"
        try:
            error = next(iter(self._validator.iter_errors(value)), None)
        except Exception as unusable:  # noqa: BLE001 (a reference that leads nowhere raises what it likes)
            return None, f"the schema cannot be applied ({unusable})"
        if error is None:
            return value, None
        where = "/".join(str(part) for part in error.absolute_path) or "the whole value"
        return None, f"at {where}: {error.message}"


def unfenced(text: str) -> str:
    """Models like to wrap JSON in a code fence."""
    lines = text.strip().splitlines()
    if len(lines) > 1 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text
