"""An engine, as far as the interactive terminal needs it."""

from collections.abc import AsyncGenerator
from typing import Protocol

from everturn.core.commands import QueuedCommand
from everturn.core.events import Event
from everturn.core.state import AbortCause
from everturn.engine.prompts import Prompt as Content
from everturn.frontends.engine_controls import EngineControls
from everturn.ports.model import Effort
from everturn.ports.tasks import Tasks


class LiveEngine(EngineControls, Protocol):
    """`Engine` fits; a test may give another."""

    def submit(self, prompt: Content) -> AsyncGenerator[Event]: ...

    def resume_query(self) -> AsyncGenerator[Event]: ...

    def abort(self, cause: AbortCause = ...) -> None: ...

    def enqueue(self, text: str) -> str: ...

    def take_queued(self) -> list[QueuedCommand]: ...

    def withdraw(self, command_id: str) -> str: ...

    @property
    def queued(self) -> tuple[QueuedCommand, ...]: ...

    @property
    def is_busy(self) -> bool: ...

    @property
    def is_unfinished(self) -> bool: ...

    @property
    def suggestion(self) -> str: ...

    @property
    def tasks(self) -> Tasks: ...

    @property
    def is_kept(self) -> bool: ...

    @property
    def session_path(self) -> str: ...

    effort: Effort | None

    def switch_model(self, model: str) -> None: ...

    def add_folder(self, path: str) -> str:
        """Its real path. Raises `OptionError`."""
        ...

    async def aclose(self) -> None: ...
