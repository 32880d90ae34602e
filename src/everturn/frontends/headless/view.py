"""The base of every output format: handlers by the kind of event. An event without a handler costs nothing."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol

import msgspec

Handlers = Mapping[type, Callable[[Any], None]]


class OutputFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


class EventDisplay(Protocol):
    """Writes to sinks that never raise. `begin` comes before the first event, `close` whatever happened."""

    @property
    def handlers(self) -> Handlers:
        """For events, and for the replies of commands (`Said`, `Cleared`)."""
        ...

    def begin(self) -> None: ...

    def close(self) -> None: ...


class Introduction(msgspec.Struct, frozen=True, kw_only=True):
    """What the first line says about the session: the caller knows it, the frontend only tells it."""

    version: str = ""
    """Everturn's own."""
    folder: str = ""
    tools: tuple[str, ...] = ()
    api_key_source: str = "none"
    """The variable or helper that the key came from; never the key."""
    mcp_servers: tuple[dict[str, str], ...] = ()
    skills: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    plugins: tuple[dict[str, str], ...] = ()
    betas: tuple[str, ...] = ()
    output_style: str = "default"
    is_kept: Callable[[], bool] = lambda: True
    """Whether the session is on disk, as it stands when asked; otherwise it ends with the program."""
    only_managed_rules: bool = False
    """What may run from the start is for an administrator to say."""
