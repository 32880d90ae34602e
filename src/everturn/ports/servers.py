"""The MCP servers of a session: what the engine waits for, which tools they bring, and how they stand."""

from enum import StrEnum
from typing import Any, Protocol

import msgspec

from everturn.ports.tool import Tool


class ServerState(StrEnum):
    """How a server stands, by the names that stream-json uses."""

    PENDING = "pending"
    """It is being started, or will be started when it is needed."""
    CONNECTED = "connected"
    FAILED = "failed"
    NEEDS_LOGIN = "needs-auth"


class ServerReport(msgspec.Struct, frozen=True, kw_only=True):
    """One server as people see it."""

    name: str
    state: ServerState
    origin: str
    """`file:line` of its definition."""
    source: str
    kind: str
    """stdio, http, sse or in-process."""
    tools: tuple[str, ...] = ()
    """Names of its tools, as the model and the rules know them."""
    left_out: tuple[str, ...] = ()
    """Tools that cannot be called until somebody agrees to their new definition."""
    prompts: tuple[str, ...] = ()
    version: str = ""
    """Of the protocol."""
    fault: str = ""


class ToolChange(msgspec.Struct, frozen=True, kw_only=True):
    """The tools of a request after servers have brought some."""

    tools: tuple[Tool, ...]
    deferred: tuple[Tool, ...]
    names: tuple[str, ...]
    """Names of the new tools."""


class Servers(Protocol):
    """Never raises, except `call`."""

    def start(self) -> None:
        """Starts all servers in the background. Does nothing the second time."""
        ...

    async def settle(self) -> None:
        """Waits, for a limited time and only once, for servers of which nothing is known from an earlier session."""
        ...

    def adopt(self, tools: tuple[Tool, ...], deferred: tuple[Tool, ...]) -> ToolChange | None:
        """The tools with those that servers have brought since; these stand at the end. None where there are none."""
        ...

    def list_reports(self) -> tuple[ServerReport, ...]:
        """In the order of the configuration."""
        ...

    async def call(self, server: str, tool: str, arguments: dict[str, Any]) -> str:
        """The text of a tool's result, for a hook. Raises `EverturnError`; it does not wait for a server that starts."""
        ...

    async def fill_prompt(self, name: str, arguments: str) -> str:
        """The text of a prompt named `mcp__server__prompt`. Raises `EverturnError`."""
        ...

    async def aclose(self) -> None:
        """Ends all servers."""
        ...
