"""Questions of servers to the person: a form with a flat schema, or an address to open. The texts are the server's: data."""

from typing import Any, Literal

import msgspec

from everturn.ports.elicitation import Elicit, Elicitation, ElicitationAnswer

__all__ = ["Elicit", "Elicitation", "ElicitationAnswer", "encode_answer", "parse_elicitation"]


class _Params(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    message: str = ""
    mode: Literal["form", "url"] = "form"
    requested_schema: dict[str, Any] | None = None
    url: str = ""
    elicitation_id: str = ""


def parse_elicitation(server: str, params: bytes) -> Elicitation:
    """Raises `msgspec.DecodeError`: not one that could be shown."""
    found = msgspec.json.decode(params, type=_Params)
    if found.mode == "url" and not found.url:
        raise msgspec.ValidationError("a question of the mode url has no url")
    return Elicitation(
        server=server,
        message=found.message,
        mode=found.mode,
        schema=found.requested_schema,
        url=found.url,
        elicitation_id=found.elicitation_id,
    )


def encode_answer(answer: ElicitationAnswer, asked: Elicitation) -> dict[str, Any]:
    """What the person left out of a form is filled in with the defaults of its schema."""
    if answer.action != "accept" or asked.mode == "url":
        return {"action": answer.action}
    return {"action": answer.action, "content": _find_defaults(asked.schema) | (answer.content or {})}


def _find_defaults(schema: dict[str, Any] | None) -> dict[str, Any]:
    fields = (schema or {}).get("properties")
    if not isinstance(fields, dict):
        return {}
    return {name: field["default"] for name, field in fields.items() if isinstance(field, dict) and "default" in field}
