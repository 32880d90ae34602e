"""What confines commands: whether it would, with what a confined one starts, and what it says of a command that was held back."""

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from everturn.ports.tool import Confinement


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """How a process begins."""

    arguments: list[str]
    environment: Mapping[str, str]
    descriptors: tuple[tuple[int, int], ...] = ()
    """Which of ours it is given, and under which numbers."""
    enter: Callable[[], None] | None = None
    """Called in a thread that starts the process and ends: what it binds itself to, the process is bound to."""
    wrapped: bool = False
    """The first process only waits for the others: a request to end is not for it."""


class Cell(Protocol):
    """One command's confinement, from before its start to after its end."""

    @property
    def start(self) -> Start: ...

    def note_started(self) -> None:
        """Or that it could not be: what was handed over can be let go of."""
        ...

    def explain(self, output: str, code: int | None) -> tuple[str, ...]:
        """For the model, after the end: what was held back, by which setting, and what can be done. Empty where nothing was."""
        ...

    def close(self) -> None:
        """When nothing of the command runs any more."""
        ...


class Sandbox(Protocol):
    """One per session."""

    @property
    def description(self) -> str:
        """For the model: what a command can and cannot do. Empty where nothing holds it."""
        ...

    def judge(self, command: str, *, leave: bool) -> Confinement:
        """`leave`: the model asks to run it outside."""
        ...

    async def confine(self, command: str, start: Start, folder: str) -> Cell:
        """Raises `ToolFault` where the command may not run at all."""
        ...

    async def aclose(self) -> None: ...
