"""Questions of MCP servers to the person, and the answers: a form with a flat schema, or an address to open."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec


class Elicitation(msgspec.Struct, frozen=True, kw_only=True):
    """`server` is its name in the configuration. A form has a `schema`, an address a `url`."""

    server: str
    message: str
    mode: Literal["form", "url"] = "form"
    schema: dict[str, Any] | None = None
    url: str = ""
    elicitation_id: str = ""

    def list_missing(self, content: dict[str, Any]) -> tuple[str, ...]:
        """Fields of the form that must be there, and have neither a value nor a default."""
        schema = self.schema or {}
        fields, required = schema.get("properties"), schema.get("required")
        known = fields if isinstance(fields, dict) else {}
        return tuple(
            str(name)
            for name in (required if isinstance(required, list) else ())
            if str(name) not in content and "default" not in (known.get(str(name)) or {})
        )


class ElicitationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`accept` with the `content` of a form, `decline` for a no, `cancel` where nobody has decided."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


Elicit = Callable[[Elicitation], Awaitable[ElicitationAnswer]]
