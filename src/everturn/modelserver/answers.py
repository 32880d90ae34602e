"""What the server can be told to answer, as values; `sentences` holds the short ways to write them."""

from typing import Any, Literal

import msgspec

from everturn.modelserver.wire import Wire

Json = dict[str, Any]
How = Literal["eof", "rst", "clean"]


class Text(msgspec.Struct, frozen=True, kw_only=True):
    text: str


class Thinking(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    signature: str | None = None
    """None: the server signs. Any text, also an empty one, is sent as it is."""


class Redacted(msgspec.Struct, frozen=True, kw_only=True):
    data: str


class Call(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    input: Any = {}
    """An object, as a rule; other JSON is sent as it is, for clients that must survive it."""
    id: str | None = None
    partial: int | None = None
    """Only so many characters of the input's JSON are sent."""


class ServerCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool that the API runs by itself."""

    name: str
    input: Json = {}
    id: str | None = None
    result: Any = None
    """The content of the result block that follows; None: no result yet."""


class Raw(msgspec.Struct, frozen=True, kw_only=True):
    """Any block, as it is; streamed whole in its start event, but for a `compaction`, whose summary is a delta."""

    block: Json


Block = Text | Thinking | Redacted | Call | ServerCall | Raw


class Cut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The connection ends in mid-answer: after so many events or bytes, by default after the first piece of content."""

    after: int | None = None
    after_bytes: int | None = None
    how: How = "eof"
    """`clean` ends the HTTP body properly, so that only the events tell that something is missing."""


class Stall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Silence in mid-answer, until the client leaves."""

    after: int | None = None
    after_bytes: int | None = None


class Broken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An error event in mid-answer; the answer to a request that does not stream is that error alone."""

    after: int | None = None
    type: str = "overloaded_error"
    message: str = "Overloaded"


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """A pause in mid-answer that lasts until the test releases the gate; -1: before anything is sent."""

    gate: str = "go"
    after: int | None = None
    each: bool = False
    """After every further piece of content as well."""


class Say(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the model, well or badly delivered."""

    blocks: tuple[Block, ...] = ()
    stop_reason: str | None = None
    """None: tool_use when there are calls, else end_turn; max_tokens or stop_sequence when the request cuts the answer."""
    stop_sequence: str | None = None
    stop_details: Json | None = None
    usage: Json = {}
    """Replaces single counts of the derived usage."""
    model: str | None = None
    """None: the model of the request."""
    id: str | None = None
    extra: Json = {}
    """Further fields of the message, for example `context_management`."""
    headers: dict[str, str] = {}
    chunk: int | None = None
    """Characters in a delta; None: what the script says."""
    delay_ms: float = 0
    """Before the first byte."""
    gap_ms: float = 0
    """After each delta."""
    verbatim: bool = False
    """Sent whole: neither max_tokens, nor stop_sequences, nor the window of the request cut it."""
    ending: Cut | Stall | Broken | None = None
    hold: Hold | None = None


class Fail(msgspec.Struct, frozen=True, kw_only=True):
    """An error of the API. `{APIKEY}` in the message becomes the client's key, for clients that must not repeat it."""

    status: int
    type: str
    message: str
    headers: dict[str, str] = {}
    details: Json | None = None
    delay_ms: float = 0


Answer = Say | Fail | Wire

_SERVER_FAULT = 500
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def type_of_status(status: int) -> str:
    """The error type that the API uses with a status."""
    return _ERROR_TYPES.get(status, "api_error" if status >= _SERVER_FAULT else "invalid_request_error")


def status_of_type(error_type: str) -> int:
    return next((status for status, kind in _ERROR_TYPES.items() if kind == error_type), _SERVER_FAULT)
