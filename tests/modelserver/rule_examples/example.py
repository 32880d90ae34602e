"""What an example of a rule is, and the pieces that many are made of."""

from collections.abc import Callable
from typing import Any

import msgspec

Json = dict[str, Any]

HEADERS = {"x-api-key": "any", "anthropic-version": "2023-06-01"}


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and the script settings and history that it is judged with."""

    body: Json | bytes | Callable[[], Json]
    """Bytes go as they are; a function makes what is too large to keep."""
    headers: dict[str, str] = msgspec.field(default_factory=HEADERS.copy)
    method: str = "POST"
    path: str = "/v1/messages"
    key: str | None = None
    window: int | None = None
    handed: tuple[Json, ...] = ()
    """Blocks that the model gave out earlier in the session."""

    before: tuple["Example", ...] = ()
    """Requests that were answered before, in order; the answers have the ids msg_1, msg_2 and so on."""

    @property
    def made_body(self) -> Json | bytes:
        return self.body if isinstance(self.body, dict | bytes) else self.body()


Pair = tuple[Example, Example]
"""One that is accepted, one that the rule refuses."""


def user(content: Any = "Hello") -> Json:
    return {"role": "user", "content": content}


def assistant(content: Any = "Hello") -> Json:
    return {"role": "assistant", "content": content}


def words(text: str, **fields: Any) -> Json:
    return {"type": "text", "text": text, **fields}


def used(identity: str = "toolu_1", name: str = "Read", value: Any = None) -> Json:
    return {"type": "tool_use", "id": identity, "name": name, "input": {} if value is None else value}


def result(identity: str = "toolu_1", content: Any = "text of a file") -> Json:
    return {"type": "tool_result", "tool_use_id": identity, "content": content}


def tool(name: str = "Read", **fields: Any) -> Json:
    return {"name": name, "description": "Reads a file.", "input_schema": {"type": "object"}, **fields}


def body(*messages: Json, **fields: Any) -> Json:
    """A request that is in order, but for what is given."""
    return {"model": "claude-opus-4-8", "max_tokens": 2000, "messages": list(messages) or [user()], **fields}


def ask(*messages: Json, betas: str = "", **fields: Any) -> Example:
    return Example(body=body(*messages, **fields), headers=HEADERS | ({"anthropic-beta": betas} if betas else {}))


def with_tools(*messages: Json, **fields: Any) -> Example:
    return ask(*messages, **{"tools": [tool()], **fields})
