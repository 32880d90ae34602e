"""The sandbox as Bash sees it: whether a command would be confined, how it is started, and what was denied to it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import msgspec

from everturn.ports.holding import Bounds, Holding, Search, Walls
from everturn.ports.tool import Confinement, Inquire


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """How a process begins."""

    arguments: list[str]
    environment: Mapping[str, str]
    handed: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Variables that the command has, too, and its first process has not: what loads libraries by them must not be that one."""
    seal: int = 0
    """A limit on message queues that it is to begin with, by which its processes are known; 0 = none."""
    descriptors: tuple[tuple[int, int], ...] = ()
    """Descriptors that the command inherits: ours, and the number that it gets."""
    enter: Callable[[], None] | None = None
    """Called in a thread that starts the process and ends: what it binds itself to, the process is bound to."""
    stay: Callable[[], object] | None = None
    """Called in that thread, when the process has started: the thread ends later, and with it what wants to die with it."""
    via: Callable[[Callable[[], int]], int] | None = None
    """Calls what starts the process, in a thread that is bound already; in place of `enter`."""
    wrapped: bool = False
    """The first process only waits for the others: a request to end is not for it."""


class Room(Protocol):
    """What one command takes of the machine besides processes and the memory of each."""

    def has_grown(self) -> bool:
        """Whether enough was written since the last look to make another one worthwhile. Costs one system call."""
        ...

    def find_excess(self, processes: Iterable[int]) -> str:
        """What it takes too much of, in a clause that goes on after "The command"; empty where nothing."""
        ...


class Cell(Protocol):
    """One command's confinement, from before its start to after its end."""

    @property
    def start(self) -> Start: ...

    @property
    def room(self) -> Room | None:
        """Of a command that nobody approved; None: nobody counts what the command takes."""
        ...

    @property
    def asked_s(self) -> float:
        """How long a person was being asked about what the command wants: time that is not the command's."""
        ...

    def note_started(self) -> None:
        """Or that it could not be: what was handed over can be let go of."""
        ...

    def stop_asking(self) -> None:
        """From now on nobody waits for the command: it runs on with what it has."""
        ...

    def explain(self, output: str, code: int | None) -> tuple[str, ...]:
        """For the model, after the end: what was held back, by which setting, and what can be done. Empty where nothing was.

        What the command has left running ends here, and what it changed although it must not is put back.
        """
        ...

    def find_refusals(self, output: str, code: int | None) -> tuple[str, ...]:
        """Of a command that nobody approved: lines of its output, in order, that seem to say that the system refused it something."""
        ...

    def close(self) -> None:
        """When the command has ended, or was killed. What it has left running ends here, if it has not before."""
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

    async def confine(self, command: str, start: Start, folder: str, inquire: Inquire | None = None) -> Cell:
        """`inquire`: asks the person about what it is not allowed yet. Raises `ToolFault` where it may not run at all."""
        ...

    async def aclose(self) -> None: ...


class Holder(Protocol):
    """One per session: holds what runs although nobody approved it."""

    @property
    def walls(self) -> Walls: ...

    @property
    def bounds(self) -> Bounds: ...

    async def hold(self, holding: Holding, start: Start, folder: str) -> Cell:
        """Raises `ToolFault` where it cannot be held: then it must not run."""
        ...

    async def hold_search(self, search: Search, start: Start, folder: str) -> Cell | None:
        """It starts as it is, in the folder, and its descriptors keep their numbers. None where nothing here can hold it."""
        ...

    async def aclose(self) -> None: ...


def render_target(host: str, port: int) -> str:
    """A host with its port, as it stands in settings: the narrowest pattern there is. `host` is in its one form."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
