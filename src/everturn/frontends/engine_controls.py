"""What a slash command may ask of the engine, and do to it."""

from collections.abc import AsyncGenerator
from typing import Protocol

from everturn.core.budget import Prices
from everturn.core.denials import Denial
from everturn.core.events import Event, ModelUsage
from everturn.core.messages import Message
from everturn.core.notes import Goal, Notes
from everturn.core.state import AbortCause
from everturn.core.window import WindowUse
from everturn.ports.context import Collapses
from everturn.ports.servers import ServerReport


class HasText(Protocol):
    @property
    def text(self) -> str: ...


class EngineControls(Protocol):
    """The engine itself fits; a test may give another."""

    @property
    def session_id(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def permission_mode(self) -> str: ...

    @permission_mode.setter
    def permission_mode(self, mode: str) -> None: ...

    @property
    def folders(self) -> tuple[str, ...]:
        """The working folders; the one that the session began in comes first."""
        ...

    @property
    def transcript(self) -> tuple[Message, ...]: ...

    @property
    def denials(self) -> tuple[Denial, ...]: ...

    @property
    def total_usd(self) -> float: ...

    @property
    def usage_by_model(self) -> dict[str, ModelUsage]:
        """Of the session so far."""
        ...

    def price_lists(self, model: str) -> tuple[Prices, ...]:
        """What it may be charged at, the usual prices first."""
        ...

    def window(self) -> WindowUse:
        """What the next request would take of the model's window."""
        ...

    @property
    def servers(self) -> tuple[ServerReport, ...]:
        """MCP servers, and how they stand."""
        ...

    async def fill_prompt(self, name: str, arguments: str) -> str:
        """The text of a prompt of an MCP server. Raises `EverturnError`."""
        ...

    @property
    def notes(self) -> Notes: ...

    def pin(self, text: str) -> None:
        """Keeps a note that no compaction may lose."""
        ...

    def unpin(self, number: int) -> str:
        """The note that is kept no longer. Raises `OptionError`."""
        ...

    async def ask_aside(self, question: str) -> HasText:
        """A side question. Raises `EverturnError` where there is no answer."""
        ...

    @property
    def goal(self) -> Goal | None:
        """Of the next prompt."""
        ...

    async def set_goal(self, text: str, command: str) -> Goal:
        """Until it is met. Raises `OptionError`."""
        ...

    def clear_goal(self) -> Goal | None:
        """The one that is taken back."""
        ...

    @property
    def collapses(self) -> Collapses:
        """Summaries that stand for finished stretches."""
        ...

    @property
    def interruption(self) -> AbortCause | None:
        """Why the last work was broken off, if it was."""
        ...

    def compact(self, instructions: str = "") -> AsyncGenerator[Event]:
        """The last event is a notice that says what came of it."""
        ...

    def clear(self) -> "EngineControls":
        """A new one with an empty transcript; this one is done with."""
        ...

    def rename(self, title: str) -> str:
        """The title as it was kept. Raises `JournalError`."""
        ...

    def export(self, file: str = "") -> str:
        """The path of what was written. Raises `JournalError`."""
        ...
