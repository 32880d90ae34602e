"""The servers that a client can talk to, as values: a program, an address, or an object of this process."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import msgspec

START_S = 30.0
CALL_S = 100_000.0
"""As long as a day and a bit: a tool may work for hours, and a person can always interrupt it."""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """`name` is what people and rules call it; what the server calls itself is in `ServerFacts`."""

    name: str
    start_timeout_s: float = START_S
    """For everything up to the first answer, and for lists."""
    call_timeout_s: float = CALL_S
    """For one call of a tool, one resource or one prompt, unless the caller says otherwise."""
    protocol_version: str = ""
    """What it spoke the last time: asked for first, so that an older server is not probed again. Empty: not known."""


class StdioServer(Server, frozen=True, kw_only=True):
    """A program that reads messages on its standard input and writes them on its standard output, one in a line."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    """All that it is given, beside a short list of variables that every program needs (`child_environment.py`)."""
    folder: str = ""
    """Where it is started; empty is the folder of this process."""


class HttpServer(Server, frozen=True, kw_only=True):
    """`kind`: `http` is streamable HTTP, `sse` is the older transport with two addresses."""

    url: str
    headers: Mapping[str, str] = {}
    kind: Literal["http", "sse"] = "http"
    client_id: str = ""
    """As which the person has registered Everturn with the authorisation server; empty: it registers itself."""
    client_secret: str = ""
    callback_port: int = 0
    """Where the browser comes back to after a login; 0 is any."""


class MessageServer(Protocol):
    """A server in this process, or one that somebody else speaks for: messages of JSON-RPC as Python values."""

    async def answer(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The response to a request; None to a notification. May raise: the call fails with the text of the error."""
        ...


class InProcessServer(Server, frozen=True, kw_only=True):
    server: MessageServer
